// submit, status, watch, pause, resume, extend and cancel: thin, because the daemon decides.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cstdio>

#include "stabctl/commands.h"
#include "stabctl/daemon_client.h"
#include "stabctl/plan_file.h"
#include "stabctl/progress.h"
#include "stabd/server.h"

namespace stab::ctl {
namespace {

using Json = nlohmann::json;

Result<DaemonClient> connect(const Arguments& arguments) {
  return DaemonClient::connect(arguments.socket.empty() ? engine::default_socket() : arguments.socket);
}

void print_row(const Json& row) {
  const std::string state = row.value("running", false) ? "running" : row.value("state", "?");
  std::printf("%6lld  %-28s %-10s %8lld/%lld\n", row.value("id", 0LL), printable(row.value("name", "?")).c_str(),
              state.c_str(), row.value("done", 0LL), row.value("planned", 0LL));
}

// What the daemon knew of each cell when we began to watch.
engine::Precision precision_in(const Json& row) {
  engine::Precision precision;
  for (const Json& cell : row.value("cells", Json::array())) {
    engine::CellTimes times{cell.value("subject", ""), cell.value("cell", ""),
                            {cell.value("n", int64_t{0}), cell.value("mean_log_s", 0.0), cell.value("squares", 0.0)}, {}};
    for (const Json& shared : cell.value("shared", Json::array()))
      times.shared[shared.value("layout", uint64_t{0})] = {shared.value("n", int64_t{0}), shared.value("mean_log_s", 0.0), 0};
    precision.add(times);
  }
  return precision;
}

int change(const Arguments& arguments, const std::string& method, const std::map<std::string, int64_t>& numbers = {}) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call(method, {{"experiment", arguments.experiment}}, numbers);
  return result ? kExitDone : complain(result.error());
}

}  // namespace

int submit_command(const Arguments& arguments) {
  // Parsed here first: faults show without a daemon, and are about the files as this user sees them. One that is wrong
  // keeps all of them from being submitted.
  std::vector<PlanFile> files;
  for (const std::string& path : arguments.plans) files.push_back(read_plan(path));
  for (const PlanFile& file : files)
    if (!file.plan) return file.exit_code;
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  for (const PlanFile& file : files) {
    const auto result = client->call(
        "submit", {{"plan", file.plan->text}, {"path", file.plan->path}, {"directory", file.directory}},
        {{"priority", arguments.priority}});
    if (!result) return complain(result.error());
    std::printf("%lld\n", Json::parse(*result).value("experiment", 0LL));
  }
  return kExitDone;
}

int status_command(const Arguments& arguments) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call("status", {{"experiment", arguments.experiment}});
  if (!result) return complain(result.error());
  const Json json = Json::parse(*result);
  if (arguments.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return kExitDone;
  }
  std::printf("%6s  %-28s %-10s %15s\n", "number", "name", "state", "trials");
  for (const Json& row : json.value("experiments", Json::array())) {
    print_row(row);
    if (const std::string failure = row.value("failure", ""); !failure.empty())
      std::printf("        %s\n", printable(failure).c_str());
  }
  return kExitDone;
}

int watch_command(const Arguments& arguments) {
  auto client = connect(arguments);
  if (!client) return complain(client.error());
  const auto result = client->call("watch", {{"experiment", arguments.experiment}});
  if (!result) return complain(result.error());
  const Json row = Json::parse(*result);
  const std::string state = row.value("state", "");
  if (arguments.json) std::printf("%s\n", result->c_str());
  if (state == "done" || state == "failed" || state == "cancelled") {
    if (!arguments.json) print_row(row);
    return state == "done" ? kExitDone : kExitFailed;
  }
  const SystemClock clock;
  ProgressDisplay display(::isatty(STDERR_FILENO) ? ProgressStyle::kBar : ProgressStyle::kLines, clock);
  display.know(precision_in(row));
  for (;;) {
    const auto event = client->next_event();
    if (!event) {
      display.finish();
      return complain(event.error());
    }
    if (arguments.json) {
      std::printf("%s\n", event->c_str());
      std::fflush(stdout);
    }
    const Json json = Json::parse(*event);
    const std::string kind = json.value("kind", "");
    if (kind == "end") {
      display.finish();
      const std::string end = json.value("state", "");
      if (!arguments.json) std::printf("%s %s\n", end.c_str(), printable(json.value("text", "")).c_str());
      return end == "done" ? kExitDone : end == "stopped" || end == "paused" ? kExitUnfinished : kExitFailed;
    }
    if (arguments.json) continue;
    if (kind == "phase") display.phase(json.value("text", ""));
    if (kind == "note") display.note(json.value("text", ""));
    if (kind != "trial") continue;
    engine::TrialNews news;
    news.kind = store::trial_kind(json.value("trial_kind", "")).value_or(store::TrialKind::kMain);
    news.state = store::trial_state(json.value("state", "")).value_or(store::TrialState::kRecorded);
    news.subject = json.value("subject", "");
    news.cell = json.value("cell", "");
    news.failure = json.value("failure", "");
    if (json.contains("wall_ns")) news.wall_ns = json.value("wall_ns", int64_t{0});
    news.layout = json.value("layout", uint64_t{0});
    news.done = json.value("done", int64_t{0});
    news.planned = json.value("planned", int64_t{0});
    display.trial_done(news);
  }
}

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

int daemon_delete_command(const Arguments& arguments) { return change(arguments, "delete"); }
int priority_command(const Arguments& arguments) { return change(arguments, "priority", {{"priority", arguments.priority}}); }
int cancel_command(const Arguments& arguments) { return change(arguments, "cancel"); }
int pause_command(const Arguments& arguments) { return change(arguments, "pause"); }

// resume and extend work on a database of one's own, unless a daemon is named.
int daemon_resume_command(const Arguments& arguments) { return change(arguments, "resume"); }
int daemon_extend_command(const Arguments& arguments) { return change(arguments, "extend", {{"blocks", arguments.blocks}}); }

}  // namespace stab::ctl
