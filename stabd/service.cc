// The methods of docs/protocol.md. A peer sees and ends what it has submitted; root and the daemon's own user
// see everything. Plans arrive as text: the client has opened the file, so nobody reads through us what is not
// theirs to read.
//
// Reading goes through a connection of its own; the only write is a submit's one row.
#include "stabd/service.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "analysis/commands.h"
#include "plan/design.h"
#include "plan/parse.h"
#include "plan/schedule.h"
#include "stabd/acting_as.h"
#include "stabd/base64.h"
#include "stabd/expand.h"
#include "stabd/log_text.h"
#include "stabd/precision.h"
#include "stabd/samples.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json row_json(const store::ExperimentRow& row, const store::Progress& progress, bool running) {
  Json states = Json::object();
  for (const auto& [state, count] : progress.by_state) states[std::string(store::name(state))] = count;
  const int64_t left = progress.count(store::TrialState::kPlanned);
  return {{"id", row.id},
          {"name", row.name},
          {"state", store::name(row.state)},
          {"running", running},
          {"failure", row.failure},
          {"uid", row.submitter_uid},
          {"priority", row.priority},
          {"submitted_at_ns", row.submitted_at_ns},
          {"planned", progress.planned_total},
          {"done", progress.planned_total - left},
          {"trials", states}};
}

// Blocks that one message may add: nobody means more, and each is work while the others wait.
constexpr int64_t kMaxBlocksAtOnce = 1'000'000;

Status check_priority(int64_t priority, const Quota& quota, bool privileged) {
  if (priority < kLowestPriority || priority > kHighestPriority)
    return bad_input("priority " + std::to_string(priority) + " is not from " + std::to_string(kLowestPriority) + " to " +
                     std::to_string(kHighestPriority));
  if (privileged || priority <= quota.priority) return {};
  return Error{ErrorCode::kDenied,
               "priority " + std::to_string(priority) + " is above your highest, " + std::to_string(quota.priority), {}};
}

}  // namespace

bool Service::owns(const store::ExperimentRow& row, const Peer& peer) const {
  return privileged(peer) || static_cast<uid_t>(row.submitter_uid) == peer.uid;
}

bool Service::may_see(store::Id experiment, const Peer& peer) {
  const auto row = reader_.experiment(experiment);
  return row.ok() && owns(*row, peer);
}

ServiceAnswer Service::handle(std::string_view line, const Peer& peer) {
  const ParsedRequest parsed = parse_request(line);
  if (!parsed.request) return {fault_line(parsed.fault), {}};
  const Result<ServiceAnswer> answer = dispatch(*parsed.request, peer);
  if (answer) return *answer;
  if (answer.error().code == ErrorCode::kDenied)
    rules_.log({LogPriority::kWarning, "refused", answer.error().message,
                {{"method", parsed.request->method}, {"uid", std::to_string(peer.uid)}}});
  return {fault_line({rpc_code(answer.error().code), answer.error().message, parsed.request->id}), {}};
}

Result<ServiceAnswer> Service::dispatch(const RpcRequest& request, const Peer& peer) {
  if (request.method == "submit") return submit(request, peer);
  if (request.method == "status") return status(request, peer);
  if (request.method == "watch") return watch(request, peer);
  if (request.method == "report") return report(request, peer);
  if (request.method == "logs") return logs(request, peer);
  if (request.method == "rerun") return rerun(request, peer);
  if (request.method == "bundle") return bundle(request, peer);
  for (const char* method : {"cancel", "pause", "resume", "extend", "priority", "delete"})
    if (request.method == method) return change(request, peer);
  return ServiceAnswer{
      fault_line({RpcCode::kNoSuchMethod, "no method '" + request.method + "'; there are submit, status, watch, "
                  "report, logs, bundle, cancel, pause, resume, extend, priority, rerun and delete", request.id}), {}};
}

Result<ServiceAnswer> Service::submit(const RpcRequest& request, const Peer& peer) {
  const std::string directory = request.text("directory");
  if (directory.empty() || directory[0] != '/') return bad_input("param 'directory' is not an absolute path");
  if (peer.uid == 0 && !rules_.config->root_plans)
    return Error{ErrorCode::kDenied, "plans of root are refused; start stabd with --allow-root, or submit as a user", {}};
  const int64_t priority = request.number("priority").value_or(0);
  const plan::RealFiles files(directory);
  plan::ParseOptions options;
  options.files = &files;
  const plan::Parsed parsed = [&] {
    const ActingAs submitter(submitter_of(peer.uid, peer.gid));  // a plan asks which files are there
    return plan::parse_plan(request.text("plan"), request.text("path"), options);
  }();
  if (!parsed.plan) return bad_input(plan::render(parsed.errors));
  if (const auto faults = event_faults(*parsed.plan); !faults.empty()) return bad_input(plan::render(faults));
  STAB_CHECK_OK(check_quota(*parsed.plan, priority, peer));
  STAB_TRY(const store::Id id,
           engine_->submit(*parsed.plan, directory, peer.uid, peer.gid, static_cast<int>(priority)));
  thread_->waits_with(static_cast<int>(priority));
  rules_.log({LogPriority::kInfo, "submit", parsed.plan->experiment.name,
              {{"experiment", std::to_string(id)}, {"uid", std::to_string(peer.uid)}, {"priority", std::to_string(priority)}}});
  return ServiceAnswer{answer_line(request.id, dump({{"experiment", id}, {"warnings", plan::render(parsed.warnings)}})), {}};
}

