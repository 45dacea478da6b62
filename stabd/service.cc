// The methods of docs/protocol.md. A peer sees and ends what it has submitted; root, the daemon's own user and operators
// see everything. Plans arrive as text: the client has opened the file, so nobody reads through us what is not
// theirs to read.
//
// Nothing here runs on the daemon's loop. Reading goes through a connection of each thread's own; what changes something
// goes to the engine's thread, which answers when it is on disk.
#include "stabd/service.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <memory>

#include "analysis/commands/causal_report.h"
#include "analysis/commands/method_commands.h"
#include "analysis/page/page.h"
#include "broker/wire/client.h"
#include "plan/design.h"
#include "plan/parse.h"
#include "plan/size.h"
#include "stabd/base64.h"
#include "engine/experiment/expand.h"
#include "engine/results/evidence.h"
#include "engine/results/log_text.h"
#include "engine/experiment/naming.h"
#include "host/knobs.h"
#include "engine/machine/ledger.h"
#include "engine/machine/topology.h"
#include "stabd/experiment_rows.h"
#include "stabd/policy.h"
#include "engine/results/valid_verdicts.h"
#include "engine/results/precision.h"
#include "engine/results/printable.h"
#include "engine/results/load_causal.h"
#include "engine/results/load_samples.h"
#include "stabd/series_answers.h"
#include "stabd/watch_events.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

// A path that Linux takes.
constexpr size_t kMaxPathBytes = 4096;
// A list of more rows is read by nobody.
constexpr size_t kMaxRows = 1000;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Blocks that one message may add: nobody means more.
constexpr int64_t kMaxBlocksAtOnce = 1'000'000;

Error denied(std::string message) { return {ErrorCode::kDenied, std::move(message), {}}; }

Status check_priority(int64_t priority, const Quota& quota, bool privileged) {
  if (priority < kLowestPriority || priority > kHighestPriority)
    return bad_input("priority " + std::to_string(priority) + " is not from " + std::to_string(kLowestPriority) + " to " +
                     std::to_string(kHighestPriority));
  if (privileged || priority <= quota.priority) return {};
  return denied("priority " + std::to_string(priority) + " is above your highest, " + std::to_string(quota.priority));
}

ServiceAnswer faulty(const RpcFault& fault) {
  ServiceAnswer answer{fault_line(fault)};
  answer.fault = fault.code;
  return answer;
}

// An answer that others who look at the experiment have to know of.
ServiceAnswer changed(std::string line, store::Id experiment, int64_t uid, const std::string& what) {
  ServiceAnswer answer{std::move(line)};
  answer.news = EngineEvent{experiment, to_json({experiment, ChangeNews{what}}), false, uid};
  return answer;
}

// Each thread keeps its connection for as long as it lives; a test may have a database after the other.
Result<store::Store*> reader_of_this_thread(const std::string& database) {
  struct Reader {
    std::string database;
    std::unique_ptr<store::Store> store;
  };
  thread_local Reader reader;
  if (!reader.store || reader.database != database) {
    STAB_TRY(store::Store opened, store::Store::open(database, store::Store::Access::kRead));
    reader = {database, std::make_unique<store::Store>(std::move(opened))};
  }
  return reader.store.get();
}

}  // namespace

Service::Service(Engine& engine, EngineThread& thread, Rules rules)
    : engine_(&engine), thread_(&thread), rules_(std::move(rules)), bundles_(engine.options().database) {
  thread.limit_time([config = rules_.config, owner = rules_.owner](uid_t uid) {
    return uid == 0 || uid == owner ? std::chrono::nanoseconds(0) : config->quota_of(uid).wall_time;
  });
}

bool Service::privileged(const Peer& peer) const { return is_privileged(peer, rules_.owner); }

