// A trial with another output than expected: is it the layout? Once for each workload and cell in which that happens, the
// trial is run again with its seed, and with code, stack and heap off. Neither is stored: nothing is measured by them, and
// what they say stands in the trial's failure and in the log.
#include "stabd/engine/experiment/output_inquiry.h"

#include "stabd/engine/trial/layout_output.h"

namespace stab::engine {

Status OutputInquiry::explain(const store::TrialRow& trial, store::Outcome& outcome) {
  const plan::Layout& layout = experiment_->cell_of(trial).layout;
  const bool moves =
      layout.code != abi::CodeMode::kOff || layout.stack != abi::StackMode::kOff || layout.heap != abi::HeapMode::kOff;
  const bool ended = outcome.state == store::TrialState::kFailed && (outcome.exit_status || outcome.signal);
  if (!moves || !ended || experiment_->stop().asked()) return {};
  if (!explained_.emplace(trial.subject, trial.cell).second) return {};
  STAB_TRY(const std::optional<store::Outcome> repeated, runner_->run_beside(trial, TrialRunner::Beside::kRepeated));
  if (!repeated || is_right_output(outcome, *repeated)) return {};
  STAB_TRY(const std::optional<store::Outcome> neutral, runner_->run_beside(trial, TrialRunner::Beside::kNeutral));
  if (!neutral) return {};
  const OutputCause cause = cause_of_output(outcome, *repeated, *neutral);
  const std::string words = words_of_output(cause, outcome, *neutral, trial.seed);
  outcome.failure += "; " + words;
  if (cause != OutputCause::kLayout) return {};
  return experiment_->note_and_log(kLayoutOutput,
                                   experiment_->name_of(trial) + ": " + words + " (trial " + std::to_string(trial.id) + ")");
}

}  // namespace stab::engine
