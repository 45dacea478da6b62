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
#include "stabd/experiment_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "plan/stopping.h"
#include "stabd/acting_as.h"
#include "stabd/archive.h"
#include "stabd/command.h"
#include "stabd/host/facts.h"
#include "stabd/host/gates.h"
#include "stabd/named_file.h"
#include "stabd/sha256.h"
#include "stabd/stopping_point.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;

// What prepare and cleanup may take: they set up a trial, they are none.
constexpr std::chrono::minutes kAroundTimeout{10};
// Between two looks at a closed gate: load averages move no faster, and a look is work for the machine.
constexpr std::chrono::milliseconds kLookAgain{5000};

// Moves the calling thread to one CPU while it lives, and in front of everything else there: whoever stamps the
// end of a trial must not wait for a time slice. Its children are ordinary again (SCHED_RESET_ON_FORK).
class PinnedThread {
 public:
  explicit PinnedThread(int cpu) {
    const sched_param lowest{1};
    in_front_ = ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0;
    if (cpu < 0 || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(cpu), &set);
    pinned_ = ::sched_setaffinity(0, sizeof set, &set) == 0;
  }
  ~PinnedThread() {
    if (pinned_) ::sched_setaffinity(0, sizeof before_, &before_);
    const sched_param none{0};
    if (in_front_) ::sched_setscheduler(0, SCHED_OTHER, &none);
  }
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  bool in_front() const { return in_front_; }

 private:
  cpu_set_t before_;
  bool pinned_ = false, in_front_ = false;
};

// Lets others at the store while a trial or a build runs. pre: the gate is held
class GateOpen {
 public:
  explicit GateOpen(std::mutex& gate) : gate_(gate) { gate_.unlock(); }
  ~GateOpen() { gate_.lock(); }
  GateOpen(const GateOpen&) = delete;
  GateOpen& operator=(const GateOpen&) = delete;

 private:
  std::mutex& gate_;
};

Result<std::string> hash_as(const std::optional<Submitter>& submitter, const std::string& path) {
  const ActingAs acting(submitter);
  return sha256_of_file(path);
}

// Trials that a stopping rule has left out; a cancelled experiment never comes so far.
int64_t not_needed(const store::Progress& progress) {
  const auto cancelled = progress.by_state.find(store::TrialState::kCancelled);
  return cancelled == progress.by_state.end() ? 0 : cancelled->second;
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
  STAB_TRY(ProcessTree tree, ProcessTree::create(options.roots));
  run.tree_ = std::make_unique<ProcessTree>(std::move(tree));
  run.ledger_ = std::make_unique<Ledger>(options.roots, placement.trial_cpu);
  STAB_TRY(ScratchDirectory scratch, ScratchDirectory::create());
  run.scratch_ = std::make_unique<ScratchDirectory>(std::move(scratch));

  run.place_ = {files_beside(options.database) + "/builds", run.row_.plan_directory, options.installation,
                submitter_of(static_cast<uid_t>(run.row_.submitter_uid), static_cast<gid_t>(run.row_.submitter_gid))};
  run.lab_ = {options.roots,
              placement,
              options.installation.launcher,
              needs_helper(plan) ? options.installation.helper : std::string(),
              options.clock,
              run.tree_.get(),
              run.ledger_.get(),
              stop.now_fd(),
              {}};
  return run;
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
  return outcome;
}

// What was measured then, whatever its source has become: the build of the same inputs where it still has the
// recorded binary, else the archived one. Nothing of this is stored.
Status ExperimentRun::find_recorded_binaries(int wanted) {
  STAB_TRY(const std::vector<store::BuildRow> rows, store_->builds(row_.id));
  binaries_.assign(rows.size(), {row_.plan_directory, "", ""});
  for (const store::BuildRow& row : rows) {
    BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
    if (!row.input_hash.empty()) binary.directory = build_directory(place_, row.input_hash);
    const auto now = hash_as(place_.submitter, row.binary_path);
    if (now && *now == row.binary_sha256) continue;
    const auto archived = Archive(archive_beside(engine_->options().database)).find(row.binary_sha256);
    if (!archived && row.index == wanted)
      return Error{archived.error().code, "'" + row.binary_path + "' is not what was measured, and " + archived.error().message, {}};
    if (!archived) continue;
    binary.run_instead = *archived;
    if (row.index == wanted) observer_->note("'" + row.binary_path + "' is gone or has changed; its archived copy runs");
  }
  return {};
}

