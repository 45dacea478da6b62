// The phases of an experiment, and what holds between them:
//
//   expand     order and seeds of every trial are in the store
//   build      every binary is there and hashed
//   preflight  one trial of every cell of every workload gave the expected output, dose and counters
//   trials     in schedule order; each is claimed before it starts, and its outcome and the next claim are
//              one commit, so that a crash at any moment leaves at most one claimed trial, which becomes lost
//
// Nothing is written to the store while a trial runs. Between trials this thread may run anywhere; during
// them it is on the housekeeping CPU.
//
// Builds are in experiment_builds.cc, knobs, requirements and gates in experiment_host.cc, a single trial in
// experiment_trial.cc, what is asked after a wrong output in experiment_output.cc.
#include "engine/experiment/experiment_run.h"

#include <algorithm>

#include "plan/parse.h"
#include "plan/stopping.h"
#include "broker/wire/client.h"
#include "engine/separation/counters_at_broker.h"
#include "engine/experiment/gate_open.h"
#include "engine/machine/gates.h"
#include "engine/machine/pinned_thread.h"
#include "engine/experiment/plan_files.h"
#include "engine/experiment/planning.h"
#include "engine/results/precision.h"
#include "engine/separation/runs_as.h"
#include "engine/experiment/stopping_point.h"
#include "engine/trial/simulated.h"
#include "engine/separation/submitter.h"

