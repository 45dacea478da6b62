#include "stabd/host/turned_knobs.h"

#include "stabd/broker/wire/client.h"

namespace stab::host {

TurnedKnobs::~TurnedKnobs() {
  if (asked_) (void)broker_->ask(broker::RestoreKnobs{});
}

Result<std::string> TurnedKnobs::turn(const std::string& knob, const std::string& word, const Placement& placement) {
  if (broker_ != nullptr) {
    broker::TurnKnob request;
    if (knob.size() >= sizeof request.knob || word.size() >= sizeof request.word || !broker::is_simple_name(knob) ||
        !broker::is_simple_name(word))
      return bad_input("knob " + knob + " = '" + word + "': expected letters, digits and '._-'");
    broker::set_text(request.knob, sizeof request.knob, knob);
    broker::set_text(request.word, sizeof request.word, word);
    request.trial_cpu = placement.trial_cpu;
    request.housekeeping_cpu = placement.housekeeping_cpu;
    asked_ = true;
    STAB_TRY(const broker::Reply reply, broker_->ask(request));
    return std::string(reply.answer.text);
  }
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