// Best effort: without its copy a trial can be repeated only as long as the build is there.
void ExperimentRun::archive(const store::BuildRow& row) {
  const Result<UniqueFd> binary = [&] {
    const ActingAs acting(place_.submitter);
    return open_regular_file(row.binary_path);
  }();
  const Status kept = binary ? Archive(archive_beside(engine_->options().database)).put(binary->get(), row.binary_sha256)
                             : Status(binary.error());
  if (!kept) observer_->note("'" + row.binary_path + "' is not archived: " + kept.error().message);
}

Status ExperimentRun::set_up() {
  STAB_TRY(const std::string directory, scratch_->fresh(unsigned(-1), unsigned(-1)));
  STAB_TRY(TrialSetup setup, TrialSetup::prepare(*expanded_, place_, binaries_, directory));
  setup_ = std::make_unique<TrialSetup>(std::move(setup));
  return {};
}

Result<RunEnd> ExperimentRun::to_end() {
  if (row_.state == store::ExperimentState::kDone) return RunEnd::kDone;
  if (row_.state == store::ExperimentState::kCancelled)
    return bad_input("experiment " + std::to_string(row_.id) + " was cancelled");
  STAB_CHECK_OK(expand_if_new());
  STAB_CHECK_OK(store_->set_state(row_.id, store::ExperimentState::kRunning, "", now_ns()));
  STAB_TRY(const bool built, make_builds());
  if (!built) return stop_->asked() ? RunEnd::kStopped : RunEnd::kRejected;

  const PinnedThread pinned(lab_.placement.housekeeping_cpu);
  STAB_CHECK_OK(set_up());
  STAB_CHECK_OK(tune());
  STAB_CHECK_OK(check_requirements());
  STAB_CHECK_OK(remember_outputs());
  STAB_CHECK_OK(log("engine", lab_.placement.why + "; trees held by " + std::string(name(tree_->kind())) +
                                   (pinned.in_front() ? "" : "; no real-time priority, so ends may be stamped late")));
  STAB_TRY(const bool passed, run_preflight());
  if (!passed) return stop_->asked() ? RunEnd::kStopped : RunEnd::kRejected;
  STAB_TRY(const bool finished, run_trials());
  if (!finished) return RunEnd::kStopped;

  STAB_CHECK_OK(store_->set_state(row_.id, store::ExperimentState::kDone, "", now_ns()));
  STAB_CHECK_OK(store_->checkpoint());
  STAB_TRY(const store::Progress progress, store_->progress(row_.id));
  const auto recorded = progress.by_state.find(store::TrialState::kRecorded);
  const int64_t count = recorded == progress.by_state.end() ? 0 : recorded->second;
  return count + not_needed(progress) == progress.planned_total ? RunEnd::kDone : RunEnd::kGaps;
}

Status ExperimentRun::expand_if_new() {
  if (row_.state != store::ExperimentState::kSubmitted) return {};
  return store_->expand(row_.id, rows_of(*expanded_));
}

Status ExperimentRun::reject(const std::string& why) {
  observer_->note(why);
  STAB_CHECK_OK(log("rejected", why));
  return store_->set_state(row_.id, store::ExperimentState::kFailed, why, now_ns());
}

Status ExperimentRun::log(const char* kind, const std::string& text) {
  return store_->log({now_ns(), row_.id, kind, text});
}

Result<bool> ExperimentRun::make_builds() {
  STAB_TRY(std::vector<store::BuildRow> rows, store_->builds(row_.id));
  binaries_.assign(expanded_->builds.all().size(), {row_.plan_directory, "", ""});
  for (store::BuildRow& row : rows) {
    if (stop_->asked()) return false;
    const plan::Build& build = expanded_->builds.all()[static_cast<size_t>(row.index)];
    const plan::Program& program = expanded_->plan.programs[static_cast<size_t>(build.program)];
    BuiltBinary& binary = binaries_[static_cast<size_t>(row.index)];
    if (needs_directory(build)) {
      observer_->phase("building " + build.name);
      const Status made = [&] {
        const GateOpen open(engine_->gate());
        return make_build(lab_, place_, program, build, row);
      }();
      STAB_CHECK_OK(made);
      binary.directory = build_directory(place_, row.input_hash);
    } else {
      row.state = store::BuildState::kDone;
    }
    if (row.state == store::BuildState::kDone) {
      const plan::Cell& cell = expanded_->design.cells[static_cast<size_t>(build.cell)];
      const std::string word = plan::substitute(program.workloads[0].run, expanded_->plan, cell, build.link).argv[0];
      const auto path = find_program(place_, binary.directory, word);
      const auto hash = path ? hash_as(place_.submitter, *path) : Result<std::string>(path.error());
      if (hash) {
        row.binary_path = *path;
        row.binary_sha256 = *hash;
        binary.sha256 = *hash;
        archive(row);
      } else {
        row.state = store::BuildState::kFailed;
        row.log += hash.error().message + "\n";
      }
    }
    if (stop_->asked() && row.state == store::BuildState::kFailed) return false;
    STAB_CHECK_OK(store_->update_build(row));
    if (row.state == store::BuildState::kFailed) {
      STAB_CHECK_OK(reject("build '" + build.name + "' failed:\n" + row.log));
      return false;
    }
  }
  return true;
}

