// The methods of docs/protocol.md. A peer sees and ends what it has submitted; root and the daemon's own user
// see everything. Plans arrive as text: the client has opened the file, so nobody reads through us what is not
// theirs to read.
//
// Reading goes through a connection of its own; the only write is a submit's one row.
#include "stabd/service.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "analysis/commands.h"
#include "plan/parse.h"
#include "stabd/expand.h"
#include "stabd/samples.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json row_json(const store::ExperimentRow& row, const store::Progress& progress, bool running) {
  Json states = Json::object();
  for (const auto& [state, count] : progress.by_state) states[std::string(store::name(state))] = count;
  const auto waiting = progress.by_state.find(store::TrialState::kPlanned);
  const int64_t left = waiting == progress.by_state.end() ? 0 : waiting->second;
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

}  // namespace

bool Service::owns(const store::ExperimentRow& row, const Peer& peer) const {
  return peer.uid == 0 || peer.uid == rules_.owner || static_cast<uid_t>(row.submitter_uid) == peer.uid;
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
  return {fault_line({rpc_code(answer.error().code), answer.error().message, parsed.request->id}), {}};
}

Result<ServiceAnswer> Service::dispatch(const RpcRequest& request, const Peer& peer) {
  if (request.method == "submit") return submit(request, peer);
  if (request.method == "status") return status(request, peer);
  if (request.method == "watch") return watch(request, peer);
  if (request.method == "report") return report(request, peer);
  for (const char* method : {"cancel", "pause", "resume", "extend"})
    if (request.method == method) return change(request, peer);
  return ServiceAnswer{
      fault_line({RpcCode::kNoSuchMethod, "no method '" + request.method + "'; there are submit, status, watch, "
                  "report, cancel, pause, resume and extend", request.id}), {}};
}

Result<ServiceAnswer> Service::submit(const RpcRequest& request, const Peer& peer) {
  const std::string directory = request.text("directory");
  if (directory.empty() || directory[0] != '/') return bad_input("param 'directory' is not an absolute path");
  if (peer.uid == 0 && !rules_.root_plans)
    return Error{ErrorCode::kDenied, "plans of root are refused; start stabd with --allow-root, or submit as a user", {}};
  const plan::RealFiles files(directory);
  plan::ParseOptions options;
  options.files = &files;
  const plan::Parsed parsed = plan::parse_plan(request.text("plan"), request.text("path"), options);
  if (!parsed.plan) return bad_input(plan::render(parsed.errors));
  if (const auto faults = event_faults(*parsed.plan); !faults.empty()) return bad_input(plan::render(faults));
  STAB_TRY(const store::Id id, engine_->submit(*parsed.plan, directory, peer.uid, peer.gid));
  thread_->kick();
  return ServiceAnswer{answer_line(request.id, dump({{"experiment", id}, {"warnings", plan::render(parsed.warnings)}})), {}};
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
  return ServiceAnswer{answer_line(request.id, dump(row_json(row, progress, row.id == thread_->running()))), row.id};
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

Result<ServiceAnswer> Service::change(const RpcRequest& request, const Peer& peer) {
  if (request.text("experiment").empty()) return bad_input("param 'experiment' is missing");
  STAB_TRY(const store::ExperimentRow row, chosen(request, peer));
  const bool over = row.state == store::ExperimentState::kDone || row.state == store::ExperimentState::kCancelled;
  if (over && request.method != "extend") return bad_input("experiment " + std::to_string(row.id) + " is over already");
  if (request.method == "cancel") STAB_CHECK_OK(thread_->cancel(row.id));
  if (request.method == "pause") STAB_CHECK_OK(thread_->pause(row.id));
  if (request.method == "resume") STAB_CHECK_OK(thread_->resume(row.id));
  if (request.method == "extend") {
    STAB_CHECK_OK(engine_->extend(row.id, static_cast<int>(std::clamp<int64_t>(request.number("blocks").value_or(0), 0, 1'000'000))));
    thread_->kick();
  }
  return ServiceAnswer{answer_line(request.id, dump({{"experiment", row.id}})), {}};
}

}  // namespace stab::engine
