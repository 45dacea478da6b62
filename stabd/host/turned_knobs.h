// TurnedKnobs: an experiment's knobs, turned while it lives.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/host/knobs.h"
#include "stabd/host/roots.h"
#include "stabd/host/placement.h"
#include "stabd/host/tuning.h"

namespace stab::broker {
class Client;
}

namespace stab::host {

// By this process, or by a broker, which computes what a word means itself.
class TurnedKnobs {
 public:
  TurnedKnobs(Roots roots, std::string journal, std::string boot_id, broker::Client* broker = nullptr)
      : roots_(std::move(roots)), journal_(std::move(journal)), boot_id_(std::move(boot_id)), broker_(broker) {}
  TurnedKnobs(const TurnedKnobs&) = delete;
  TurnedKnobs& operator=(const TurnedKnobs&) = delete;
  ~TurnedKnobs();  // turns back; what it can't is told by whoever asks Tuning::restore_ours() or the broker

  // Why it is not as wanted; empty: it is. kBadInput: the knob has no such word. kBusy: another tuner lives. Other Errors:
  // nothing may be turned here.
  Result<std::string> turn(const std::string& knob, const std::string& word, const Placement& placement);

 private:
  Roots roots_;
  std::string journal_, boot_id_;
  broker::Client* broker_;
  bool asked_ = false;  // the broker, for something
  std::optional<Tuning> tuning_;
};

}  // namespace stab::host
