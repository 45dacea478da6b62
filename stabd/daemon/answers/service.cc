// The methods of docs/reference/protocol.md. A peer sees and ends what it has submitted; root, the daemon's own user and
// operators see everything. Plans arrive as text: the client has opened the file, so nobody reads through us what is not
// theirs to read.
//
// Nothing here runs on the daemon's loop. Reading goes through a connection of each thread's own; what changes something
// goes to the engine's thread, which answers when it is on disk.
#include "stabd/daemon/answers/service.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>

#include "base/json_line.h"
#include "base/wording.h"
#include "plan/design.h"
#include "plan/parse.h"
#include "plan/size.h"
#include "stabd/broker/wire/client.h"
#include "stabd/daemon/answers/experiment_rows.h"
#include "stabd/daemon/answers/host_answer.h"
#include "stabd/daemon/answers/report_answers.h"
#include "stabd/daemon/answers/series_answers.h"
#include "stabd/daemon/events/watch_events.h"
#include "stabd/daemon/protocol/base64.h"
#include "stabd/daemon/rights/policy.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/build/naming.h"
#include "stabd/engine/results/log_text.h"
#include "stabd/engine/results/replay_of.h"
#include "stabd/engine/results/trial_output.h"

namespace stab::daemon {
namespace {

using Json = nlohmann::json;

// A path that Linux takes.
constexpr size_t kMaxPathBytes = 4096;
// A list of more rows is read by nobody.
constexpr size_t kMaxRows = 1000;

// Blocks that one message may add: nobody means more.
constexpr int64_t kMaxBlocksAtOnce = 1'000'000;
// Of those that did not pass: more say nothing new, and each is a row to be read.
constexpr size_t kMaxTrialsNotPassed = 200;

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

// How the same can be had where one answer can't hold it.
std::string cure_for(const RpcRequest& request) {
  const bool is_page = request.number("html").value_or(0) != 0;
  if (request.method == "report")
    return std::string("take 'stabctl bundle', then 'stabctl report --db FILE") + (is_page ? " --html PAGE'" : "'");
  if (request.method == "trend") return "take 'stabctl bundle' of its experiments, import them, and 'stabctl trend --db FILE'";
  if (request.method == "output")
    return "take 'stabctl bundle', then 'stabctl output --db FILE' lists them; 'stabctl output TRIAL' shows one";
  if (request.method == "logs") return "take 'stabctl bundle', then 'stabctl logs --db FILE'";
  return "name one experiment";
}

// No answer is longer than docs/reference/protocol.md says, whatever it is about.
ServiceAnswer within_a_frame(const RpcRequest& request, ServiceAnswer answer) {
  if (answer.line.size() <= kMaxFrameBytes) return answer;
  return faulty({rpc_code(ErrorCode::kUnavailable),
                 "the answer to '" + request.method + "' has " + std::to_string(answer.line.size()) +
                     " bytes, and one has at most " + std::to_string(kMaxFrameBytes) + "; " + cure_for(request),
                 request.id});
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

Service::Service(engine::Engine& engine, EngineThread& thread, Rules rules)
    : engine_(&engine), thread_(&thread), rules_(std::move(rules)),
      quotas_(*rules_.config, *rules_.upkeep, rules_.owner), bundles_(engine.options().database, *engine.options().clock) {
  thread.limit_time([quotas = quotas_](uid_t uid) {
    const Quota* quota = quotas.of(uid);
    return quota ? quota->wall_time : std::chrono::nanoseconds(0);
  });
  thread.limit_parts([quotas = quotas_](uid_t uid) {
    const Quota* quota = quotas.of(uid);
    return quota ? quota->stored_bytes : 0;
  });
}

const Service::Method Service::kMethods[] = {
    {"submit", Lane::kWork, &Service::submit},     {"replay", Lane::kWork, &Service::replay},
    {"status", Lane::kLook, &Service::status},     {"watch", Lane::kWork, &Service::watch},
    {"follow", Lane::kLook, &Service::follow},     {"machine", Lane::kWork, &Service::machine},
    {"report", Lane::kReport, &Service::report},     {"series", Lane::kWork, &Service::series},
    {"trend", Lane::kReport, &Service::trend},       {"logs", Lane::kWork, &Service::logs},
    {"output", Lane::kWork, &Service::output},     {"bundle", Lane::kWork, &Service::bundle},
    {"cancel", Lane::kChange, &Service::change},   {"pause", Lane::kChange, &Service::change},
    {"resume", Lane::kChange, &Service::change},   {"extend", Lane::kWork, &Service::change},
    {"priority", Lane::kChange, &Service::change}, {"rerun", Lane::kChange, &Service::rerun},
    {"delete", Lane::kChange, &Service::change},   {"unmask", Lane::kChange, &Service::change},
};

const Service::Method* Service::method_named(std::string_view name) {
  const auto found = std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& one) { return one.name == name; });
  return found == std::end(kMethods) ? nullptr : found;
}

Lane Service::lane_of(std::string_view line) const try {
  const ParsedRequest parsed = parse_request(line);
  const Method* method = parsed.request ? method_named(parsed.request->method) : nullptr;
  return method != nullptr ? method->lane : Lane::kLook;
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
    if (answer) return within_a_frame(*parsed.request, *answer);
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
  if (const Method* method = method_named(call.request.method)) return (this->*method->answer)(call);
  std::string names;
  for (const Method& one : kMethods)
    names += (&one == kMethods ? "" : &one == std::end(kMethods) - 1 ? " and " : ", ") + std::string(one.name);
  return faulty(
      {RpcCode::kNoSuchMethod, "no method " + in_quotes(call.request.method, 100) + "; there are " + names, call.request.id});
}

Result<ServiceAnswer> Service::submit(const Call& call) {
  const auto& [request, peer, reader] = call;
  STAB_CHECK_OK(may_submit(*rules_.config, peer, rules_.owner, rules_.serves_others));
  const std::string directory = request.text("directory"), path = request.text("path");
  if (directory.empty() || directory[0] != '/') return bad_input("param 'directory' is not an absolute path");
  for (const std::string* text : {&directory, &path})
    if (text->find('\0') != std::string::npos)
      return bad_input("params 'directory' and 'path' are paths, and have no zero byte");
  if (directory.size() > kMaxPathBytes || path.size() > kMaxPathBytes)
    return bad_input("params 'directory' and 'path' have at most " + std::to_string(kMaxPathBytes) + " bytes");
  STAB_CHECK_OK(refuse_root(peer));
  STAB_CHECK_OK(vouch(peer));
  const int64_t priority = request.number("priority").value_or(0);
  const std::string text = request.text("plan");
  // Before the work of parsing it.
  STAB_CHECK_OK(quotas_.check(reader, peer, 0, text.size(), priority));
  // Which files there are is asked when it is the plan's turn (stabd/engine/build/plan_files.h).
  const plan::Parsed parsed = plan::parse_plan(text, path);
  if (!parsed.plan) return bad_input(toml::render(parsed.errors));
  return take(call, *parsed.plan, directory, priority, toml::render(parsed.warnings));
}

Result<ServiceAnswer> Service::take(const Call& call, const plan::Plan& plan, const std::string& directory, int64_t priority,
                                    const std::string& warnings) {
  const auto& [request, peer, reader] = call;
  if (const auto faults = engine::event_faults(plan); !faults.empty()) return bad_input(toml::render(faults));
  STAB_CHECK_OK(may_turn_knobs(*rules_.config, peer, rules_.owner, plan));
  STAB_CHECK_OK(engine::check_within(plan.limits, engine_->options().limits.most));
  STAB_CHECK_OK(engine::check_timeouts(plan, engine_->options().limits.timeout));
  STAB_TRY(const plan::Design design, plan::make_design(plan));
  const auto trials = static_cast<int64_t>(plan::trials_of(plan, design));
  STAB_CHECK_OK(quotas_.check(reader, peer, trials, plan.text.size(), priority));
  STAB_TRY(const store::Id id, engine_->submit(plan, directory, peer.uid, peer.gid, static_cast<int>(priority), trials));
  thread_->waits_with(static_cast<int>(priority));
  rules_.log({LogPriority::kInfo, "submit", plan.experiment.name,
              {{"experiment", std::to_string(id)}, {"uid", std::to_string(peer.uid)}, {"priority", std::to_string(priority)}}});
  return changed(answer_line(request.id, json_line(Json{{"experiment", id}, {"warnings", warnings}})), id, peer.uid,
                 "submit");
}

// Its program runs with the rights of who asks, so the trial must be theirs; an operator sees others' and replays none.
Result<ServiceAnswer> Service::replay(const Call& call) {
  const auto& [request, peer, reader] = call;
  STAB_CHECK_OK(may_submit(*rules_.config, peer, rules_.owner, rules_.serves_others));
  STAB_CHECK_OK(refuse_root(peer));
  STAB_CHECK_OK(vouch(peer));
  STAB_TRY(const ChosenTrial trial, chosen_trial(call));
  const store::ExperimentSummary& experiment = trial.experiment;
  if (experiment.submitter_uid != static_cast<int64_t>(peer.uid))
    return denied("trial " + std::to_string(trial.row.id) + " is user " + std::to_string(experiment.submitter_uid) +
                  "'s, and its program would run as user " + std::to_string(peer.uid) + "; leave that to its user");
  if (!is_over(experiment.state)) {
    STAB_TRY(const bool unmasked, thread_->blinding().is_unmasked(reader, experiment.id));
    if (!unmasked)
      return Error{ErrorCode::kBusy,
                   "experiment " + std::to_string(experiment.id) +
                       " is not over: what its trials differ by would show before a declared look; 'unmask' shows it, and the "
                       "report will say so",
                   {}};
  }
  const int64_t times = std::clamp<int64_t>(request.number("times").value_or(0), 0, INT32_MAX);
  STAB_TRY(const engine::ReplayPlan replay, engine::replay_plan(reader, trial.row.id, static_cast<int>(times)));
  return take(call, replay.plan, replay.of.plan_directory, 0, "");
}

Status Service::refuse_root(const Peer& peer) const {
  if (peer.uid != 0 || rules_.config->root_plans) return {};
  return denied("plans of root are refused; start stabd with --allow-root, or submit as a user");
}

Status Service::vouch(const Peer& peer) {
  broker::Client& broker = *engine_->options().broker;
  if (!broker.is_root()) return {};
  const UniqueFd connection = peer.connection ? peer.connection->copy() : UniqueFd();
  if (!connection)
    return Error{ErrorCode::kUnavailable, "the client has left before it was seen who it is; nothing was done", {}};
  STAB_TRY(const broker::Reply reply, broker.ask(broker::Vouch{}, {connection.get()}));
  if (reply.answer.uid != peer.uid) return Error{ErrorCode::kInternal, "the broker takes the client for another", {}};
  return {};
}

Status Service::extend(const Call& call, const store::ExperimentSummary& row, int64_t blocks) {
  if (blocks < 1 || blocks > kMaxBlocksAtOnce)
    return bad_input("'" + std::to_string(blocks) + "' blocks: expected 1 to " + std::to_string(kMaxBlocksAtOnce));
  if (is_over(row.state)) STAB_CHECK_OK(quotas_.check_number(call.reader, call.peer));
  if (quotas_.of(call.peer.uid) != nullptr) {
    STAB_TRY(const store::ExperimentRow whole, call.reader.experiment(row.id));
    STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(whole));
    const uint64_t block = plan::block_trials(expanded.plan, expanded.design);
    STAB_CHECK_OK(quotas_.check_trials(call.reader, call.peer, static_cast<int64_t>(block) * (row.replicates + blocks),
                                       static_cast<int64_t>(block) * blocks));
  }
  STAB_CHECK_OK(engine_->extend(row.id, static_cast<int>(blocks)));
  thread_->waits_with(row.priority);
  return {};
}

