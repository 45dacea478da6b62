// work: one epoch of a slot, on this machine. Started by a controller: as a process, over ssh, or by a scheduler.
//
// SIGTERM and the end of standard input end it after its trial. Where the controller shares no directory, the spool is a copy
// of our own that a thread keeps, and standard output is for files alone.
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "stabctl/command_line/commands.h"
#include "stabctl/run/run_command.h"
#include "stabd/engine/machines/connection.h"
#include "stabd/engine/machines/held_scratch.h"
#include "stabd/engine/machines/share.h"
#include "stabd/engine/separation/places.h"

namespace stab::ctl {
namespace {

// Its log: the controller keeps it beside the spool.
class WorkLog final : public engine::Observer {
 public:
  void phase(std::string_view text) override { say(text); }
  void note(std::string_view text) override { say(text); }
  void trial_done(const engine::TrialNews& news) override {
    if (!news.failure.empty()) say(news.subject + ", " + news.cell + ": " + news.failure);
  }

 private:
  static void say(std::string_view text) { std::fprintf(stderr, "%s\n", printable(std::string(text)).c_str()); }
};

engine::StopSignal* g_stop = nullptr;  // for the signal handler only
void on_terminate(int) {
  g_stop->after_this_trial();
}

// What a controller sends, into our copy; its end is ours. The thread may be in a read for ever, so it is left alone.
void copy_what_comes(engine::Spool& spool, engine::StopSignal& stop) {
  std::thread([&spool, &stop] {
    const auto all = [](const std::string&) { return true; };
    const Status received = engine::receive_files(STDIN_FILENO, engine::kMostFileBytes, engine::into(spool, all));
    if (!received) std::fprintf(stderr, "%s\n", received.error().message.c_str());
    stop.now();  // what runs can't be delivered any more
  }).detach();
}

void watch_standard_input(engine::StopSignal& stop) {
  std::thread([&stop] {
    for (char byte = 0; ::read(STDIN_FILENO, &byte, 1) > 0;) {
    }
    stop.after_this_trial();
  }).detach();
}

// Files that the controller sent are not sent back.
bool is_ours(const std::string& name) {
  const auto file = engine::parse_slot_file(name);
  return file && file->what != "grant" && file->what != "verdict";
}

}  // namespace

int work_command(const Arguments& arguments) {
  const SystemClock clock;
  // Used by threads that may outlive this function's frame, until the process ends.
  static engine::StopSignal stop;
  g_stop = &stop;
  struct sigaction action {};
  action.sa_handler = on_terminate;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  std::string own;
  UniqueFd held;
  if (arguments.spool.empty()) {
    own = arguments.scratch + "/" + engine::kShareFolders + "XXXXXX";
    auto made = engine::make_scratch(own);
    if (!made) return complain(made.error());
    held = *std::move(made);
  } else if (::access((arguments.spool + "/" + engine::kSpoolExperiment).c_str(), R_OK) != 0) {
    return complain(bad_input("'" + arguments.spool +
                              "' is no spool of an experiment: 'stabctl run' and the daemon make it, for plans with "
                              "[machines]"));
  }
  auto opened = engine::Spool::open(own.empty() ? arguments.spool : own);
  if (!opened) return complain(opened.error());
  static std::optional<engine::Spool> spool;
  spool.emplace(*std::move(opened));
  static engine::FileSender sender(STDOUT_FILENO);
  if (!own.empty()) {
    spool->listen([](const std::string& name, const std::string& path) {
      if (is_ours(name) && !sender.send(name, path)) stop.now();
    });
    copy_what_comes(*spool, stop);
  } else if (arguments.attached) {
    watch_standard_input(stop);
  }

  WorkLog log;
  engine::ShareSetting setting;
  setting.spool = &*spool;
  setting.slot = arguments.slot;
  setting.epoch = arguments.epoch;
  setting.scratch = arguments.scratch;
  setting.machine = arguments.machine;
  setting.clock = &clock;
  setting.observer = &log;
  setting.stop = &stop;
  setting.open_engine = [&](const std::string& database) {
    Arguments with_database = arguments;
    with_database.database = database;
    return open_engine(with_database, clock, true);
  };
  const auto end = engine::run_share(setting);
  if (!own.empty()) (void)engine::remove_tree(own);
  if (!end) return complain(end.error());
  switch (*end) {
    case engine::RunEnd::kDone:
    case engine::RunEnd::kGaps:
      return kExitDone;
    case engine::RunEnd::kStopped:
      return kExitUnfinished;
    case engine::RunEnd::kRejected:
      break;
  }
  return kExitFailed;
}

}  // namespace stab::ctl
