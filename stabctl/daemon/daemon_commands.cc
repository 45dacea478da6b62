// submit, status, watch, pause, resume, extend and cancel: thin, because the daemon decides.
#include <poll.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

#include "stabctl/command_line/commands.h"
#include "stabctl/daemon/daemon_client.h"
#include "stabctl/daemon/daemon_report.h"
#include "stabctl/plan/plan_file.h"
#include "stabctl/terminal/progress.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/daemon/events/watch_events.h"

namespace stab::ctl {
namespace {

using Json = nlohmann::json;

Result<DaemonClient> connect(const Arguments& arguments) { return DaemonClient::connect(arguments.socket); }

std::string milliseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(ns) / 1e6);
  return text;
}

void print_row(const Json& row) {
  const bool waits = row.contains("waits_for");
  const std::string state = row.value("running", false) ? "running" : waits ? "waits" : row.value("state", "?");
  std::printf("%6lld  %-28s %-10s %8lld/%lld\n", row.value("id", 0LL), printable(row.value("name", "?")).c_str(),
              state.c_str(), row.value("done", 0LL), row.value("planned", 0LL));
  if (waits) std::printf("        %s\n", printable(row.value("waits_for", "")).c_str());
}

std::string seconds(int64_t ns) {
  const int64_t whole = ns / 1'000'000'000;
  if (whole < 120) return std::to_string(whole) + " s";
  return whole < 7200 ? std::to_string(whole / 60) + " min" : std::to_string(whole / 3600) + " h";
}

// Below an experiment's row, where its blocks run on machines. Nothing where they don't.
void print_machines(const Json& row) {
  if (!row.contains("machines")) return;
  int64_t losses = 0;
  for (const Json& slot : row["machines"]) {
    losses += slot.value("losses", int64_t{0});
    const std::string machine = slot.value("machine", slot.value("host", ""));
    std::string text = "slot " + std::to_string(slot.value("slot", 0)) + ": " + printable(slot.value("state", "?")) +
                       (machine.empty() ? "" : " on " + printable(machine)) + ", " + std::to_string(slot.value("done", 0)) + "/" +
                       std::to_string(slot.value("blocks", 0)) + " blocks";
    if (slot.contains("heard_ns") && slot.value("done", 0) < slot.value("blocks", 0))
      text += ", heard " + seconds(slot.value("heard_ns", int64_t{0})) + " ago";
    if (slot.contains("preflight")) {
      const int64_t passed = slot["preflight"].value("passed", int64_t{0});
      const int64_t failed = slot["preflight"].value("failed", int64_t{0});
      text += ", preflight " + std::to_string(passed) + " of " + std::to_string(passed + failed) + " passed";
    }
    if (slot.value("losses", 0) > 0) text += ", lost " + std::to_string(slot.value("losses", 0)) + " times";
    std::printf("        %s\n", text.c_str());
    if (const std::string why = slot.value("why", ""); !why.empty()) std::printf("          %s\n", printable(why).c_str());
  }
  if (losses > 0) std::printf("        %lld workers lost, each with the block that it ran\n", static_cast<long long>(losses));
  if (row.contains("left_ns")) std::printf("        about %s left\n", seconds(row.value("left_ns", int64_t{0})).c_str());
}

int exit_code_of(daemon::ExperimentEnd end) {
  switch (end) {
    case daemon::ExperimentEnd::kDone: return kExitDone;
    case daemon::ExperimentEnd::kStopped:
    case daemon::ExperimentEnd::kPaused: return kExitUnfinished;
    case daemon::ExperimentEnd::kFailed:
    case daemon::ExperimentEnd::kCancelled:
    case daemon::ExperimentEnd::kUnsettled: return kExitFailed;
  }
  return kExitFailed;
}

int change(const Arguments& arguments, const std::string& method, const std::map<std::string, int64_t>& numbers = {}) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call(method, {{"experiment", arguments.experiment}}, numbers);
  return result ? kExitDone : complain(result.error());
}

}  // namespace

namespace {

// How an experiment ended that was followed to its end.
struct Followed {
  int64_t experiment = 0;
  std::string name, end;
  int exit_code = kExitFailed;
};

Result<Followed> follow(DaemonClient& client, const std::string& experiment, bool as_json);

// To its end, then its report. A connection for each: the one that follows has events on it.
int wait_for(DaemonClient& client, const Arguments& arguments, int64_t experiment) {
  auto watching = connect(arguments);
  if (!watching) return complain(watching.error());
  const auto followed = follow(*watching, std::to_string(experiment), false);
  if (!followed) return complain(followed.error());
  const int code = followed->exit_code;
  return followed->end == "done" ? std::max(code, report_with_page(client, arguments, experiment, followed->name)) : code;
}

}  // namespace

