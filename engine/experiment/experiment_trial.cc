// One trial of an experiment: its directory and what the plan wants run around it, the run itself with the engine's gate
// open, and the verdict of the plan's exclusion rules. Nothing is stored here; trial_run.cc runs the process.
#include "engine/experiment/experiment_run.h"

#include <utility>

#include "engine/trial/expectation.h"
#include "engine/experiment/gate_open.h"
#include "engine/results/load_samples.h"

namespace stab::engine {
namespace {

// Kinds of log lines.
constexpr char kWorker[] = "worker";
constexpr char kScratchGone[] = "scratch-gone";

// What prepare and cleanup may take: they set up a trial, they are none.
constexpr std::chrono::minutes kAroundTimeout{10};

}  // namespace

Result<store::Outcome> ExperimentRun::run_one(const store::TrialRow& trial) {
  STAB_CHECK_OK(store_->check_in_place());
  Result<store::Outcome> outcome = run_prepared(trial);
  if (outcome) outcome->machine_ns = (engine_->options().clock->monotonic_raw() - claimed_).count();
  // Whatever it came to is the broker's end. The next start repeats it, once; going on would lose one after the other.
  if (engine_->lost_broker())
    return Error{ErrorCode::kUnavailable, "the broker has ended: what ran is lost, and repeated after the next start", {}};
  STAB_CHECK_OK(say_what_befell_the_worker());
  if (!outcome || outcome->state != store::TrialState::kFailed) return outcome;
  const bool has_run = outcome->wall_ns.has_value();
  if (!scratch_->is_there() || (!has_run && !scratch_->has_trial())) {
    outcome->state = step(outcome->state, store::TrialEvent::kCutOff).state;
    outcome->failure = "the trial's directory was removed meanwhile, by whatever cleans /tmp: " + outcome->failure;
    STAB_CHECK_OK(log(kScratchGone, outcome->failure));
  }
  return outcome;
}

Status ExperimentRun::say_what_befell_the_worker() {
  for (const std::string& event : worker_->take_events()) {
    observer_->note(event);
    STAB_CHECK_OK(log(kWorker, event));
  }
  return {};
}

Result<store::Outcome> ExperimentRun::run_prepared(const store::TrialRow& trial) {
  if (!ready_ || ready_->first != trial.id) {
    STAB_CHECK_OK(warm_up(trial));
    STAB_TRY(const WhyNot why_not, make_ready_with_open_gate(trial));
    if (!why_not.words.empty()) {
      store::Outcome outcome;
      outcome.trial = trial.id;
      outcome.state =
          step(store::TrialState::kClaimed, why_not.lost ? store::TrialEvent::kCutOff : store::TrialEvent::kLaunchFailed).state;
      outcome.failure = why_not.words;
      outcome.finished_at_ns = now_ns();
      return outcome;
    }
  }
  STAB_TRY(store::Outcome outcome, run_ready());
  outcome.trial = trial.id;
  STAB_CHECK_OK(clean_up(trial));
  for (const plan::ExclusionRule& rule : expanded_->plan.exclusions) {
    const auto value = outcome.ledger.find(rule.key);
    if (value == outcome.ledger.end()) {
      if (outcome.state == store::TrialState::kVerified) STAB_CHECK_OK(say_that_it_is_idle(rule));
    } else if (plan::excludes(rule, value->second)) {
      outcome.excluded_by.push_back(rule.text);
    }
  }
  if (outcome.state == store::TrialState::kVerified) first_stdout_.emplace(trial.subject, outcome.stdout_sha256);
  return outcome;
}

// Once for each rule and run; the report repeats it.
Status ExperimentRun::say_that_it_is_idle(const plan::ExclusionRule& rule) {
  if (!idle_rules_.insert(rule.text).second) return {};
  const std::string text = "exclusion rule '" + rule.text + "' judges nothing where the ledger has no " + rule.key + ", as here";
  observer_->note(text);
  return log(kIdleRule, text);
}

ExperimentRun::WhyNot ExperimentRun::why_not(const Error& error) { return {error.message, says_nothing(error)}; }

Result<ExperimentRun::WhyNot> ExperimentRun::make_ready_with_open_gate(const store::TrialRow& trial, Beside beside) {
  const GateOpen open(engine_->gate());
  return make_ready(trial, beside);
}

Result<ExperimentRun::WhyNot> ExperimentRun::make_ready(const store::TrialRow& trial, Beside beside) {
  ready_.reset();
  STAB_TRY(WhyNot unprepared, prepare_directory(trial));
  if (!unprepared.words.empty()) return unprepared;
  Result<TrialRequest> request = setup_->request(trial);
  if (!request) return why_not(request.error());
  if (const auto first = first_stdout_.find(trial.subject); first != first_stdout_.end())
    request->first_stdout_sha256 = first->second;
  request->for_comparison = beside != Beside::kNo;
  if (beside == Beside::kNeutral) {
    request->layout.code = abi::CodeMode::kOff;
    request->layout.stack = abi::StackMode::kOff;
    request->layout.heap = abi::HeapMode::kOff;
  }
  ready_.emplace(trial.id, ReadyTrial(lab_, *std::move(request)));
  return WhyNot();
}

bool ExperimentRun::is_quick_to_make_ready(const store::TrialRow& trial) const {
  const plan::Program& program = expanded_->program_of(trial.subject);
  return warm_.count(trial.subject) && program.prepare.empty() && program.inputs.empty() &&
         expanded_->workload_of(trial.subject).inputs.empty();
}

Result<ExperimentRun::WhyNot> ExperimentRun::prepare_directory(const store::TrialRow& trial) {
  lab_.tree->begin_trial();
  const auto& user = place_.submitter;
  const Result<std::string> directory = scratch_->fresh(user ? user->uid : unsigned(-1), user ? user->gid : unsigned(-1));
  if (!directory) return why_not(directory.error());
  if (const Status filled = setup_->fill_directory(trial, *directory); !filled) return why_not(filled.error());
  const auto before = setup_->around(trial, true);
  if (!before) return WhyNot();
  STAB_TRY(const CommandOutput output, command(*before));
  return output.ok ? WhyNot() : WhyNot{"prepare failed: " + output.failure + "\n" + output.log};
}

Status ExperimentRun::clean_up(const store::TrialRow& trial) {
  const GateOpen open(engine_->gate());
  const auto after = setup_->around(trial, false);
  if (!after) return {};
  STAB_TRY(const CommandOutput output, command(*after));
  if (!output.ok) observer_->note("cleanup failed: " + output.failure);
  return {};
}

// Discarded runs that bring files into the page cache; not stored, because nothing follows from them.
Status ExperimentRun::warm_up(const store::TrialRow& trial) {
  if (std::exchange(warm_[trial.subject], true)) return {};
  for (int i = 0; i < expanded_->workload_of(trial.subject).warmup && !stop_->asked(); ++i) {
    STAB_TRY(const WhyNot why_not, make_ready_with_open_gate(trial));
    if (!why_not.words.empty()) return {};  // the trial itself will say so
    STAB_TRY(const store::Outcome outcome, run_ready());
    (void)outcome;
    STAB_CHECK_OK(clean_up(trial));
  }
  return {};
}

Result<CommandOutput> ExperimentRun::command(const LaunchRequest& request) {
  return run_command(lab_, request, kAroundTimeout);
}

Result<store::Outcome> ExperimentRun::run_ready() {
  ReadyTrial trial = std::move(ready_->second);
  ready_.reset();
  const int64_t submits = engine_->submits(), web_requests = engine_->web_requests();
  const GateOpen open(engine_->gate());
  Result<store::Outcome> outcome = trial.run();
  if (outcome) outcome->ledger["submits"] = static_cast<double>(engine_->submits() - submits);
  if (outcome) outcome->ledger["web_requests"] = static_cast<double>(engine_->web_requests() - web_requests);
  return outcome;
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

}  // namespace stab::engine