namespace stab::engine {
namespace {

// Trials that a stopping rule has left out; a cancelled experiment never comes so far.
int64_t not_needed(const store::Progress& progress) { return progress.count(store::TrialState::kCancelled); }

// Opened by the broker, which may; none where it may not either, or there is none.
UniqueFd kernel_log_of(broker::Client* broker) {
  if (broker == nullptr) return UniqueFd();
  Result<broker::Reply> reply = broker->ask(broker::OpenKernelLog{});
  return reply && reply->descriptors.size() == 1 ? std::move(reply->descriptors[0]) : UniqueFd();
}

// Why trials have no /dev/shm of their own though the plan has nothing against it; empty: they may have one. It would hide what
// lies in the machine's, and is named.
std::string why_dev_shm_is_needed(const store::ExperimentRow& row, const Engine::Options& options) {
  constexpr std::string_view kSharedMemory = "/dev/shm";
  const auto is_in = [&](const std::string& text) { return text.find(kSharedMemory) != std::string::npos; };
  if (is_in(row.plan_text)) return "the plan names a file in /dev/shm";
  if (is_in(row.plan_directory)) return "the plan lies in /dev/shm";
  if (is_in(options.database)) return "the database lies in /dev/shm, and builds beside it";
  if (is_in(options.installation.launcher)) return "the installation lies in /dev/shm";
  return {};
}

// The helper randomizes, and it reports: the region's time is in the dose.
bool needs_helper(const plan::Plan& plan) {
  const bool moves = std::any_of(plan.factors.begin(), plan.factors.end(), [](const plan::Factor& factor) {
    return factor.kind == plan::FactorKind::kCode || factor.kind == plan::FactorKind::kStack ||
           factor.kind == plan::FactorKind::kHeap;
  });
  return moves || plan.has_response("region_time");
}

}  // namespace

Result<ExperimentRun> ExperimentRun::prepare(Engine& engine, store::Id experiment, Observer& observer,
                                             StopSignal& stop) {
  const Engine::Options& options = engine.options();
  ExperimentRun run(engine, observer, stop);
  STAB_TRY(run.row_, engine.store().experiment(experiment));
  STAB_TRY(ExpandedPlan expanded, expand_stored(run.row_));
  run.expanded_ = std::make_unique<ExpandedPlan>(std::move(expanded));
  run.boot_id_ = boot_id(options.roots);

  const plan::Plan& plan = run.expanded_->plan;
  STAB_TRY(const Topology topology, Topology::discover());
  STAB_TRY(const Placement placement, place(topology, plan.machine.cpus, plan.machine.housekeeping));
  run.why_shared_ipc_ = plan.machine.private_ipc ? why_dev_shm_is_needed(run.row_, options) : "the plan wants it so";
  STAB_TRY(ProcessTree tree, options.broker != nullptr
                                 ? ProcessTree::create_at(*options.broker, false, placement.housekeeping_cpu, true,
                                                          run.why_shared_ipc_.empty())
                                 : ProcessTree::create(options.roots));
  run.tree_ = std::make_unique<ProcessTree>(std::move(tree));
  run.ledger_ = std::make_unique<Ledger>(options.roots, placement.trial_cpu, kernel_log_of(options.broker.get()));
  const GateOpen open(engine.gate());
  const std::optional<Submitter> submitter =
      runs_as(options, static_cast<uid_t>(run.row_.submitter_uid), static_cast<gid_t>(run.row_.submitter_gid));
  run.worker_ = std::make_unique<Worker>(Worker::Setting{options.installation.launcher, options.installation.worker, submitter,
                                                         placement.housekeeping_cpu, stop.now_fd(), run.tree_.get(), {}});
  STAB_CHECK_OK(run.worker_->start());
  const Give give = [&options](const std::string& path, unsigned uid, unsigned gid) {
    return give_directory(options, path, uid, gid);
  };
  STAB_TRY(ScratchDirectory scratch, ScratchDirectory::create(
      [worker = run.worker_.get()](const std::string& path) -> Status {
        const auto emptied = worker->ask(worker::Empty{path});
        return emptied ? Status() : Status(emptied.error());
      },
      give));
  run.scratch_ = std::make_unique<ScratchDirectory>(std::move(scratch));

  run.place_ = {files_beside(options.database) + "/builds", run.row_.plan_directory, options.installation, submitter,
                run.worker_.get(), give};
  run.lab_ = {options.roots,
              placement,
              options.installation.launcher,
              needs_helper(plan) ? options.installation.helper : std::string(),
              options.clock,
              run.tree_.get(),
              run.ledger_.get(),
              stop.now_fd(),
              {},
              run.worker_.get()};
  run.lab_.limits = settle_limits(plan.limits, options.limits.most, *run.tree_);
  if (options.broker != nullptr) {
    run.perf_ = counters_at(*options.broker);
    run.lab_.perf = run.perf_.get();
  }
  return run;
}

Result<std::optional<RunEnd>> ExperimentRun::to_builds() {
  using Left = std::optional<RunEnd>;
  if (row_.state == store::ExperimentState::kDone) return Left(RunEnd::kDone);
  if (row_.state == store::ExperimentState::kCancelled)
    return bad_input("experiment " + std::to_string(row_.id) + " was cancelled");
  if (step(row_.state, store::ExperimentEvent::kResume).legal) {
    STAB_TRY(row_.state, store_->resume(row_.id, now_ns()));
  }
  const auto cut_off = [&](const Error& error) -> Result<Left> {
    STAB_TRY(const RunEnd end, was_cut_off(error));
    return Left(end);
  };
  STAB_TRY(const bool within, check_limits());
  if (!within) return Left(RunEnd::kRejected);
  const Result<bool> expanded = expand_if_new();
  if (!expanded) return cut_off(expanded.error());
  if (!*expanded) return Left(RunEnd::kRejected);
  if (stop_->asked()) return Left(RunEnd::kStopped);
  STAB_CHECK_OK(advance(store::ExperimentEvent::kRun));
  const Result<bool> made = engine_->options().share ? take_archived_binaries() : make_builds();
  STAB_CHECK_OK(say_what_befell_the_worker());
  if (!made) return cut_off(made.error());
  if (!*made) return Left(stop_->asked() ? RunEnd::kStopped : RunEnd::kRejected);
  return Left();
}

Result<RunEnd> ExperimentRun::to_end() {
  if (expanded_->plan.machines.count > 0 && !engine_->options().share) {
    STAB_CHECK_OK(reject("the plan has [machines], whose workers 'stabctl run' starts; whoever runs it alone, as a daemon does, "
                         "would give it one machine: run it with 'stabctl run', or drop [machines]"));
    return RunEnd::kRejected;
  }
  STAB_TRY(const std::optional<RunEnd> left, to_builds());
  if (left) return *left;

  const PinnedThread pinned(lab_.placement.housekeeping_cpu);
  if (const Status set = set_up(); !set) return was_cut_off(set.error());
  STAB_CHECK_OK(tune());
  STAB_CHECK_OK(check_requirements());
  STAB_CHECK_OK(remember_outputs());
  STAB_CHECK_OK(log("engine", lab_.placement.why + "; trees held by " + std::string(name(tree_->kind())) +
                                   (pinned.in_front() ? "" : "; no real-time priority, so ends may be stamped late")));
  STAB_TRY(const bool passed, run_preflight());
  if (!passed) return stop_->asked() ? RunEnd::kStopped : RunEnd::kRejected;
  STAB_TRY(const bool finished, run_trials());
  if (!finished) return RunEnd::kStopped;

  STAB_CHECK_OK(store_->check_in_place());
  STAB_TRY(const store::Progress progress, store_->progress(row_.id));
  const int64_t recorded = progress.count(store::TrialState::kRecorded);
  STAB_CHECK_OK(advance(store::ExperimentEvent::kFinish));
  // What is done stays done: everything is on disk, if in the write-ahead log.
  if (const Status moved = store_->checkpoint(); !moved) observer_->note(moved.error().message);
  return recorded + not_needed(progress) == progress.planned_total ? RunEnd::kDone : RunEnd::kGaps;
}

// What was asked of the worker when everything was to stop is no fault of the experiment's.
Result<RunEnd> ExperimentRun::was_cut_off(const Error& error) const {
  if (error.code == ErrorCode::kBusy && stop_->asked()) return RunEnd::kStopped;
  return error;
}

// Whoever took the plan has not looked at what it names.
Result<bool> ExperimentRun::find_named_files() {
  const PlanFiles files(*worker_, row_.plan_directory, place_.installation.bin + ":" + kSearchPath);
  const plan::Parsed parsed = [&] {
    const GateOpen open(engine_->gate());
    plan::ParseOptions options;
    options.files = &files;
    return plan::parse_plan(row_.plan_text, row_.plan_path, options);
  }();
  if (files.failure()) return *files.failure();
  if (parsed.plan) return true;
  STAB_CHECK_OK(reject(plan::render(parsed.errors)));
  return false;
}

Result<bool> ExperimentRun::expand_if_new() {
  if (row_.state == store::ExperimentState::kSubmitted) {
    STAB_TRY(const bool found, find_named_files());
    if (!found) return false;
  }
  STAB_CHECK_OK(plan_ahead(*engine_, row_.id, *expanded_, *stop_));
  return true;
}

Status ExperimentRun::set_up() {
  const GateOpen open(engine_->gate());
  STAB_TRY(const std::string directory, scratch_->fresh(unsigned(-1), unsigned(-1)));
  STAB_TRY(TrialSetup setup, TrialSetup::prepare(*expanded_, place_, binaries_, directory));
  setup_ = std::make_unique<TrialSetup>(std::move(setup));
  if (!setup_->simulation().on()) return {};
  observer_->note(limits_of(setup_->simulation()));
  return log(kSimulationEvent, plan::words_of(setup_->simulation()));
}

Result<store::Outcome> ExperimentRun::replay(store::Id original) {
  STAB_TRY(const store::TrialRow trial, store_->trial(original));
  STAB_CHECK_OK(find_recorded_binaries(trial.build));
  const PinnedThread pinned(lab_.placement.housekeeping_cpu);
  STAB_CHECK_OK(set_up());
  STAB_CHECK_OK(tune());
  STAB_CHECK_OK(remember_outputs());
  STAB_TRY(const std::vector<store::Id> ids, store_->add_trials(row_.id, store::TrialKind::kReplay, {trial}));
  STAB_TRY(const store::TrialRow again, store_->trial(ids.front()));
  STAB_CHECK_OK(store_->claim(again.id, claim()));
  STAB_TRY(store::Outcome outcome, run_one(again));
  STAB_TRY(const store::Replacement replacement, store_->finish(outcome, 1));
  (void)replacement;
  return store_->outcome(again.id);
}

// What failed in an earlier run may have been repaired since; without being asked again it would count as passed.
Status ExperimentRun::repeat_failed_preflight() {
  STAB_TRY(const std::vector<store::TrialRow> attempts,
           store_->trials(row_.id, {.kind = store::TrialKind::kPreflight, .state = {}, .block = {}}));
  std::map<uint32_t, store::TrialRow> last;  // by place; attempts come in their order
  for (const store::TrialRow& attempt : attempts) last[attempt.order] = attempt;
  for (const auto& [place, trial] : last) {
    if (trial.state != store::TrialState::kFailed && trial.state != store::TrialState::kTimeout) continue;
    STAB_TRY(const store::Id again, store_->rerun(trial.id));
    (void)again;
  }
  return {};
}

// Why the response that the verdict is about has no value, where the trial's counters should have given one. A night
// without it says nothing.
std::string ExperimentRun::without_first_response(const store::Outcome& outcome) const {
  const std::string& first = expanded_->plan.experiment.responses[0].name;
  for (const store::ResponseRow& row : outcome.responses)
    if (row.name == first && !row.value) return "no value of " + first + ", the first response: " + row.reason;
  return {};
}

Result<bool> ExperimentRun::run_preflight() {
  STAB_CHECK_OK(repeat_failed_preflight());
  bool announced = false;
  while (!stop_->asked()) {
    STAB_TRY(const std::optional<store::TrialRow> trial, store_->next_trial(row_.id, store::TrialKind::kPreflight));
    if (!trial) return true;
    if (!std::exchange(announced, true)) observer_->phase("preflight: one trial of each cell");
    STAB_CHECK_OK(store_->claim(trial->id, claim()));
    STAB_TRY(store::Outcome outcome, run_one(*trial));
    STAB_CHECK_OK(explain_output(*trial, outcome));
    if (outcome.state == store::TrialState::kVerified) {
      outcome.failure = without_first_response(outcome);
      if (!outcome.failure.empty()) outcome.state = step(outcome.state, store::TrialEvent::kUnanswered).state;
    }
    const bool lost = outcome.state == store::TrialState::kLost;
    STAB_TRY(const store::Replacement replacement, store_->finish(outcome, lost ? kMaxAttemptsWhenLost : 1));
    (void)replacement;
    tell(*trial, outcome);
    if (lost || outcome.state == store::TrialState::kVerified) continue;
    STAB_CHECK_OK(reject("preflight of " + expanded_->subjects[static_cast<size_t>(trial->subject)].name + ", " +
                         expanded_->design.cells[static_cast<size_t>(trial->cell)].name + ": " + outcome.failure +
                         (outcome.stderr_head.empty() ? "" : "\n" + outcome.stderr_head)));
    return false;
  }
  return false;
}

Result<bool> ExperimentRun::run_trials() {
  STAB_CHECK_OK(count_places());
  observer_->phase("running");
  // A helper stays where its starter was until a program asks for it, and the trial's CPU is no place to wait.
  beside_ = std::make_unique<SideThread>(lab_.helper.empty() ? lab_.placement.trial_cpu : lab_.placement.housekeeping_cpu);
  STAB_TRY(std::optional<store::TrialRow> trial, claim_next());
  while (trial) {
    const store::TrialRow current = *trial;
    STAB_TRY(store::Outcome outcome, run_one(current));
    STAB_CHECK_OK(explain_output(current, outcome));
    STAB_TRY(trial, store_and_claim(current, outcome));
    tell(current, outcome);
    if (trial || stop_->asked()) continue;
    // It may have been extended meanwhile.
    STAB_CHECK_OK(plan_ahead(*engine_, row_.id, *expanded_, *stop_));
    STAB_CHECK_OK(count_places());
    STAB_TRY(trial, claim_next());
  }
  STAB_TRY(const std::optional<store::TrialRow> left, store_->next_trial(row_.id));
  return !left.has_value();
}

Result<std::optional<store::TrialRow>> ExperimentRun::claim_next() {
  if (stop_->asked()) return std::optional<store::TrialRow>();
  STAB_TRY(const bool open, wait_for_gates());
  if (!open) return std::optional<store::TrialRow>();
  STAB_TRY(std::optional<store::TrialRow> trial, store_->next_trial(row_.id));
  if (!trial) return trial;
  STAB_TRY(const bool fewer, decide_before(*trial));
  if (fewer) {
    STAB_TRY(trial, store_->next_trial(row_.id));
  }
  if (trial) STAB_CHECK_OK(store_->claim(trial->id, claim()));
  return trial;
}

Result<bool> ExperimentRun::decide_before(const store::TrialRow& next) {
  const plan::Plan& plan = expanded_->plan;
  STAB_TRY(const std::optional<int> point, due_stopping_point(*store_, row_, plan, next));
  if (!point) return false;
  STAB_TRY(const StoppingDecision decision, decide_at(*store_, row_, plan, *point));
  STAB_CHECK_OK(log("look", decision.text));
  if (decision.replicates >= plan::verdict_points(plan).back()) return false;
  STAB_TRY(const int64_t dropped, store_->cancel_planned(row_.id, static_cast<uint32_t>(decision.replicates)));
  observer_->note("the plan's stopping rule: " + std::to_string(decision.replicates) + " replicates are enough, " +
                  std::to_string(dropped) + " planned trials are not needed");
  STAB_CHECK_OK(count_places());
  return true;
}

// Stores what became of a trial and claims the next one, in one commit where nothing went wrong. The next one's launcher
// is started and sets itself up meanwhile, and gets its go only once the claim is on disk. What keeps it from getting
// ready now is said when it should run.
Result<std::optional<store::TrialRow>> ExperimentRun::store_and_claim(const store::TrialRow& trial,
                                                                      const store::Outcome& outcome) {
  const bool gated = has_gates(expanded_->plan.machine.gates);
  if (outcome.state == store::TrialState::kVerified && !gated && !stop_->asked()) {
    ++done_;
    STAB_TRY(const std::optional<store::TrialRow> next, store_->next_trial(row_.id));
    std::optional<int> point;
    if (next) {
      STAB_TRY(point, due_stopping_point(*store_, row_, expanded_->plan, *next));
      if (!point && is_quick_to_make_ready(*next)) beside_->begin([&] { (void)make_ready(*next); });
    }
    const auto stored = next && !point ? store_->finish_and_claim(outcome, kMaxAttempts, next->id, claim())
                                       : store_->finish(outcome, kMaxAttempts);
    {
      // What it does may wait for a file of its user's.
      const GateOpen open(engine_->gate());
      beside_->wait();
    }
    if (!stored) return stored.error();
    if (point) return claim_next();
    return next;
  }
  const bool lost = outcome.state == store::TrialState::kLost;
  STAB_TRY(const store::Replacement replacement,
           store_->finish(outcome, lost ? kMaxAttemptsWhenLost : kMaxAttempts));
  STAB_CHECK_OK(count_places());
  if (replacement.quarantined) {
    const std::string text = expanded_->subjects[static_cast<size_t>(trial.subject)].name + ", " +
                             expanded_->design.cells[static_cast<size_t>(trial.cell)].name + ": quarantined after " +
                             std::to_string(kMaxAttempts) + " attempts: " + outcome.failure;
    STAB_CHECK_OK(log("quarantined", text));
    observer_->note(text);
  }
  return claim_next();
}

Status ExperimentRun::count_places() {
  STAB_TRY(const store::Progress progress, store_->progress(row_.id));
  planned_ = progress.planned_total - not_needed(progress);
  done_ = planned_ - progress.count(store::TrialState::kPlanned);
  return {};
}

void ExperimentRun::tell(const store::TrialRow& trial, const store::Outcome& outcome) {
  TrialNews news;
  news.kind = trial.kind;
  news.state = step(outcome.state, store::TrialEvent::kStored).state;
  news.subject = expanded_->subjects[static_cast<size_t>(trial.subject)].name;
  const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(trial.cell)];
  news.cell = cell.name;
  news.wall_ns = outcome.wall_ns;
  const bool timed = trial.pass == 0 && !expanded_->plan.counters.simulation.on();  // a simulator's time is no replicate's
  if (timed) news.layout = plan::layout_of(cell, trial.layout);
  news.failure = outcome.failure;
  news.done = done_;
  news.planned = planned_;
  observer_->trial_done(news);
}

Status ExperimentRun::reject(const std::string& why, store::ExperimentEvent event) {
  observer_->note(why);
  STAB_CHECK_OK(log("rejected", why));
  return advance(event, why);
}

Status ExperimentRun::advance(store::ExperimentEvent event, const std::string& why) {
  STAB_TRY(row_.state, store_->advance(row_.id, event, why, now_ns()));
  return {};
}

Status ExperimentRun::log(const char* kind, const std::string& text) {
  return store_->log({now_ns(), row_.id, kind, text});
}

store::Claim ExperimentRun::claim() {
  claimed_ = engine_->options().clock->monotonic_raw();
  return {boot_id_, now_ns()};
}

}  // namespace stab::engine