Status ExperimentRun::tune() {
  std::vector<KnobWrite> writes;
  std::map<std::string, std::string> facts = host_facts(engine_->options().roots);
  facts["boot_id"] = boot_id_;
  facts["placement"] = lab_.placement.why;
  // Before anything is turned: we may be in another cgroup afterwards.
  const Result<Isolation> isolation = isolation_of(engine_->options().roots, lab_.placement);
  for (const auto& [knob, word] : expanded_->plan.machine.knobs) {
    const auto wanted = writes_of(knob, word, engine_->options().roots, lab_.placement);
    if (!wanted && wanted.error().code == ErrorCode::kBadInput) return wanted.error();
    if (!wanted) {
      refused_knobs_[knob] = wanted.error().message;
      continue;
    }
    facts["knob." + knob] = word;
    writes.insert(writes.end(), wanted->begin(), wanted->end());
  }
  if (!writes.empty()) {
    auto tuning = Tuning::begin(engine_->options().roots, engine_->options().knob_journal, boot_id_);
    if (!tuning && tuning.error().code == ErrorCode::kBusy) return tuning.error();
    if (!tuning) {
      for (const KnobWrite& write : writes) refused_knobs_[write.knob] = tuning.error().message;
    } else {
      tuning_ = std::make_unique<Tuning>(std::move(*tuning));
      STAB_TRY(const std::vector<KnobOutcome> outcomes, tuning_->apply(writes));
      for (const KnobOutcome& outcome : outcomes) {
        if (outcome.refused.empty() || outcome.write.may_refuse) continue;
        refused_knobs_[outcome.write.knob] = outcome.write.path + ": " + outcome.refused;
      }
    }
  }
  if (isolation && facts.count("knob.cpuset") && !refused_knobs_.count("cpuset")) STAB_CHECK_OK(enter(*isolation));
  for (const auto& [knob, why] : refused_knobs_) {
    facts["knob." + knob] = "not set: " + why;
    observer_->note("knob " + knob + " is not set: " + why);
  }
  return store_->put_host_facts(row_.id, facts);
}

Status ExperimentRun::enter(const Isolation& isolation) {
  if (isolation.parent_of_trials.empty()) {
    lab_.isolated_procs = isolation.procs_file;
    return {};
  }
  STAB_TRY(ProcessTree tree, ProcessTree::create(engine_->options().roots, TreeKind::kCgroup2, isolation.parent_of_trials));
  if (tree.kind() != TreeKind::kCgroup2) {
    refused_knobs_["cpuset"] = "no group can be made below '" + isolation.parent_of_trials + "'";
    return {};
  }
  tree_ = std::make_unique<ProcessTree>(std::move(tree));
  lab_.tree = tree_.get();
  return {};
}

Result<bool> ExperimentRun::wait_for_gates() {
  const plan::Gates& gates = expanded_->plan.machine.gates;
  if (!has_gates(gates)) return true;
  const auto& options = engine_->options();
  const auto start = options.clock->monotonic_raw();
  std::string told;
  for (;;) {
    const std::string why = closed_gate(gates, look_at_gates(options.roots, options.clock->realtime()));
    if (why.empty()) return true;
    if (told.empty()) observer_->note("waiting: " + why);
    told = why;
    if (gates.deadline.count() > 0 && options.clock->monotonic_raw() - start > gates.deadline) {
      const std::string text = "gave up waiting: " + why;
      observer_->note(text);
      STAB_CHECK_OK(log("gate", text));
      return false;
    }
    const auto left = start + gates.deadline - options.clock->monotonic_raw();
    const auto look_again = std::clamp(std::chrono::duration_cast<milliseconds>(left) + milliseconds(1), milliseconds(1), kLookAgain);
    const GateOpen open(engine_->gate());
    pollfd stop{stop_->now_fd(), POLLIN, 0};
    ::poll(&stop, 1, static_cast<int>(look_again.count()));
    if (stop_->asked()) return false;
  }
}