int submit_command(const Arguments& arguments) {
  // Parsed here first: faults show without a daemon, and are about the files as this user sees them. One that is wrong
  // keeps all of them from being submitted.
  std::vector<PlanFile> files;
  for (const std::string& path : arguments.plans) files.push_back(read_plan(path));
  for (const PlanFile& file : files)
    if (!file.plan) return file.exit_code;
  for (const PlanFile& file : files)
    if (!arguments.quiet) note_no_answer(*file.plan);
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  std::vector<int64_t> submitted;
  for (const PlanFile& file : files) {
    const auto result = client->call(
        "submit", {{"plan", file.plan->text}, {"path", file.plan->path}, {"directory", file.directory}},
        {{"priority", arguments.priority}});
    if (!result) return complain(result.error());
    submitted.push_back(Json::parse(*result).value("experiment", int64_t{0}));
    std::printf("%lld\n", static_cast<long long>(submitted.back()));
    std::fflush(stdout);
  }
  int worst = kExitDone;
  for (const int64_t experiment : submitted) {
    if (!arguments.wait) break;
    worst = std::max(worst, wait_for(*client, arguments, experiment));
  }
  return worst;
}

int daemon_replay_command(const Arguments& arguments) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call("replay", {}, {{"trial", arguments.trial}, {"times", arguments.times}});
  if (!result) return complain(result.error());
  const int64_t experiment = Json::parse(*result).value("experiment", int64_t{0});
  std::printf("%lld\n", static_cast<long long>(experiment));
  std::fflush(stdout);
  return arguments.wait ? wait_for(*client, arguments, experiment) : kExitDone;
}

int status_command(const Arguments& arguments) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call("status", {{"experiment", arguments.experiment}}, {{"daemon", arguments.daemon ? 1 : 0}});
  if (!result) return complain(result.error());
  const Json json = Json::parse(*result);
  if (arguments.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return kExitDone;
  }
  std::printf("%6s  %-28s %-10s %15s\n", "number", "name", "state", "trials");
  for (const Json& row : json.value("experiments", Json::array())) {
    print_row(row);
    print_machines(row);
    if (const std::string failure = row.value("failure", ""); !failure.empty())
      std::printf("        %s\n", printable(failure).c_str());
  }
  if (const int64_t more = json.value("left_out", int64_t{0}); more > 0)
    std::printf("%lld older ones are not shown; name one, or delete what is over\n", static_cast<long long>(more));
  if (const Json daemon = json.value("daemon", Json::object()); daemon.contains("loop")) {
    const Json& loop = daemon["loop"];
    const Json worked = loop.value("worked", Json::object());
    const auto time = [](const Json& of, const char* key) { return milliseconds(of.value(key, int64_t{0})); };
    std::printf("the daemon's loop was held for at most %s (%s), in 99 of 100 callbacks for at most %s; %lld requests wait\n",
                time(loop, "max_ns").c_str(), printable(loop.value("longest", "")).c_str(), time(loop, "p99_ns").c_str(),
                static_cast<long long>(daemon.value("waiting_requests", int64_t{0})));
    std::printf("without what it waited for a processor: at most %s (%s), in 99 of 100 for at most %s\n",
                time(worked, "max_ns").c_str(), printable(worked.value("longest", "")).c_str(), time(worked, "p99_ns").c_str());
    const Json answers = daemon.value("answers", Json::object());
    const std::pair<const char*, const char*> lanes[] = {
        {"look", "quick"}, {"change", "a change"}, {"work", "long work"}, {"report", "a report"}};
    for (const auto& [lane, what] : lanes) {
      const Json of_lane = answers.value(lane, Json::object());
      if (of_lane.value("count", int64_t{0}) == 0) continue;
      std::printf("%lld answers to what is %s took at most %s, 99 of 100 at most %s\n",
                  static_cast<long long>(of_lane.value("count", int64_t{0})), what, time(of_lane, "max_ns").c_str(),
                  time(of_lane, "p99_ns").c_str());
    }
  }
  return kExitDone;
}

int watch_command(const Arguments& arguments) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto followed = follow(*client, arguments.experiment, arguments.json);
  if (!followed) return complain(followed.error());
  if (!arguments.json && followed->end == "done") {
    const std::string words = report_words(arguments, followed->experiment);
    std::printf("report: %s\npage: %s --html FILE\n", words.c_str(), words.c_str());
  }
  return followed->exit_code;
}

