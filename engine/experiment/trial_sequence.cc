// The main phase of an experiment. Each trial is claimed before it starts; its outcome and the next claim are one commit, so
// that a crash at any moment leaves at most one claimed trial. Between two trials the plan's stopping rule may end the sequence.
#include "engine/experiment/trial_sequence.h"

#include "engine/experiment/planning.h"
#include "engine/experiment/stopping_point.h"
#include "engine/machine/gates.h"
#include "plan/stopping.h"

namespace stab::engine {

int64_t not_needed(const store::Progress& progress) {
  return progress.count(store::TrialState::kCancelled);
}

Result<bool> TrialSequence::to_its_end() {
  STAB_CHECK_OK(count_places());
  experiment_->observer().phase("running");
  runner_->work_ahead();
  STAB_TRY(std::optional<store::TrialRow> trial, claim_next());
  do {
    while (trial) {
      const store::TrialRow current = *trial;
      STAB_TRY(store::Outcome outcome, runner_->run(current));
      STAB_CHECK_OK(inquiry_->explain(current, outcome));
      STAB_TRY(trial, store_and_claim(current, outcome));
      experiment_->tell(current, outcome, done_, planned_);
    }
    if (gave_up_ || experiment_->stop().asked()) break;
    // The experiment may have been extended meanwhile.
    STAB_CHECK_OK(plan_ahead(experiment_->engine(), experiment_->id(), experiment_->expanded(), experiment_->stop()));
    STAB_CHECK_OK(count_places());
    STAB_TRY(trial, claim_next());
  } while (trial);
  STAB_TRY(const std::optional<store::TrialRow> left, experiment_->store().next_trial(experiment_->id()));
  if (left) return false;
  // Whoever was asked to stop in the last trial that was planned has not looked whether there are more.
  return is_planned(experiment_->store(), experiment_->id(), experiment_->expanded());
}

// A gate is for a trial: where none is left, nothing waits.
Result<std::optional<store::TrialRow>> TrialSequence::claim_next() {
  if (gave_up_ || experiment_->stop().asked()) return std::optional<store::TrialRow>();
  STAB_TRY(std::optional<store::TrialRow> trial, experiment_->store().next_trial(experiment_->id()));
  if (!trial) return trial;
  STAB_TRY(const bool open, machine_->wait_for_gates());
  gave_up_ = !open && !experiment_->stop().asked();
  if (!open) return std::optional<store::TrialRow>();
  // Others had the store while it waited.
  STAB_TRY(trial, experiment_->store().next_trial(experiment_->id()));
  if (!trial) return trial;
  STAB_TRY(const bool fewer, decide_before(*trial));
  if (fewer) {
    STAB_TRY(trial, experiment_->store().next_trial(experiment_->id()));
  }
  if (trial) STAB_CHECK_OK(experiment_->store().claim(trial->id, runner_->claim()));
  return trial;
}

Result<bool> TrialSequence::decide_before(const store::TrialRow& next) {
  const plan::Plan& plan = experiment_->plan();
  STAB_TRY(const std::optional<int> point, due_stopping_point(experiment_->store(), experiment_->row(), plan, next));
  if (!point) return false;
  STAB_TRY(const StoppingDecision decision, decide_at(experiment_->store(), experiment_->row(), plan, *point));
  if (!decision.text.empty()) STAB_CHECK_OK(experiment_->log("look", decision.text));
  if (decision.replicates >= plan::verdict_points(plan).back()) return false;
  STAB_TRY(const int64_t dropped,
           experiment_->store().cancel_planned(experiment_->id(), static_cast<uint32_t>(decision.replicates)));
  experiment_->note("the plan's stopping rule: " + std::to_string(decision.replicates) + " replicates are enough, " +
                    std::to_string(dropped) + " planned trials are not needed");
  STAB_CHECK_OK(count_places());
  return true;
}

// Stores what became of a trial and claims the next one, in one commit where nothing went wrong. The next one's launcher
// is started and sets itself up meanwhile, and gets its go only once the claim is on disk. What keeps it from getting
// ready now is said when it should run.
Result<std::optional<store::TrialRow>> TrialSequence::store_and_claim(const store::TrialRow& trial,
                                                                      const store::Outcome& outcome) {
  store::Store& store = experiment_->store();
  const bool gated = has_gates(experiment_->plan().machine.gates);
  if (outcome.state == store::TrialState::kVerified && !gated && !experiment_->stop().asked()) {
    ++done_;
    STAB_TRY(const std::optional<store::TrialRow> next, store.next_trial(experiment_->id()));
    std::optional<int> point;
    if (next) {
      STAB_TRY(point, due_stopping_point(store, experiment_->row(), experiment_->plan(), *next));
      if (!point) runner_->begin_ahead(*next);
    }
    const auto stored = next && !point ? store.finish_and_claim(outcome, kMaxAttempts, next->id, runner_->claim())
                                       : store.finish(outcome, kMaxAttempts);
    runner_->wait_for_ahead();
    if (!stored) return stored.error();
    if (point) return claim_next();
    return next;
  }
  const bool lost = outcome.state == store::TrialState::kLost;
  STAB_TRY(const store::Replacement replacement, store.finish(outcome, lost ? kMaxAttemptsWhenLost : kMaxAttempts));
  STAB_CHECK_OK(count_places());
  if (replacement.quarantined)
    STAB_CHECK_OK(experiment_->note_and_log("quarantined", experiment_->name_of(trial) + ": quarantined after " +
                                                               std::to_string(kMaxAttempts) + " attempts: " + outcome.failure));
  return claim_next();
}

Status TrialSequence::count_places() {
  STAB_TRY(const store::Progress progress, experiment_->store().progress(experiment_->id()));
  planned_ = progress.planned_total - not_needed(progress);
  done_ = planned_ - progress.count(store::TrialState::kPlanned);
  return {};
}

}  // namespace stab::engine