Status ExperimentRun::check_requirements() {
  for (const std::string& need : expanded_->plan.machine.require) {
    if (need == "affinity" && lab_.placement.trial_cpu >= 0) continue;
    if (need == "counters") {
      for (const auto& pass : setup_->passes())
        for (const counters::EventSpec& spec : pass)
          if (!spec.available)
            return Error{ErrorCode::kUnavailable, "the plan requires counters; " + spec.name + ": " + spec.reason, {}};
      continue;
    }
    const std::string knob = need == "isolation" ? "cpuset" : need;
    const bool asked_for = expanded_->plan.machine.knobs.count(knob) > 0;
    if (asked_for && refused_knobs_.count(knob) == 0) continue;
    if (asked_for)
      return Error{ErrorCode::kUnavailable, "the plan requires knob " + knob + ": " + refused_knobs_[knob], {}};
    return Error{ErrorCode::kUnavailable,
                 "the plan requires '" + need + "', which this machine does not give; see 'stabctl doctor'", {}};
  }
  return {};
}

Status ExperimentRun::remember_outputs() {
  for (const store::TrialKind kind : {store::TrialKind::kPreflight, store::TrialKind::kMain}) {
    if (first_stdout_.size() == expanded_->subjects.size()) break;
    store::Store::TrialFilter filter;
    filter.kind = kind;
    filter.state = store::TrialState::kRecorded;
    STAB_TRY(const std::vector<store::TrialRow> trials, store_->trials(row_.id, filter));
    for (const store::TrialRow& trial : trials) {
      if (first_stdout_.count(trial.subject)) continue;
      STAB_TRY(const store::Outcome outcome, store_->outcome(trial.id));
      first_stdout_[trial.subject] = outcome.stdout_sha256;
    }
  }
  return {};
}

store::Claim ExperimentRun::claim() const { return {boot_id_, now_ns()}; }

Result<store::Outcome> ExperimentRun::run_one(const store::TrialRow& trial) {
  const auto failed = [&](const std::string& why) {
    store::Outcome outcome;
    outcome.trial = trial.id;
    outcome.state = store::TrialState::kFailed;
    outcome.failure = why;
    outcome.finished_at_ns = now_ns();
    return outcome;
  };
  if (const Status same = setup_->check_binary(trial); !same) return failed(same.error().message);
  STAB_CHECK_OK(warm_up(trial));
  STAB_TRY(const std::string unprepared, prepare_directory(trial));
  if (!unprepared.empty()) return failed(unprepared);
  const Result<TrialRequest> ready = setup_->request(trial);
  if (!ready) return failed(ready.error().message);
  TrialRequest request = *ready;
  if (const auto first = first_stdout_.find(trial.subject); first != first_stdout_.end())
    request.first_stdout_sha256 = first->second;

  STAB_TRY(store::Outcome outcome, this->trial(request));
  outcome.trial = trial.id;
  STAB_CHECK_OK(clean_up(trial));
  for (const plan::ExclusionRule& rule : expanded_->plan.exclusions) {
    const auto value = outcome.ledger.find(rule.key);
    if (value != outcome.ledger.end() && plan::excludes(rule, value->second)) outcome.excluded_by.push_back(rule.text);
  }
  if (outcome.state == store::TrialState::kRecorded) first_stdout_.emplace(trial.subject, outcome.stdout_sha256);
  return outcome;
}

Result<std::string> ExperimentRun::prepare_directory(const store::TrialRow& trial) {
  const auto& user = place_.submitter;
  STAB_TRY(const std::string directory,
           scratch_->fresh(user ? user->uid : unsigned(-1), user ? user->gid : unsigned(-1)));
  if (const Status filled = setup_->fill_directory(trial, directory); !filled) return filled.error().message;
  const auto before = setup_->around(trial, true);
  if (!before) return std::string();
  STAB_TRY(const CommandOutput output, command(*before));
  return output.ok ? std::string() : "prepare failed: " + output.failure + "\n" + output.log;
}

Status ExperimentRun::clean_up(const store::TrialRow& trial) {
  const auto after = setup_->around(trial, false);
  if (!after) return {};
  STAB_TRY(const CommandOutput output, command(*after));
  if (!output.ok) observer_->note("cleanup failed: " + output.failure);
  return {};
}

Result<CommandOutput> ExperimentRun::command(const LaunchRequest& request) {
  const GateOpen open(engine_->gate());
  return run_command(lab_, request, kAroundTimeout);
}

