// A trial with another output than expected: is it the layout? Once for each workload and cell in which that happens, the
// trial is run again with its seed, and with code, stack and heap off. Neither is stored: nothing is measured by them, and
// what they say stands in the trial's failure and in the log.
#include "engine/experiment/experiment_run.h"

#include "engine/trial/layout_output.h"

namespace stab::engine {

Status ExperimentRun::explain_output(const store::TrialRow& trial, store::Outcome& outcome) {
  const plan::Layout& layout = expanded_->design.cells[static_cast<size_t>(trial.cell)].layout;
  const bool moves =
      layout.code != abi::CodeMode::kOff || layout.stack != abi::StackMode::kOff || layout.heap != abi::HeapMode::kOff;
  const bool ended = outcome.state == store::TrialState::kFailed && (outcome.exit_status || outcome.signal);
  if (!moves || !ended || stop_->asked()) return {};
  if (!explained_.emplace(trial.subject, trial.cell).second) return {};
  STAB_TRY(const std::optional<store::Outcome> repeated, run_beside(trial, Beside::kRepeated));
  if (!repeated || is_right_output(outcome, *repeated)) return {};
  STAB_TRY(const std::optional<store::Outcome> neutral, run_beside(trial, Beside::kNeutral));
  if (!neutral) return {};
  const OutputCause cause = cause_of_output(outcome, *repeated, *neutral);
  const std::string words = words_of_output(cause, outcome, *neutral, trial.seed);
  outcome.failure += "; " + words;
  if (cause != OutputCause::kLayout) return {};
  const std::string text = expanded_->subjects[static_cast<size_t>(trial.subject)].name + ", " +
                           expanded_->design.cells[static_cast<size_t>(trial.cell)].name + ": " + words + " (trial " +
                           std::to_string(trial.id) + ")";
  observer_->note(text);
  return log(kLayoutOutput, text);
}

// Nothing: it could not be run, or we were stopped.
Result<std::optional<store::Outcome>> ExperimentRun::run_beside(const store::TrialRow& trial, Beside beside) {
  STAB_TRY(const WhyNot why_not, make_ready_with_open_gate(trial, beside));
  if (!why_not.words.empty()) return std::optional<store::Outcome>();
  STAB_TRY(store::Outcome outcome, run_ready());
  STAB_CHECK_OK(clean_up(trial));
  if (outcome.state == store::TrialState::kLost || outcome.state == store::TrialState::kTimeout)
    return std::optional<store::Outcome>();
  return std::optional(std::move(outcome));
}

}  // namespace stab::engine