Lane Service::lane_of(std::string_view line) const try {
  const ParsedRequest parsed = parse_request(line);
  if (!parsed.request) return Lane::kLook;
  const std::string& method = parsed.request->method;
  for (const char* change : {"cancel", "pause", "resume", "priority", "delete", "rerun", "unmask"})
    if (method == change) return Lane::kChange;
  for (const char* work : {"submit", "watch", "report", "logs", "bundle", "extend", "machine", "series", "trend"})
    if (method == work) return Lane::kWork;
  return Lane::kLook;
} catch (const std::exception&) {
  return Lane::kLook;  // handle() meets it again, and says so
}

ServiceAnswer Service::handle(std::string_view line, const Peer& peer) {
  std::string id = "null";
  try {
    const ParsedRequest parsed = parse_request(line);
    if (!parsed.request) return faulty(parsed.fault);
    id = parsed.request->id;
    const Result<store::Store*> reader = reader_of_this_thread(engine_->options().database);
    const Result<ServiceAnswer> answer =
        reader ? dispatch({*parsed.request, peer, **reader}) : Result<ServiceAnswer>(reader.error());
    if (answer) return *answer;
    if (answer.error().code == ErrorCode::kDenied)
      rules_.log({LogPriority::kWarning, "refused", answer.error().message,
                  {{"method", parsed.request->method}, {"uid", std::to_string(peer.uid)}}});
    return faulty({rpc_code(answer.error().code), answer.error().message, id});
  } catch (const std::exception& exception) {
    rules_.log(
        {LogPriority::kError, "refused", std::string("an exception: ") + exception.what(), {{"uid", std::to_string(peer.uid)}}});
    return faulty({RpcCode::kInternal, std::string("the daemon can't answer this: ") + exception.what(), id});
  }
}

Result<ServiceAnswer> Service::dispatch(const Call& call) {
  const std::string& method = call.request.method;
  if (method == "submit") return submit(call);
  if (method == "status") return status(call);
  if (method == "watch") return watch(call);
  if (method == "follow") return follow(call);
  if (method == "machine") return machine(call);
  if (method == "report") return report(call);
  if (method == "logs") return logs(call);
  if (method == "series") return series(call);
  if (method == "trend") return trend(call);
  if (method == "rerun") return rerun(call);
  if (method == "bundle") return bundle(call);
  for (const char* known : {"cancel", "pause", "resume", "extend", "priority", "delete", "unmask"})
    if (method == known) return change(call);
  return faulty({RpcCode::kNoSuchMethod,
                 "no method '" + method.substr(0, 100) +
                     "'; there are submit, status, watch, follow, machine, "
                     "report, series, trend, logs, bundle, cancel, pause, resume, extend, priority, rerun, delete and unmask",
                 call.request.id});
}

Result<ServiceAnswer> Service::submit(const Call& call) {
  const auto& [request, peer, reader] = call;
  STAB_CHECK_OK(may_submit(*rules_.config, peer, rules_.owner, rules_.serves_others));
  const std::string directory = request.text("directory"), path = request.text("path");
  if (directory.empty() || directory[0] != '/') return bad_input("param 'directory' is not an absolute path");
  if (directory.size() > kMaxPathBytes || path.size() > kMaxPathBytes)
    return bad_input("params 'directory' and 'path' have at most " + std::to_string(kMaxPathBytes) + " bytes");
  if (peer.uid == 0 && !rules_.config->root_plans)
    return denied("plans of root are refused; start stabd with --allow-root, or submit as a user");
  STAB_CHECK_OK(vouch(peer));
  const int64_t priority = request.number("priority").value_or(0);
  const std::string text = request.text("plan");
  // Before the work of parsing it.
  STAB_CHECK_OK(check_quota(call, 0, text.size(), priority));
  // Which files there are is asked when it is the plan's turn (engine/experiment/plan_files.h).
  const plan::Parsed parsed = plan::parse_plan(text, path);
  if (!parsed.plan) return bad_input(plan::render(parsed.errors));
  if (const auto faults = event_faults(*parsed.plan); !faults.empty()) return bad_input(plan::render(faults));
  STAB_CHECK_OK(may_turn_knobs(*rules_.config, peer, rules_.owner, *parsed.plan));
  STAB_CHECK_OK(check_within(parsed.plan->limits, engine_->options().limits.most));
  STAB_TRY(const plan::Design design, plan::make_design(*parsed.plan));
  const auto trials = static_cast<int64_t>(plan::trials_of(*parsed.plan, design));
  STAB_CHECK_OK(check_quota(call, trials, text.size(), priority));
  STAB_TRY(const store::Id id,
           engine_->submit(*parsed.plan, directory, peer.uid, peer.gid, static_cast<int>(priority), trials));
  thread_->waits_with(static_cast<int>(priority));
  rules_.log({LogPriority::kInfo, "submit", parsed.plan->experiment.name,
              {{"experiment", std::to_string(id)}, {"uid", std::to_string(peer.uid)}, {"priority", std::to_string(priority)}}});
  return changed(answer_line(request.id, dump({{"experiment", id}, {"warnings", plan::render(parsed.warnings)}})), id, peer.uid,
                 "submit");
}