Status Service::check_quota(const plan::Plan& plan, int64_t priority, const Peer& peer) {
  STAB_CHECK_OK(check_priority(priority, rules_.config->quota_of(peer.uid), privileged(peer)));
  if (rules_.upkeep->disk_is_full())
    return Error{ErrorCode::kDenied, "the daemon's disk has less left than it must; its administrator can free some", {}};
  STAB_CHECK_OK(check_number(peer));
  STAB_CHECK_OK(check_size(plan, plan.experiment.replicates, peer));
  const Quota& quota = rules_.config->quota_of(peer.uid);
  const uint64_t used = rules_.upkeep->disk_bytes_of(peer.uid);
  if (!privileged(peer) && quota.disk_bytes > 0 && used > quota.disk_bytes)
    return Error{ErrorCode::kDenied,
                 "your builds take " + std::to_string(used) + " bytes, and may take " + std::to_string(quota.disk_bytes) +
                     "; they shrink as your experiments end", {}};
  return {};
}

Status Service::check_number(const Peer& peer) {
  if (privileged(peer)) return {};
  const Quota& quota = rules_.config->quota_of(peer.uid);
  STAB_TRY(const std::vector<store::ExperimentRow> all, reader_.experiments());
  const auto unfinished = std::count_if(all.begin(), all.end(), [&](const store::ExperimentRow& row) {
    return static_cast<uid_t>(row.submitter_uid) == peer.uid && !is_over(row.state);
  });
  if (unfinished < quota.experiments) return {};
  return Error{ErrorCode::kDenied,
               "you have " + std::to_string(unfinished) + " experiments that aren't over, and may have " +
                   std::to_string(quota.experiments) + "; wait for one, or cancel one", {}};
}

Status Service::check_size(const plan::Plan& plan, int64_t replicates, const Peer& peer) {
  if (privileged(peer)) return {};
  const Quota& quota = rules_.config->quota_of(peer.uid);
  STAB_TRY(const plan::Design design, plan::make_design(plan));
  const int64_t trials = static_cast<int64_t>(plan::make_schedule(plan, design, 0, 1).trials.size()) * replicates;
  if (trials <= quota.trials) return {};
  return Error{ErrorCode::kDenied,
               "that makes " + std::to_string(trials) + " trials, and yours may have " + std::to_string(quota.trials), {}};
}

Status Service::extend(const store::ExperimentRow& row, int64_t blocks, const Peer& peer) {
  const int64_t some = std::clamp<int64_t>(blocks, 0, kMaxBlocksAtOnce);
  if (is_over(row.state)) STAB_CHECK_OK(check_number(peer));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_CHECK_OK(check_size(expanded.plan, row.replicates + some, peer));
  STAB_CHECK_OK(engine_->extend(row.id, static_cast<int>(some)));
  thread_->waits_with(row.priority);
  return {};
}

Result<store::ExperimentRow> Service::chosen(const RpcRequest& request, const Peer& peer) {
  const std::string name = request.text("experiment");
  if (!name.empty()) {
    STAB_TRY(const store::ExperimentRow row, reader_.find_experiment(name));
    if (owns(row, peer)) return row;
    return Error{ErrorCode::kNotFound, "no experiment '" + name + "'", {}};
  }
  STAB_TRY(const std::vector<store::ExperimentRow> all, reader_.experiments());
  const store::ExperimentRow* newest = nullptr;
  for (const store::ExperimentRow& row : all)
    if (owns(row, peer) && (newest == nullptr || row.id > newest->id)) newest = &row;
  if (newest == nullptr) return Error{ErrorCode::kNotFound, "no experiment yet", {}};
  return *newest;
}

Result<ServiceAnswer> Service::status(const RpcRequest& request, const Peer& peer) {
  std::vector<store::ExperimentRow> rows;
  if (request.text("experiment").empty()) {
    STAB_TRY(const std::vector<store::ExperimentRow> all, reader_.experiments());
    for (const store::ExperimentRow& row : all)
      if (owns(row, peer)) rows.push_back(row);
  } else {
    STAB_TRY(const store::ExperimentRow row, chosen(request, peer));
    rows.push_back(row);
  }
  const store::Id running = thread_->running();
  Json list = Json::array();
  for (const store::ExperimentRow& row : rows) {
    STAB_TRY(const store::Progress progress, reader_.progress(row.id));
    list.push_back(row_json(row, progress, row.id == running));
  }
  return ServiceAnswer{answer_line(request.id, dump({{"experiments", list}})), {}};
}