Result<store::ExperimentSummary> Service::chosen(const Call& call) {
  return engine::experiment_named(call.reader, std::string_view(call.request.text("experiment")).substr(0, kMaxPathBytes),
                                  asker(call.peer));
}

Result<Service::ChosenTrial> Service::chosen_trial(const Call& call) {
  const store::Id trial = call.request.number("trial").value_or(0);
  const Result<store::TrialRow> row = call.reader.trial(trial);
  const auto experiment = row ? call.reader.summary(row->experiment) : Result<store::ExperimentSummary>(row.error());
  const bool sees_all = is_operator(*rules_.config, call.peer, rules_.owner);
  // A stranger's is as absent.
  if (!experiment || (!sees_all && experiment->submitter_uid != call.peer.uid))
    return Error{ErrorCode::kNotFound, "no trial " + std::to_string(trial), {}};
  return ChosenTrial{*row, *experiment};
}

Result<ServiceAnswer> Service::status(const Call& call) {
  std::vector<store::ExperimentSummary> rows;
  const std::optional<int64_t> uid =
      is_operator(*rules_.config, call.peer, rules_.owner) ? std::nullopt : std::optional<int64_t>(call.peer.uid);
  if (call.request.text("experiment").empty()) {
    STAB_TRY(rows, call.reader.summaries(uid));
  } else {
    STAB_TRY(store::ExperimentSummary row, chosen(call));
    rows.push_back(std::move(row));
  }
  const size_t left_out = rows.size() > kMaxRows ? rows.size() - kMaxRows : 0;
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(left_out));
  const bool is_named = !call.request.text("experiment").empty();
  const int64_t now_ns = engine_->options().clock->realtime().count();
  std::map<store::Id, store::Listed> listed;
  if (is_named) {
    STAB_TRY(listed[rows[0].id].progress, call.reader.progress(rows[0].id));
    STAB_TRY(const store::Usage used, call.reader.usage(rows[0].id));
    listed[rows[0].id].machine_ns = used.machine_ns;
    listed[rows[0].id].has_slots = true;  // or has none: it is looked at
  } else if (!rows.empty()) {
    STAB_TRY(listed, call.reader.listed(uid, rows[0].id));
  }
  std::vector<ToldExperiment> all;
  all.reserve(rows.size());
  const std::string waits_for = thread_->waits_for();
  for (store::ExperimentSummary& row : rows) {
    store::Listed& more = listed[row.id];
    const bool has_slots = more.has_slots && (is_named || !is_over(row.state));
    const bool runs = thread_->runs(row.id);
    all.push_back(told(std::move(row), std::move(more.progress), runs, more.machine_ns));
    put_wait(waits_for, all.back());
    if (!has_slots) continue;
    ToldExperiment& last = all.back();
    STAB_CHECK_OK(put_machines(call.reader, dealt_, thread_->machine_runs().signs_of_life(last.row.id), now_ns, last));
  }
  put_ends(all);
  std::string answer = "{\"experiments\":[";
  for (const ToldExperiment& one : all) answer += (&one == all.data() ? "" : ",") + text_of(one);
  answer += ']';
  if (left_out > 0) answer += ",\"left_out\":" + std::to_string(left_out);
  if (call.request.number("daemon").value_or(0) != 0 && facts_) answer += ",\"daemon\":" + facts_();
  return ServiceAnswer{answer_line(call.request.id, answer + '}'), {}};
}