Status Service::vouch(const Peer& peer) {
  broker::Client* broker = engine_->options().broker.get();
  if (broker == nullptr || !broker->is_root()) return {};
  const UniqueFd connection = peer.connection ? peer.connection->copy() : UniqueFd();
  if (!connection)
    return Error{ErrorCode::kUnavailable, "the client has left before it was seen who it is; nothing was done", {}};
  STAB_TRY(const broker::Reply reply, broker->ask(broker::Vouch{}, {connection.get()}));
  if (reply.answer.uid != peer.uid) return Error{ErrorCode::kInternal, "the broker takes the client for another", {}};
  return {};
}

Status Service::check_quota(const Call& call, int64_t trials, size_t plan_bytes, int64_t priority) {
  const Peer& peer = call.peer;
  const Quota& quota = quota_of(peer);
  STAB_CHECK_OK(check_priority(priority, quota, privileged(peer)));
  if (rules_.upkeep->disk_is_full())
    return denied("the daemon's disk has less left than it must; its administrator can free some");
  if (privileged(peer)) return {};
  STAB_CHECK_OK(check_number(call));
  STAB_CHECK_OK(check_trials(call, trials, trials));
  STAB_TRY(const store::UserUsage used, call.reader.usage_of(peer.uid));
  if (used.experiments >= quota.stored_experiments)
    return denied("you have " + std::to_string(used.experiments) +
                  " experiments in the database, those that are over included, and "
                  "may have " +
                  std::to_string(quota.stored_experiments) + "; 'stabctl delete' some that are over, a bundle keeps them");
  const int64_t bytes = used.stored_bytes + static_cast<int64_t>(plan_bytes);
  if (quota.stored_bytes > 0 && static_cast<uint64_t>(bytes) > quota.stored_bytes)
    return denied("your experiments would take " + std::to_string(bytes) + " bytes of the database, and may take " +
                  std::to_string(quota.stored_bytes) + "; 'stabctl delete' some that are over, a bundle keeps them");
  const uint64_t builds = rules_.upkeep->disk_bytes_of(peer.uid);
  if (quota.disk_bytes > 0 && builds > quota.disk_bytes)
    return denied("your builds take " + std::to_string(builds) + " bytes, and may take " + std::to_string(quota.disk_bytes) +
                  "; they shrink as your experiments end");
  return {};
}

Status Service::check_number(const Call& call) {
  if (privileged(call.peer)) return {};
  const Quota& quota = quota_of(call.peer);
  STAB_TRY(const store::UserUsage used, call.reader.usage_of(call.peer.uid));
  if (used.unfinished < quota.experiments) return {};
  return denied("you have " + std::to_string(used.unfinished) + " experiments that aren't over, and may have " +
                std::to_string(quota.experiments) + "; wait for one, or cancel one");
}