Result<ServiceAnswer> Service::watch(const RpcRequest& request, const Peer& peer) {
  STAB_TRY(const store::ExperimentRow row, chosen(request, peer));
  STAB_TRY(const store::Progress progress, reader_.progress(row.id));
  Json answer = row_json(row, progress, row.id == thread_->running());
  STAB_TRY(const Precision precision, precision_of(reader_, row));
  answer["cells"] = Json::array();
  for (const CellTimes& times : precision.cells()) {
    Json cell = {{"subject", times.subject}, {"cell", times.cell}, {"n", times.own.n}, {"mean_log_s", times.own.mean},
                 {"squares", times.own.squares}};
    for (const auto& [layout, shared] : times.shared)
      cell["shared"].push_back({{"layout", layout}, {"n", shared.n}, {"mean_log_s", shared.mean}});
    answer["cells"].push_back(std::move(cell));
  }
  return ServiceAnswer{answer_line(request.id, dump(answer)), row.id};
}

Result<ServiceAnswer> Service::report(const RpcRequest& request, const Peer& peer) {
  STAB_TRY(const store::ExperimentRow row, chosen(request, peer));
  STAB_TRY(const analysis::Samples samples, load_samples(reader_, row));
  analysis::ReportOptions options;
  if (request.number("json").value_or(0) != 0) options.format = analysis::ReportFormat::kJson;
  options.width = static_cast<int>(request.number("width").value_or(100));
  const analysis::CommandOutput output = analysis::run_report(samples, options);
  return ServiceAnswer{
      answer_line(request.id, dump({{"out", output.out}, {"err", output.err}, {"exit_code", output.exit_code}})), {}};
}

Result<ServiceAnswer> Service::logs(const RpcRequest& request, const Peer& peer) {
  STAB_TRY(const store::ExperimentRow row, chosen(request, peer));
  STAB_TRY(const std::string text, log_text(reader_, row.id));
  return ServiceAnswer{answer_line(request.id, dump({{"text", text}})), {}};
}

Result<ServiceAnswer> Service::rerun(const RpcRequest& request, const Peer& peer) {
  const store::Id trial = request.number("trial").value_or(0);
  const Result<store::TrialRow> row = reader_.trial(trial);
  // A stranger's is as absent.
  if (!row || !may_see(row->experiment, peer))
    return Error{ErrorCode::kNotFound, "no trial " + std::to_string(trial), {}};
  STAB_TRY(const store::ExperimentRow experiment, reader_.experiment(row->experiment));
  if (is_over(experiment.state)) STAB_CHECK_OK(check_number(peer));
  STAB_TRY(const store::Id planned, thread_->rerun(trial, row->experiment));
  return ServiceAnswer{answer_line(request.id, dump({{"trial", planned}, {"experiment", row->experiment}})), {}};
}

Result<ServiceAnswer> Service::bundle(const RpcRequest& request, const Peer& peer) {
  STAB_TRY(const store::ExperimentRow row, chosen(request, peer));
  const int64_t offset = request.number("offset").value_or(0);
  STAB_TRY(const BundlePiece piece, bundles_.piece(*thread_, row.id, peer.uid, offset));
  return ServiceAnswer{
      answer_line(request.id, dump({{"data", to_base64(piece.bytes)}, {"size", piece.size}, {"end", piece.end}})), {}};
}

Result<ServiceAnswer> Service::change(const RpcRequest& request, const Peer& peer) {
  if (request.text("experiment").empty()) return bad_input("param 'experiment' is missing");
  STAB_TRY(const store::ExperimentRow row, chosen(request, peer));
  const bool over = is_over(row.state);
  if (request.method == "delete" && !over)
    return bad_input("experiment " + std::to_string(row.id) + " is " + std::string(store::name(row.state)) + "; cancel it first");
  const bool tries_again = request.method == "resume" && row.state == store::ExperimentState::kFailed;
  if (over && !tries_again && request.method != "extend" && request.method != "delete")
    return bad_input("experiment " + std::to_string(row.id) + " is over already");
  if (tries_again) STAB_CHECK_OK(check_number(peer));
  if (request.method == "cancel") STAB_CHECK_OK(thread_->cancel(row.id));
  if (request.method == "pause") STAB_CHECK_OK(thread_->pause(row.id));
  if (request.method == "resume") STAB_CHECK_OK(thread_->resume(row.id));
  if (request.method == "extend") STAB_CHECK_OK(extend(row, request.number("blocks").value_or(0), peer));
  if (request.method == "delete")  // gone already: what was wanted
    thread_->between_trials([id = row.id](store::Store& store) { (void)store.delete_experiment(id); });
  if (request.method == "priority") {
    if (!request.number("priority")) return bad_input("param 'priority' is missing, or no whole number");
    const int64_t priority = *request.number("priority");
    STAB_CHECK_OK(check_priority(priority, rules_.config->quota_of(peer.uid), privileged(peer)));
    STAB_CHECK_OK(thread_->set_priority(row.id, static_cast<int>(priority)));
  }
  rules_.log({LogPriority::kInfo, request.method, row.name,
              {{"experiment", std::to_string(row.id)}, {"uid", std::to_string(peer.uid)}}});
  return ServiceAnswer{answer_line(request.id, dump({{"experiment", row.id}})), {}};
}

}  // namespace stab::engine