Result<ServiceAnswer> Service::watch(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  STAB_TRY(const store::Progress progress, call.reader.progress(row.id));
  STAB_TRY(const store::Usage used, call.reader.usage(row.id));
  ToldExperiment experiment = told(row, progress, thread_->runs(row.id), used.machine_ns);
  STAB_CHECK_OK(put_machines(call.reader, dealt_, thread_->machine_runs().signs_of_life(row.id),
                             engine_->options().clock->realtime().count(), experiment));
  put_wait(thread_->waits_for(), experiment);
  Blinding& blinding = thread_->blinding();
  STAB_TRY(const bool unmasked, blinding.is_unmasked(call.reader, row.id));
  const bool masked = !is_over(row.state) && !unmasked;
  STAB_TRY(const WatchedResults::Shared watched, watched_.of(row.id, mark_of(row, progress, masked), [&] {
             return watched_now(call.reader, blinding, row, masked);
           }));
  std::string text = text_of(experiment);
  text.pop_back();
  text += std::string(",\"masked\":") + (masked ? "true" : "false");
  if (watched->widest) text += ",\"widest\":" + Json(*watched->widest).dump();
  text += ",\"cells\":" + watched->cells + (watched->verdicts.empty() ? "" : ",\"verdicts\":" + watched->verdicts) + "}";
  return ServiceAnswer{answer_line(call.request.id, text), row.id};
}