Status Service::check_trials(const Call& call, int64_t trials, int64_t more) {
  if (privileged(call.peer)) return {};
  const Quota& quota = quota_of(call.peer);
  if (trials > quota.trials)
    return denied("that makes " + std::to_string(trials) + " trials, and yours may have " + std::to_string(quota.trials));
  STAB_TRY(const store::UserUsage used, call.reader.usage_of(call.peer.uid));
  if (used.trials + more <= quota.all_trials) return {};
  return denied("that makes " + std::to_string(used.trials + more) +
                " trials of all your experiments, those that are over included, "
                "and they may have " +
                std::to_string(quota.all_trials) + "; 'stabctl delete' some that are over");
}

Status Service::extend(const Call& call, const store::ExperimentSummary& row, int64_t blocks) {
  if (blocks < 1 || blocks > kMaxBlocksAtOnce)
    return bad_input("'" + std::to_string(blocks) + "' blocks: expected 1 to " + std::to_string(kMaxBlocksAtOnce));
  if (is_over(row.state)) STAB_CHECK_OK(check_number(call));
  if (!privileged(call.peer)) {
    STAB_TRY(const store::ExperimentRow whole, call.reader.experiment(row.id));
    STAB_TRY(const ExpandedPlan expanded, expand_stored(whole));
    const uint64_t block = plan::block_trials(expanded.plan, expanded.design);
    STAB_CHECK_OK(
        check_trials(call, static_cast<int64_t>(block) * (row.replicates + blocks), static_cast<int64_t>(block) * blocks));
  }
  STAB_CHECK_OK(engine_->extend(row.id, static_cast<int>(blocks)));
  thread_->waits_with(row.priority);
  return {};
}

Result<store::ExperimentSummary> Service::chosen(const Call& call) {
  return experiment_named(call.reader, std::string_view(call.request.text("experiment")).substr(0, kMaxPathBytes),
                          asker(call.peer));
}

Result<ServiceAnswer> Service::status(const Call& call) {
  std::vector<store::ExperimentSummary> rows;
  if (call.request.text("experiment").empty()) {
    const bool all = is_operator(*rules_.config, call.peer, rules_.owner);
    STAB_TRY(rows, call.reader.summaries(all ? std::optional<int64_t>() : call.peer.uid));
  } else {
    STAB_TRY(store::ExperimentSummary row, chosen(call));
    rows.push_back(std::move(row));
  }
  const size_t left_out = rows.size() > kMaxRows ? rows.size() - kMaxRows : 0;
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(left_out));
  const bool is_named = !call.request.text("experiment").empty();
  const int64_t now_ns = engine_->options().clock->realtime().count();
  Json list = Json::array();
  for (const store::ExperimentSummary& row : rows) {
    STAB_TRY(const store::Progress progress, call.reader.progress(row.id));
    STAB_TRY(const store::Usage used, call.reader.usage(row.id));
    Json json = row_json(row, progress, thread_->runs(row.id), used.machine_ns);
    if (is_named || !is_over(row.state))
      STAB_CHECK_OK(put_machines(call.reader, row.id, thread_->machine_runs().signs_of_life(row.id), now_ns, json));
    list.push_back(std::move(json));
  }
  put_ends(list);
  Json answer = {{"experiments", list}};
  if (left_out > 0) answer["left_out"] = left_out;
  if (call.request.number("daemon").value_or(0) != 0 && facts_) answer["daemon"] = Json::parse(facts_());
  return ServiceAnswer{answer_line(call.request.id, dump(answer)), {}};
}

