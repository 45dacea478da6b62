#include "stabd/host/turned_knobs.h"

namespace stab::host {

Result<std::string> TurnedKnobs::turn(const std::string& knob, const std::string& word, const Placement& placement) {
  const auto writes = writes_of(knob, word, roots_, placement);
  if (!writes && writes.error().code == ErrorCode::kUnavailable) return writes.error().message;
  if (!writes) return writes.error();
  if (writes->empty()) return std::string();
  if (!tuning_) {
    Result<Tuning> begun = Tuning::begin(roots_, journal_, boot_id_);
    if (!begun && begun.error().code == ErrorCode::kBusy) return begun.error();
    if (!begun) return begun.error().message;
    tuning_.emplace(*std::move(begun));
  }
  STAB_TRY(const std::vector<KnobOutcome> outcomes, tuning_->apply(*writes));
  std::string why;
  for (const KnobOutcome& outcome : outcomes)
    if (!outcome.refused.empty() && !outcome.write.may_refuse) why = outcome.write.path + ": " + outcome.refused;
  return why;
}

}  // namespace stab::host