Result<store::Outcome> ExperimentRun::trial(const TrialRequest& request) {
  const int64_t submits = engine_->submits();
  const GateOpen open(engine_->gate());
  Result<store::Outcome> outcome = run_trial(lab_, request);
  if (outcome) outcome->ledger["submits"] = static_cast<double>(engine_->submits() - submits);
  return outcome;
}

// Discarded runs that bring files into the page cache; not stored, because nothing follows from them.
Status ExperimentRun::warm_up(const store::TrialRow& trial) {
  if (std::exchange(warm_[trial.subject], true)) return {};
  for (int i = 0; i < expanded_->workload_of(trial.subject).warmup && !stop_->asked(); ++i) {
    STAB_TRY(const std::string unprepared, prepare_directory(trial));
    const Result<TrialRequest> request = setup_->request(trial);
    if (!unprepared.empty() || !request) return {};  // the trial itself will say so
    STAB_TRY(const store::Outcome outcome, this->trial(*request));
    (void)outcome;
    STAB_CHECK_OK(clean_up(trial));
  }
  return {};
}

void ExperimentRun::tell(const store::TrialRow& trial, const store::Outcome& outcome) {
  TrialNews news;
  news.kind = trial.kind;
  news.state = outcome.state;
  news.subject = expanded_->subjects[static_cast<size_t>(trial.subject)].name;
  news.cell = expanded_->design.cells[static_cast<size_t>(trial.cell)].name;
  news.wall_ns = outcome.wall_ns;
  news.failure = outcome.failure;
  news.done = done_;
  news.planned = planned_;
  observer_->trial_done(news);
}

Result<bool> ExperimentRun::run_preflight() {
  bool announced = false;
  while (!stop_->asked()) {
    STAB_TRY(const std::optional<store::TrialRow> trial, store_->next_trial(row_.id, store::TrialKind::kPreflight));
    if (!trial) return true;
    if (!std::exchange(announced, true)) observer_->phase("preflight: one trial of each cell");
    STAB_CHECK_OK(store_->claim(trial->id, claim()));
    STAB_TRY(const store::Outcome outcome, run_one(*trial));
    const bool lost = outcome.state == store::TrialState::kLost;
    STAB_TRY(const store::Replacement replacement, store_->finish(outcome, lost ? kMaxAttemptsWhenLost : 1));
    (void)replacement;
    tell(*trial, outcome);
    if (lost || outcome.state == store::TrialState::kRecorded) continue;
    STAB_CHECK_OK(reject("preflight of " + expanded_->subjects[static_cast<size_t>(trial->subject)].name + ", " +
                         expanded_->design.cells[static_cast<size_t>(trial->cell)].name + ": " + outcome.failure +
                         (outcome.stderr_head.empty() ? "" : "\n" + outcome.stderr_head)));
    return false;
  }
  return false;
}

Status ExperimentRun::count_places() {
  STAB_TRY(const store::Progress progress, store_->progress(row_.id));
  planned_ = progress.planned_total - not_needed(progress);
  const auto waiting = progress.by_state.find(store::TrialState::kPlanned);
  done_ = planned_ - (waiting == progress.by_state.end() ? 0 : waiting->second);
  return {};
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

// Stores what became of a trial and claims the next one, in one commit where nothing went wrong.
Result<std::optional<store::TrialRow>> ExperimentRun::store_and_claim(const store::TrialRow& trial,
                                                                      const store::Outcome& outcome) {
  const bool gated = has_gates(expanded_->plan.machine.gates);
  if (outcome.state == store::TrialState::kRecorded && !gated && !stop_->asked()) {
    ++done_;
    STAB_TRY(const std::optional<store::TrialRow> next, store_->next_trial(row_.id));
    std::optional<int> point;
    if (next) {
      STAB_TRY(point, due_stopping_point(*store_, row_, expanded_->plan, *next));
    }
    const auto stored = next && !point ? store_->finish_and_claim(outcome, kMaxAttempts, next->id, claim())
                                       : store_->finish(outcome, kMaxAttempts);
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

Result<bool> ExperimentRun::run_trials() {
  STAB_CHECK_OK(count_places());
  observer_->phase("running");
  STAB_TRY(std::optional<store::TrialRow> trial, claim_next());
  while (trial) {
    const store::TrialRow current = *trial;
    STAB_TRY(const store::Outcome outcome, run_one(current));
    STAB_TRY(trial, store_and_claim(current, outcome));
    tell(current, outcome);
  }
  STAB_TRY(const std::optional<store::TrialRow> left, store_->next_trial(row_.id));
  return !left.has_value();
}

}  // namespace stab::engine