Result<ServiceAnswer> Service::watch(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  STAB_TRY(const store::Progress progress, call.reader.progress(row.id));
  STAB_TRY(const store::Usage used, call.reader.usage(row.id));
  Json answer = row_json(row, progress, thread_->runs(row.id), used.machine_ns);
  STAB_CHECK_OK(put_machines(call.reader, row.id, thread_->machine_runs().signs_of_life(row.id),
                             engine_->options().clock->realtime().count(), answer));
  Blinding& blinding = thread_->blinding();
  STAB_TRY(const bool unmasked, blinding.is_unmasked(call.reader, row.id));
  const bool masked = !is_over(row.state) && !unmasked;
  answer["masked"] = masked;
  STAB_TRY(const store::ExperimentRow whole, call.reader.experiment(row.id));
  STAB_TRY(const Precision precision, precision_of(call.reader, whole));
  answer["cells"] = Json::parse(cells_json(masked ? blinding.masked(row.id, precision) : precision));
  if (const auto widest = precision.widest()) answer["widest"] = *widest;
  // What can't be analysed yet is no fault of who watches.
  if (const auto verdicts = is_over(row.state) ? Result<std::string>("") : valid_verdicts(call.reader, whole);
      verdicts && !verdicts->empty())
    answer["verdicts"] = Json::parse(*verdicts);
  return ServiceAnswer{answer_line(call.request.id, dump(answer)), row.id};
}

Result<ServiceAnswer> Service::report(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  STAB_TRY(const store::ExperimentRow whole, call.reader.experiment(row.id));
  if (call.request.number("html").value_or(0) != 0) return report_page(call, whole);
  // It names cells, so reading it is a look.
  if (!is_over(row.state)) STAB_CHECK_OK(unmask(call, row));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(whole));
  STAB_TRY(const analysis::Samples samples, load_samples(call.reader, whole, expanded));
  analysis::ReportOptions options;
  options.format = call.request.number("json").value_or(0) != 0   ? analysis::ReportFormat::kJson
                   : call.request.number("full").value_or(0) != 0 ? analysis::ReportFormat::kTerminal
                                                                  : analysis::ReportFormat::kFirstScreen;
  // How the reader came here, for the commands that the first screen names.
  options.where = {row.id, printable(call.request.text("options")), printable(call.request.text("page"))};
  options.width = width_asked(call.request);
  std::vector<std::string> without;
  STAB_TRY(const std::vector<analysis::CausalData> profiles, load_causal(call.reader, whole, expanded, &without));
  analysis::CommandOutput output = profiles.empty() ? analysis::run_report(samples, options)
                                                    : analysis::run_causal_report(profiles, options);
  // Its trials as any others are behind --full: windows have changed their times.
  if (!profiles.empty() && output.exit_code == 0 && options.format == analysis::ReportFormat::kTerminal) {
    const analysis::CommandOutput trials = analysis::run_report(samples, options);
    output.out += "\n" + trials.out;
    output.err += trials.err;
    output.exit_code = trials.exit_code;
  }
  if (!without.empty()) output.err += printable(words_without_windows(whole, without)) + "\n";
  return ServiceAnswer{
      answer_line(call.request.id, dump({{"out", output.out}, {"err", output.err}, {"exit_code", output.exit_code}})), {}};
}

Result<ServiceAnswer> Service::report_page(const Call& call, const store::ExperimentRow& row) {
  STAB_TRY(const bool unmasked, thread_->blinding().is_unmasked(call.reader, row.id));
  if (!is_over(row.state) && !unmasked)
    return Error{ErrorCode::kBusy,
                 "experiment " + std::to_string(row.id) +
                     " is not over: its page would show its cells by name, and looking "
                     "early makes false alarms; 'unmask' shows them, and the report will say so",
                 {}};
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const analysis::Samples samples, load_samples(call.reader, row, expanded));
  STAB_TRY(const analysis::Evidence evidence, load_evidence(call.reader, row, expanded, samples));
  STAB_TRY(const std::vector<analysis::CausalData> profiles, load_causal(call.reader, row, expanded));
  STAB_TRY(const std::string page, analysis::render_page(samples, evidence, profiles));
  std::string line = answer_line(call.request.id, dump({{"out", page}, {"err", ""}, {"exit_code", 0}}));
  if (line.size() > kMaxFrameBytes)
    return Error{ErrorCode::kUnavailable,
                 "the page has " + std::to_string(page.size()) +
                     " bytes, more than one answer may; take "
                     "'stabctl bundle', then 'stabctl report --db FILE --html PAGE'",
                 {}};
  return ServiceAnswer{std::move(line)};
}