Result<ServiceAnswer> Service::report(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  STAB_TRY(const store::ExperimentRow whole, call.reader.experiment(row.id));
  if (call.request.number("html").value_or(0) != 0) return report_page(call, whole);
  // A report names cells, so that to read it is a look at the results.
  if (!is_over(row.state)) STAB_CHECK_OK(unmask(call, row));
  STAB_TRY(const std::string answer, report_answer(call.reader, whole, call.request));
  return ServiceAnswer{answer_line(call.request.id, answer)};
}

Result<ServiceAnswer> Service::report_page(const Call& call, const store::ExperimentRow& row) {
  STAB_TRY(const bool unmasked, thread_->blinding().is_unmasked(call.reader, row.id));
  if (!is_over(row.state) && !unmasked)
    return Error{ErrorCode::kBusy,
                 "experiment " + std::to_string(row.id) +
                     " is not over: its page would show its cells by name, and looking "
                     "early makes false alarms; 'unmask' shows them, and the report will say so",
                 {}};
  STAB_TRY(const std::string answer, page_answer(call.reader, row));
  return ServiceAnswer{answer_line(call.request.id, answer)};
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

Result<ServiceAnswer> Service::machine(const Call& call) {
  STAB_TRY(const std::string answer, host_answer());
  return ServiceAnswer{answer_line(call.request.id, answer)};
}

Result<ServiceAnswer> Service::logs(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  STAB_TRY(const std::string text, engine::log_text(call.reader, row.id));
  return ServiceAnswer{answer_line(call.request.id, json_line(Json{{"text", text}})), {}};
}

Result<ServiceAnswer> Service::output(const Call& call) {
  if (!call.request.number("trial")) {
    STAB_TRY(const store::ExperimentSummary row, chosen(call));
    STAB_TRY(const std::vector<engine::TrialOutput> trials, engine::trials_not_passed(call.reader, row.id, kMaxTrialsNotPassed));
    Json list = Json::array();
    for (const engine::TrialOutput& one : trials) list.push_back(Json::parse(engine::output_json(one)));
    return ServiceAnswer{answer_line(call.request.id, json_line(Json{{"trials", list}}))};
  }
  STAB_TRY(const ChosenTrial trial, chosen_trial(call));
  // Programs print their own times, and a replay's passes for its trial's.
  if (trial.row.state == store::TrialState::kRecorded && !is_over(trial.experiment.state)) {
    STAB_TRY(const bool unmasked, thread_->blinding().is_unmasked(call.reader, trial.experiment.id));
    if (!unmasked)
      return Error{ErrorCode::kBusy,
                   "trial " + std::to_string(trial.row.id) +
                       " has passed, and its experiment is not over: what it printed may say how long it took; 'unmask' shows "
                       "it, and the report will say so",
                   {}};
  }
  STAB_TRY(const engine::TrialOutput output, engine::trial_output(call.reader, trial.row.id));
  return ServiceAnswer{answer_line(call.request.id, engine::output_json(output))};
}

engine::Asker Service::asker(const Peer& peer) const {
  return {static_cast<int64_t>(peer.uid), is_operator(*rules_.config, peer, rules_.owner)};
}

Result<ServiceAnswer> Service::series(const Call& call) {
  STAB_TRY(const std::string answer, series_answer(call.reader, asker(call.peer)));
  return ServiceAnswer{answer_line(call.request.id, answer)};
}

Result<ServiceAnswer> Service::trend(const Call& call) {
  STAB_TRY(const std::string answer, trend_answer(call.reader, asker(call.peer), call.request));
  return ServiceAnswer{answer_line(call.request.id, answer)};
}

Result<ServiceAnswer> Service::rerun(const Call& call) {
  STAB_CHECK_OK(may_change(call.peer, rules_.owner, rules_.serves_others));
  STAB_CHECK_OK(vouch(call.peer));
  STAB_TRY(const ChosenTrial trial, chosen_trial(call));
  const store::ExperimentSummary& experiment = trial.experiment;
  if (is_over(experiment.state)) STAB_CHECK_OK(quotas_.check_number(call.reader, call.peer));
  STAB_TRY(const auto epochs, call.reader.slot_epochs(experiment.id));
  if (!epochs.empty())
    return bad_input("trial " + std::to_string(trial.row.id) +
                     " was run on one of several machines, where blocks are run as wholes; 'stabctl extend' adds some");
  STAB_TRY(const store::Id planned, thread_->rerun(trial.row.id, experiment.id));
  return changed(answer_line(call.request.id, json_line(Json{{"trial", planned}, {"experiment", experiment.id}})),
                 experiment.id, experiment.submitter_uid, "rerun");
}

Result<ServiceAnswer> Service::bundle(const Call& call) {
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  const int64_t offset = call.request.number("offset").value_or(0);
  // It holds every trial's time beside its cell's name, so taking it is a look.
  if (!is_over(row.state)) STAB_CHECK_OK(unmask(call, row));
  const int64_t copy = call.request.number("copy").value_or(0);
  STAB_TRY(const BundlePiece piece, bundles_.piece(*thread_, row, call.peer.uid, offset, copy));
  return ServiceAnswer{
      answer_line(call.request.id,
                  json_line(Json{{"data", to_base64(piece.bytes)},
                                       {"size", piece.size},
                                       {"end", piece.end},
                                       {"copy", piece.copy},
                                       {"experiment", row.id}})),
      {}};
}

Result<ServiceAnswer> Service::change(const Call& call) {
  const auto& [request, peer, reader] = call;
  STAB_CHECK_OK(may_change(peer, rules_.owner, rules_.serves_others));
  if (request.text("experiment").empty()) return bad_input("param 'experiment' is missing");
  // Before the row, so that a cancel that settles in between is in one of the two.
  std::vector<std::pair<store::Id, store::Wish>> wishes;
  if (request.method == "delete") {
    STAB_TRY(wishes, reader.wishes());
  }
  STAB_TRY(const store::ExperimentSummary row, chosen(call));
  const bool over = is_over(row.state);
  if (request.method == "delete" && !over) {
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
  if (tries_again) STAB_CHECK_OK(quotas_.check_number(reader, peer));
  if (request.method == "resume" || request.method == "extend") STAB_CHECK_OK(vouch(peer));
  if (request.method == "cancel") STAB_CHECK_OK(thread_->cancel(row.id));
  if (request.method == "pause") STAB_CHECK_OK(thread_->pause(row.id));
  if (request.method == "resume") STAB_CHECK_OK(thread_->resume(row.id));
  if (request.method == "extend") STAB_CHECK_OK(extend(call, row, request.number("blocks").value_or(0)));
  if (request.method == "delete") STAB_CHECK_OK(thread_->remove(row.id));
  if (request.method == "priority") {
    if (!request.number("priority")) return bad_input("param 'priority' is missing, or no whole number");
    const int64_t priority = *request.number("priority");
    STAB_CHECK_OK(quotas_.check_priority(peer, priority));
    STAB_CHECK_OK(thread_->set_priority(row.id, static_cast<int>(priority)));
  }
  rules_.log({LogPriority::kInfo, request.method, row.name,
              {{"experiment", std::to_string(row.id)}, {"uid", std::to_string(peer.uid)}}});
  return changed(answer_line(request.id, json_line(Json{{"experiment", row.id}})), row.id, row.submitter_uid,
                 request.method);
}

}  // namespace stab::daemon
