// One thread reads the connection; the other does what was asked for, shows the daemon what is new in the spool, and looks
// whether workers live. A part stays in the spool until the daemon says that it has it: whichever of the two dies, the next
// deputy sends it again, and the store takes it once.
#include "stabd/engine/machines/deputy.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "plan/parse.h"
#include "stabd/engine/machines/choose_engine.h"
#include "stabd/engine/machines/connection.h"
#include "stabd/engine/machines/worker_files.h"
#include "stabd/engine/separation/places.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);     // at the spool
constexpr auto kBetweenAsks = std::chrono::seconds(1);     // whether workers live

// A directory of ours alone, the same for each deputy of the experiment, so that the next one finds what this one left. Where
// somebody else has taken the name, one that nobody can know.
Result<std::string> own_directory(const std::string& scratch, const std::string& name) {
  const std::string known = scratch + "/stab-spool-" + std::to_string(::geteuid()) + "-" + name;
  if (::mkdir(known.c_str(), 0700) == 0) return known;
  struct stat info {};
  if (errno == EEXIST && ::lstat(known.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
      (info.st_mode & 077) == 0)
    return known;
  std::string fresh = scratch + "/stab-spool-XXXXXX";
  if (::mkdtemp(fresh.data()) == nullptr) return system_error("make '" + fresh + "'", errno);
  return fresh;
}

class Deputy {
 public:
  explicit Deputy(const DeputySetting& setting) : set_(setting), sender_(setting.to) {}

  Status run() {
    std::thread receives([this] {
      const Status received =
          receive_files(set_.from, kMostFileBytes, [this](const std::string& name, const std::string& content) {
            const std::lock_guard<std::mutex> held(mutex_);
            // Kept apart from what waits for its turn: whoever says it closes, and what we are about to say to them then fails.
            if (name == kDeputyOver)
              over_ = true;
            else
              come_.emplace_back(name, content);
            changed_.notify_all();
            return Status();
          });
      const std::lock_guard<std::mutex> held(mutex_);
      closed_ = true;
      changed_.notify_all();
      if (!received) why_closed_ = received.error();
    });
    const Status served = serve();
    if (!served) ::shutdown(set_.from, SHUT_RDWR);  // or the reader waits for the daemon
    receives.join();
    engine_.reset();
    if (over_) return own_.empty() ? Status() : remove_tree(own_);
    if (!served) return served;
    return why_closed_ ? Status(*why_closed_) : Status();
  }

 private:
  Status serve() {
    for (;;) {
      std::deque<std::pair<std::string, std::string>> come;
      bool closed = false;
      {
        std::unique_lock<std::mutex> held(mutex_);
        changed_.wait_for(held, kLook, [this] { return closed_ || !come_.empty(); });
        come.swap(come_);
        closed = closed_;
      }
      for (const auto& [name, content] : come) STAB_CHECK_OK(take(name, content));
      if (closed) return {};
      if (!spool_) continue;
      STAB_CHECK_OK(show_what_is_new());
      const auto now = set_.clock->monotonic_raw();
      if (now - looked_ < kBetweenAsks && !new_asks_) continue;
      looked_ = now;
      new_asks_ = false;
      STAB_CHECK_OK(tell_who_lives());
    }
  }

  Status say(const std::string& name, const std::string& text) { return sender_.send_bytes(name, sealed(text)); }

  Status take(const std::string& name, const std::string& content) {
    if (name == kDeputyPlan) {
      const Status opened = open(unsealed(content).value_or(""));
      return say(kDeputyReady, opened ? "" : opened.error().message);
    }
    if (!spool_) return bad_input("the daemon sent '" + name + "' before the plan");
    if (name == kSpoolExperiment || name == kSpoolBundle || name.starts_with("binary."))
      return spool_->has(name) ? Status() : spool_->put(name, content);
    const std::optional<SlotFile> file = parse_slot_file(name);
    if (!file) return bad_input("the daemon sent '" + name + "', which means nothing here");
    const std::pair of(file->slot, file->epoch);
    if (file->what == "grant" || file->what == "verdict") return spool_->has(name) ? Status() : spool_->put(name, content);
    if (file->what == "start") {
      const Status started = engine_->start(file->slot, file->epoch, unsealed(content).value_or(""));
      return say(slot_file(file->slot, file->epoch, "started"), started ? "" : started.error().message);
    }
    if (file->what == "stop") engine_->stop(file->slot, file->epoch);
    if (file->what == "ask") new_asks_ = asked_.try_emplace(of).second || new_asks_;
    if (file->what.starts_with(kGotPrefix))
      return spool_->remove(slot_file(file->slot, file->epoch, file->what.substr(sizeof kGotPrefix - 1)));
    return {};
  }

  // The name of the spool's directory, the experiment's identity and who it is, and the plan.
  Status open(const std::string& text) {
    const size_t first = text.find('\n'), second = text.find('\n', first + 1);
    if (first == std::string::npos || second == std::string::npos) return bad_input("the daemon sent no plan");
    const std::string name = text.substr(0, first), identity = text.substr(first + 1, second - first - 1);
    const plan::Parsed parsed = plan::parse_plan(text.substr(second + 1), "plan.toml");
    if (!parsed.plan) return bad_input(toml::render(parsed.errors));
    machines_ = parsed.plan->machines;
    std::string directory = machines_.spool.empty() ? "" : machines_.spool + "/" + name;
    if (directory.empty()) {
      STAB_TRY(own_, own_directory(set_.scratch, name));
      directory = own_;
    }
    STAB_TRY(Spool spool, Spool::open(directory));
    STAB_TRY(const std::optional<std::string> there, spool.note(kSpoolExperiment));
    if (there && !there->starts_with(identity + "\n"))
      return Error{ErrorCode::kBusy, "spool '" + directory + "' is another experiment's; give this one a spool of its own", {}};
    spool_.emplace(std::move(spool));
    engine_ = choose_engine(machines_, set_.stabctl, *set_.clock, identity, *spool_);
    return {};
  }

  Status show_what_is_new() {
    STAB_TRY(const std::vector<std::string> names, spool_->names());
    const std::set<std::string> there(names.begin(), names.end());
    std::erase_if(shown_, [&](const auto& of) { return !there.contains(of.first); });
    for (const std::string& name : names) {
      const std::optional<SlotFile> file = parse_slot_file(name);
      if (!file) continue;
      const std::optional<PartFile> part = parse_part_file(file->what);
      if (!part && !is_worker_note(file->what)) continue;
      const std::optional<FileSign> sign = spool_->sign_of(name);
      const auto shown = shown_.find(name);
      if (!sign || (shown != shown_.end() && shown->second == *sign)) continue;
      const Result<std::string> sha256 =
          part ? worker::sha256_of_file(spool_->path_of(name)) : Result<std::string>(std::string());
      if (!sha256) continue;  // gone, or shown late
      shown_[name] = *sign;
      if (part && *sha256 != part->sha256) continue;  // its rest may come, and its sign changes then
      STAB_CHECK_OK(sender_.send(name, spool_->path_of(name)));
    }
    return {};
  }

  Status tell_who_lives() {
    for (auto& [of, told] : asked_) {
      const Result<bool> lives = engine_->lives(of.first, of.second);
      if (!lives || told == std::optional(*lives)) continue;
      if (!*lives) STAB_CHECK_OK(show_what_is_new());  // its last files go before the word that there will be no more
      STAB_CHECK_OK(say(slot_file(of.first, of.second, "lives"), *lives ? "1" : "0"));
      told = *lives;
    }
    return {};
  }

  const DeputySetting set_;
  FileSender sender_;
  std::mutex mutex_;  // of the next five
  std::condition_variable changed_;
  std::deque<std::pair<std::string, std::string>> come_;
  bool closed_ = false, over_ = false;
  std::optional<Error> why_closed_;

  plan::Machines machines_;
  std::string own_;  // our spool's directory; empty: the plan's
  std::optional<Spool> spool_;
  std::unique_ptr<MachineEngine> engine_;
  std::map<std::string, FileSign> shown_;  // to the daemon, or not whole then
  std::map<std::pair<int, int64_t>, std::optional<bool>> asked_;  // and what was told
  std::chrono::nanoseconds looked_{0};
  bool new_asks_ = false;
};

}  // namespace

Status run_deputy(const DeputySetting& setting) {
  return Deputy(setting).run();
}

}  // namespace stab::engine