Status Service::unmask(const Call& call, const store::ExperimentSummary& row) {
  STAB_TRY(const store::Progress progress, call.reader.progress(row.id));
  return thread_->unmask(row.id, "user " + std::to_string(call.peer.uid) + " looked at the cells by name after " +
                                     std::to_string(progress.count(store::TrialState::kRecorded)) + " of " +
                                     std::to_string(progress.planned_total) + " trials");
}

Result<ServiceAnswer> Service::follow(const Call& call) {
  ServiceAnswer answer{answer_line(call.request.id, "{}")};
  answer.follow = Following{call.peer.uid, is_operator(*rules_.config, call.peer, rules_.owner)};
  return answer;
}

// How the machine stands now: its knobs as plans name them, and its weather as the ledger does.
Result<ServiceAnswer> Service::machine(const Call& call) {
  const Roots roots;
  STAB_TRY(const Topology topology, Topology::discover());
  STAB_TRY(const Placement placement, place(topology, "auto", "auto"));
  Json knobs = Json::array(), weather = Json::object();
  for (const KnobInfo& info : knob_infos()) {
    const std::string name(info.name);
    knobs.push_back(
        {{"knob", name}, {"value", present_value(name, roots, placement)}, {"recommended", info.recommended}, {"why", info.why}});
  }
  const HostMoment now = Ledger(roots, placement.trial_cpu).look();
  if (now.load_1min) weather["load_1min"] = *now.load_1min;
  if (now.frequency_khz) weather["frequency_khz"] = *now.frequency_khz;
  if (now.throttle_count) weather["throttle_count"] = *now.throttle_count;
  if (now.steal_ns) weather["steal_ns"] = *now.steal_ns;
  return ServiceAnswer{answer_line(call.request.id, dump({{"knobs", knobs}, {"weather", weather}, {"cpus", placement.why}}))};
}

Result<ServiceAnswer> Service::logs(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  STAB_TRY(const std::string text, log_text(call.reader, row.id));
  return ServiceAnswer{answer_line(call.request.id, dump({{"text", text}})), {}};
}

Asker Service::asker(const Peer& peer) const {
  return {static_cast<int64_t>(peer.uid), is_operator(*rules_.config, peer, rules_.owner)};
}

Result<ServiceAnswer> Service::series(const Call& call) {
  STAB_TRY(const std::string answer, series_answer(call.reader, asker(call.peer)));
  return ServiceAnswer{answer_line(call.request.id, answer)};
}

Result<ServiceAnswer> Service::trend(const Call& call) {
  STAB_TRY(const std::string answer, trend_answer(call.reader, asker(call.peer), call.request));
  std::string line = answer_line(call.request.id, answer);
  if (line.size() > kMaxFrameBytes)
    return Error{ErrorCode::kUnavailable,
                 "the trend has " + std::to_string(line.size()) +
                     " bytes, more than one answer may; take 'stabctl bundle' of its experiments, import them, and "
                     "'stabctl trend --db FILE'",
                 {}};
  return ServiceAnswer{std::move(line)};
}

