#include "stabd/engine/separation/knobs_at_broker.h"

#include "stabd/broker/wire/client.h"

namespace stab::engine {

KnobsAtBroker::~KnobsAtBroker() {
  if (asked_) (void)broker_->ask(broker::RestoreKnobs{});
}

Result<std::string> KnobsAtBroker::turn(const std::string& knob, const std::string& word, const host::Placement& placement) {
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

}  // namespace stab::engine
