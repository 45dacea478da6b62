// TurnedKnobs: an experiment's knobs, turned while it lives.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/host/knobs.h"
#include "stabd/host/roots.h"
#include "stabd/host/placement.h"
#include "stabd/host/tuning.h"

namespace stab::host {

class TurnedKnobs {
 public:
  TurnedKnobs(Roots roots, std::string journal, std::string boot_id)
      : roots_(std::move(roots)), journal_(std::move(journal)), boot_id_(std::move(boot_id)) {}
  TurnedKnobs(const TurnedKnobs&) = delete;
  TurnedKnobs& operator=(const TurnedKnobs&) = delete;
  // Its end turns back; what it can't is told by whoever asks Tuning::restore_ours().

  // Why it is not as wanted; empty: it is. kBadInput: the knob has no such word. kBusy: another tuner lives. Other Errors:
  // nothing may be turned here.
  Result<std::string> turn(const std::string& knob, const std::string& word, const Placement& placement);

 private:
  Roots roots_;
  std::string journal_, boot_id_;
  std::optional<Tuning> tuning_;
};

}  // namespace stab::host