namespace {

// What a confidence sequence says so far, a line for each contrast. Other experiments have none before their end.
void print_verdicts(const Json& verdicts) {
  std::printf("after %lld replicates, by a confidence sequence, which holds at every look:\n",
              static_cast<long long>(verdicts.value("replicates", int64_t{0})));
  for (const Json& one : verdicts.value("contrasts", Json::array())) {
    const bool is_ratio = one.value("scale", "") == "log";
    const std::string unit = is_ratio || one.value("unit", "").empty() ? "" : " " + printable(one.value("unit", ""));
    const auto number = [&](const char* key) {
      const double value = one.value(key, 0.0);
      char text[40];
      std::snprintf(text, sizeof text, is_ratio ? "%+.2f%%" : "%+.4g", is_ratio ? 100 * (value - 1) : value);
      return std::string(text);
    };
    const std::string about = one.value("workload", "").empty() ? one.value("population", "") : one.value("workload", "");
    std::printf("  %-10s %s, %s, %s: %s / %s: %s [%s, %s]%s\n", one.value("verdict", "").c_str(), printable(about).c_str(),
                printable(one.value("response", "")).c_str(), printable(one.value("factor", "")).c_str(),
                printable(one.value("level", "")).c_str(), printable(one.value("baseline", "")).c_str(),
                number("estimate").c_str(), number("conf_low").c_str(), number("conf_high").c_str(), unit.c_str());
  }
  std::fflush(stdout);
}

// Shows its progress, or with `as_json` prints each event, until it ends.
Result<Followed> follow(DaemonClient& client, const std::string& experiment, bool as_json) {
  STAB_TRY(const std::string answer, client.call("watch", {{"experiment", experiment}}));
  const Json row = Json::parse(answer);
  Followed followed{row.value("id", int64_t{0}), row.value("name", ""), row.value("state", ""), kExitFailed};
  const auto state = store::experiment_state(followed.end);
  if (as_json) std::printf("%s\n", answer.c_str());
  if (state && is_over(*state)) {
    if (!as_json) print_row(row);
    if (*state == store::ExperimentState::kDone) followed.exit_code = kExitDone;
    return followed;
  }
  if (!as_json && row.contains("verdicts")) print_verdicts(row["verdicts"]);
  const SystemClock clock;
  ProgressDisplay display(rewrites_lines() ? ProgressStyle::kBar : ProgressStyle::kLines, clock);
  auto known = daemon::precision_in(row.value("cells", Json::array()).dump());
  if (!known) return known.error();
  display.begin_with(std::move(*known));
  if (!as_json) print_machines(row);
  for (;;) {
    const auto line = client.next_event();
    if (!line) {
      display.finish();
      return line.error();
    }
    if (as_json) {
      std::printf("%s\n", line->c_str());
      std::fflush(stdout);
    }
    const auto event = daemon::watch_event(*line);
    if (!event) {
      display.finish();
      return event.error();
    }
    if (!*event) continue;
    if (const auto* ending = std::get_if<daemon::EndNews>(&(*event)->what)) {
      display.finish();
      followed.end = name(ending->how);
      if (!as_json) std::printf("%s %s\n", followed.end.c_str(), printable(ending->text).c_str());
      followed.exit_code = exit_code_of(ending->how);
      return followed;
    }
    if (as_json) continue;
    if (const auto* phase = std::get_if<daemon::PhaseNews>(&(*event)->what)) display.phase(phase->text);
    if (const auto* note = std::get_if<daemon::NoteNews>(&(*event)->what)) display.note(note->text);
    if (const auto* told = std::get_if<daemon::ToldTrial>(&(*event)->what)) display.trial_done(told->for_precision());
    if (const auto* news = std::get_if<engine::ProgressNews>(&(*event)->what)) display.trial_progress(*news);
  }
}

}  // namespace

int daemon_logs_command(const Arguments& arguments) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call("logs", {{"experiment", arguments.experiment}});
  if (!result) return complain(result.error());
  std::fputs(printable(Json::parse(*result).value("text", "")).c_str(), stdout);
  return kExitDone;
}

int daemon_rerun_command(const Arguments& arguments) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call("rerun", {}, {{"trial", arguments.trial}});
  if (!result) return complain(result.error());
  std::printf("planned again as trial %lld\n", Json::parse(*result).value("trial", 0LL));
  return kExitDone;
}

// Right behind a cancel the trial that ran may still be ending.
int daemon_delete_command(const Arguments& arguments) {
  constexpr int kTries = 100, kRetryMs = 100;
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  for (int tries = 1;; ++tries) {
    const auto result = client->call("delete", {{"experiment", arguments.experiment}}, {});
    if (result) return kExitDone;
    if (result.error().code != ErrorCode::kBusy || tries == kTries) return complain(result.error());
    ::poll(nullptr, 0, kRetryMs);
  }
}
int priority_command(const Arguments& arguments) { return change(arguments, "priority", {{"priority", arguments.priority}}); }
int cancel_command(const Arguments& arguments) { return change(arguments, "cancel"); }
int pause_command(const Arguments& arguments) { return change(arguments, "pause"); }

// resume and extend work on a database of one's own, unless a daemon is named.
int daemon_resume_command(const Arguments& arguments) { return change(arguments, "resume"); }
int daemon_extend_command(const Arguments& arguments) { return change(arguments, "extend", {{"blocks", arguments.blocks}}); }

}  // namespace stab::ctl
