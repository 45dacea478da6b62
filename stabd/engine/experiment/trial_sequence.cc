// The main phase of an experiment. What runs at once is claimed before it starts; its outcomes and the next claims are one
// commit, so that a crash at any moment leaves at most one trial claimed, or one sliced block. Between two trials the plan's
// stopping rule may end the sequence.
#include "stabd/engine/experiment/trial_sequence.h"

#include <algorithm>

#include "plan/slicing.h"
#include "plan/stopping.h"
#include "stabd/engine/experiment/planning.h"
#include "stabd/engine/experiment/stopping_point.h"
#include "stabd/engine/machine/gates.h"

namespace stab::engine {

int64_t not_needed(const store::Progress& progress) {
  return progress.count(store::TrialState::kCancelled);
}

namespace {

std::vector<store::Id> ids_of(const std::vector<store::TrialRow>& trials) {
  std::vector<store::Id> ids;
  for (const store::TrialRow& trial : trials) ids.push_back(trial.id);
  return ids;
}

}  // namespace

Result<bool> TrialSequence::to_its_end() {
  STAB_CHECK_OK(count_places());
  experiment_->observer().phase("running");
  runner_->work_ahead();
  STAB_TRY(AtOnce trials, claim_next());
  do {
    while (!trials.empty()) {
      const AtOnce current = std::move(trials);
      STAB_TRY(std::vector<store::Outcome> outcomes, runner_->run(current));
      for (size_t i = 0; i < current.size(); ++i) STAB_CHECK_OK(inquiry_->explain(current[i], outcomes[i]));
      const int64_t before = done_;
      STAB_TRY(trials, store_and_claim(current, outcomes));
      for (size_t i = 0; i < current.size(); ++i)
        experiment_->tell(current[i], outcomes[i], std::min(before + static_cast<int64_t>(i) + 1, done_), planned_);
    }
    if (gave_up_ || experiment_->stop().asked()) break;
    // The experiment may have been extended meanwhile.
    STAB_CHECK_OK(plan_ahead(experiment_->engine(), experiment_->id(), experiment_->expanded(), experiment_->stop()));
    STAB_CHECK_OK(count_places());
    STAB_TRY(trials, claim_next());
  } while (!trials.empty());
  // Whoever was asked to stop in the last trial that was planned has not looked whether there are more.
  return is_over(experiment_->store(), experiment_->id(), experiment_->expanded());
}

// A gate is for a trial: where none is left, nothing waits.
Result<TrialSequence::AtOnce> TrialSequence::claim_next() {
  if (gave_up_ || experiment_->stop().asked()) return AtOnce();
  STAB_TRY(std::optional<store::TrialRow> trial, experiment_->store().next_trial(experiment_->id()));
  if (!trial) return AtOnce();
  STAB_TRY(const bool open, machine_->wait_for_gates());
  gave_up_ = !open && !experiment_->stop().asked();
  if (!open) return AtOnce();
  // Others had the store while it waited.
  STAB_TRY(trial, experiment_->store().next_trial(experiment_->id()));
  if (!trial) return AtOnce();
  STAB_TRY(const bool fewer, decide_before(*trial));
  if (fewer) {
    STAB_TRY(trial, experiment_->store().next_trial(experiment_->id()));
  }
  if (!trial) return AtOnce();
  STAB_TRY(const AtOnce trials, company_of(*trial));
  STAB_CHECK_OK(experiment_->store().claim(ids_of(trials), runner_->claim()));
  return trials;
}

Result<TrialSequence::AtOnce> TrialSequence::company_of(const store::TrialRow& next) {
  if (plan::runs_alone(experiment_->plan(), next.block)) return AtOnce{next};
  return experiment_->store().planned_beside(next);
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

// Stores what became of what ran and claims what runs next, in one commit where nothing went wrong. The launchers of that are
// started and set themselves up meanwhile, and get their go only once the claim is on disk. What keeps them from getting ready
// now is said when they should run.
Result<TrialSequence::AtOnce> TrialSequence::store_and_claim(const AtOnce& trials, const std::vector<store::Outcome>& outcomes) {
  store::Store& store = experiment_->store();
  const store::Store::Attempts attempts{kMaxAttempts, kMaxAttemptsWhenLost};
  const bool gated = has_gates(experiment_->plan().machine.gates);
  const bool passed = std::all_of(outcomes.begin(), outcomes.end(),
                                  [](const auto& outcome) { return outcome.state == store::TrialState::kVerified; });
  if (passed && !gated && !experiment_->stop().asked()) {
    done_ += static_cast<int64_t>(trials.size());
    STAB_TRY(const std::optional<store::TrialRow> next, store.next_trial(experiment_->id()));
    std::optional<int> point;
    AtOnce following;
    if (next) {
      STAB_TRY(point, due_stopping_point(store, experiment_->row(), experiment_->plan(), *next));
      if (!point) {
        STAB_TRY(following, company_of(*next));
        runner_->begin_ahead(following);
      }
    }
    const auto stored = store.finish_and_claim(outcomes, attempts, ids_of(following), runner_->claim());
    runner_->wait_for_ahead();
    if (!stored) return stored.error();
    if (point) return claim_next();
    return following;
  }
  STAB_TRY(const std::vector<store::Replacement> replacements, store.finish_and_claim(outcomes, attempts, {}, {}));
  STAB_CHECK_OK(count_places());
  for (size_t i = 0; i < trials.size(); ++i)
    if (replacements[i].quarantined)
      STAB_CHECK_OK(experiment_->note_and_log("quarantined", experiment_->name_of(trials[i]) + ": quarantined after " +
                                                                 std::to_string(kMaxAttempts) +
                                                                 " attempts: " + outcomes[i].failure));
  return claim_next();
}

Status TrialSequence::count_places() {
  STAB_TRY(const store::Progress progress, experiment_->store().progress(experiment_->id()));
  planned_ = progress.planned_total - not_needed(progress);
  done_ = planned_ - progress.count(store::TrialState::kPlanned);
  return {};
}

}  // namespace stab::engine
