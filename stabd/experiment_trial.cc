// One trial of an experiment: its directory and what the plan wants run around it, the run itself with the engine's gate
// open, and the verdict of the plan's exclusion rules. Nothing is stored here; trial_run.cc runs the process.
#include "stabd/experiment_run.h"

#include <utility>

#include "stabd/gate_open.h"
#include "stabd/samples.h"

namespace stab::engine {
namespace {

// What prepare and cleanup may take: they set up a trial, they are none.
constexpr std::chrono::minutes kAroundTimeout{10};

}  // namespace

Result<store::Outcome> ExperimentRun::run_one(const store::TrialRow& trial) {
  const auto failed = [&](const std::string& why) {
    store::Outcome outcome;
    outcome.trial = trial.id;
    outcome.state = store::TrialState::kFailed;
    outcome.failure = why;
    outcome.finished_at_ns = now_ns();
    return outcome;
  };
  if (!ready_ || ready_->first != trial.id) {
    STAB_CHECK_OK(warm_up(trial));
    STAB_TRY(const std::string why_not, make_ready(trial));
    if (!why_not.empty()) return failed(why_not);
  }
  STAB_TRY(store::Outcome outcome, run_ready());
  outcome.trial = trial.id;
  STAB_CHECK_OK(clean_up(trial));
  for (const plan::ExclusionRule& rule : expanded_->plan.exclusions) {
    const auto value = outcome.ledger.find(rule.key);
    if (value == outcome.ledger.end()) {
      if (outcome.state == store::TrialState::kRecorded) STAB_CHECK_OK(say_that_it_is_idle(rule));
    } else if (plan::excludes(rule, value->second)) {
      outcome.excluded_by.push_back(rule.text);
    }
  }
  if (outcome.state == store::TrialState::kRecorded) first_stdout_.emplace(trial.subject, outcome.stdout_sha256);
  return outcome;
}

// Once for each rule and run; the report repeats it.
Status ExperimentRun::say_that_it_is_idle(const plan::ExclusionRule& rule) {
  if (!idle_rules_.insert(rule.text).second) return {};
  const std::string text = "exclusion rule '" + rule.text + "' judges nothing where the ledger has no " + rule.key + ", as here";
  observer_->note(text);
  return log(kIdleRule, text);
}

Result<std::string> ExperimentRun::make_ready(const store::TrialRow& trial) {
  ready_.reset();
  if (const Status same = setup_->check_binary(trial); !same) return same.error().message;
  STAB_TRY(std::string unprepared, prepare_directory(trial));
  if (!unprepared.empty()) return unprepared;
  Result<TrialRequest> request = setup_->request(trial);
  if (!request) return request.error().message;
  if (const auto first = first_stdout_.find(trial.subject); first != first_stdout_.end())
    request->first_stdout_sha256 = first->second;
  ready_.emplace(trial.id, ReadyTrial(lab_, *std::move(request)));
  return std::string();
}

bool ExperimentRun::is_quick_to_make_ready(const store::TrialRow& trial) const {
  const plan::Program& program = expanded_->program_of(trial.subject);
  return warm_.count(trial.subject) && program.prepare.empty() && program.inputs.empty() &&
         expanded_->workload_of(trial.subject).inputs.empty();
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

// Discarded runs that bring files into the page cache; not stored, because nothing follows from them.
Status ExperimentRun::warm_up(const store::TrialRow& trial) {
  if (std::exchange(warm_[trial.subject], true)) return {};
  for (int i = 0; i < expanded_->workload_of(trial.subject).warmup && !stop_->asked(); ++i) {
    STAB_TRY(const std::string why_not, make_ready(trial));
    if (!why_not.empty()) return {};  // the trial itself will say so
    STAB_TRY(const store::Outcome outcome, run_ready());
    (void)outcome;
    STAB_CHECK_OK(clean_up(trial));
  }
  return {};
}

Result<CommandOutput> ExperimentRun::command(const LaunchRequest& request) {
  const GateOpen open(engine_->gate());
  return run_command(lab_, request, kAroundTimeout);
}

Result<store::Outcome> ExperimentRun::run_ready() {
  ReadyTrial trial = std::move(ready_->second);
  ready_.reset();
  const int64_t submits = engine_->submits();
  const GateOpen open(engine_->gate());
  Result<store::Outcome> outcome = trial.run();
  if (outcome) outcome->ledger["submits"] = static_cast<double>(engine_->submits() - submits);
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
