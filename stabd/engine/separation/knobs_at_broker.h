// KnobsAtBroker: an experiment's knobs, turned by the broker while this lives. It computes itself what a word means.
#pragma once

#include <string>

#include "base/result.h"
#include "stabd/host/placement.h"

namespace stab::broker {
class Client;
}

namespace stab::engine {

class KnobsAtBroker {
 public:
  explicit KnobsAtBroker(broker::Client& broker) : broker_(&broker) {}
  KnobsAtBroker(const KnobsAtBroker&) = delete;
  KnobsAtBroker& operator=(const KnobsAtBroker&) = delete;
  ~KnobsAtBroker();  // turns back; what it can't is told by whoever asks the broker

  // Why it is not as wanted; empty: it is. kBadInput: the knob has no such word. kBusy: another tuner lives. Other Errors:
  // nothing may be turned here.
  Result<std::string> turn(const std::string& knob, const std::string& word, const host::Placement& placement);

 private:
  broker::Client* broker_;
  bool asked_ = false;  // for something
};

}  // namespace stab::engine