Result<ServiceAnswer> Service::rerun(const Call& call) {
  STAB_CHECK_OK(may_change(call.peer, rules_.owner, rules_.serves_others));
  STAB_CHECK_OK(vouch(call.peer));
  const store::Id trial = call.request.number("trial").value_or(0);
  const Result<store::TrialRow> row = call.reader.trial(trial);
  const auto experiment = row ? call.reader.summary(row->experiment) : Result<store::ExperimentSummary>(row.error());
  const bool sees_all = is_operator(*rules_.config, call.peer, rules_.owner);
  // A stranger's is as absent.
  if (!experiment || (!sees_all && experiment->submitter_uid != call.peer.uid))
    return Error{ErrorCode::kNotFound, "no trial " + std::to_string(trial), {}};
  if (is_over(experiment->state)) STAB_CHECK_OK(check_number(call));
  STAB_TRY(const auto epochs, call.reader.slot_epochs(experiment->id));
  if (!epochs.empty())
    return bad_input("trial " + std::to_string(trial) +
                     " was run on one of several machines, where blocks are run as wholes; 'stabctl extend' adds some");
  STAB_TRY(const store::Id planned, thread_->rerun(trial, row->experiment));
  return changed(answer_line(call.request.id, dump({{"trial", planned}, {"experiment", row->experiment}})), row->experiment,
                 experiment->submitter_uid, "rerun");
}

Result<ServiceAnswer> Service::bundle(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  const int64_t offset = call.request.number("offset").value_or(0);
  // It holds every trial's time beside its cell's name, so taking it is a look.
  if (!is_over(row.state)) STAB_CHECK_OK(unmask(call, row));
  STAB_TRY(const BundlePiece piece, bundles_.piece(*thread_, row.id, call.peer.uid, offset));
  return ServiceAnswer{
      answer_line(call.request.id, dump({{"data", to_base64(piece.bytes)}, {"size", piece.size}, {"end", piece.end}})), {}};
}

Result<ServiceAnswer> Service::change(const Call& call) {
  const auto& [request, peer, reader] = call;
  STAB_CHECK_OK(may_change(peer, rules_.owner, rules_.serves_others));
  if (request.text("experiment").empty()) return bad_input("param 'experiment' is missing");
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  const bool over = is_over(row.state);
  if (request.method == "delete" && !over) {
    STAB_TRY(const auto wishes, reader.wishes());
    if (std::count(wishes.begin(), wishes.end(), std::pair(row.id, store::Wish::kCancel)) > 0)
      return Error{ErrorCode::kBusy, "experiment " + std::to_string(row.id) + " is being cancelled; try again in a moment", {}};
    return bad_input("experiment " + std::to_string(row.id) + " is " + std::string(store::name(row.state)) + "; cancel it first");
  }
  const bool tries_again = request.method == "resume" && row.state == store::ExperimentState::kFailed;
  if (request.method == "unmask") {
    if (over) return bad_input("experiment " + std::to_string(row.id) + " is over: its cells have their names");
    STAB_CHECK_OK(unmask(call, row));
  }
  if (over && !tries_again && request.method != "extend" && request.method != "delete")
    return bad_input("experiment " + std::to_string(row.id) + " is over already");
  if (tries_again) STAB_CHECK_OK(check_number(call));
  if (request.method == "resume" || request.method == "extend") STAB_CHECK_OK(vouch(peer));
  if (request.method == "cancel") STAB_CHECK_OK(thread_->cancel(row.id));
  if (request.method == "pause") STAB_CHECK_OK(thread_->pause(row.id));
  if (request.method == "resume") STAB_CHECK_OK(thread_->resume(row.id));
  if (request.method == "extend") STAB_CHECK_OK(extend(call, row, request.number("blocks").value_or(0)));
  if (request.method == "delete") STAB_CHECK_OK(thread_->remove(row.id));
  if (request.method == "priority") {
    if (!request.number("priority")) return bad_input("param 'priority' is missing, or no whole number");
    const int64_t priority = *request.number("priority");
    STAB_CHECK_OK(check_priority(priority, quota_of(peer), privileged(peer)));
    STAB_CHECK_OK(thread_->set_priority(row.id, static_cast<int>(priority)));
  }
  rules_.log({LogPriority::kInfo, request.method, row.name,
              {{"experiment", std::to_string(row.id)}, {"uid", std::to_string(peer.uid)}}});
  return changed(answer_line(request.id, dump({{"experiment", row.id}})), row.id, row.submitter_uid, request.method);
}

}  // namespace stab::engine
