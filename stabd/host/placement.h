// Placement: the processors of one experiment. engine's topology chooses them; what turns the machine for them reads them.
#pragma once

#include <string>

namespace stab::host {

struct Placement {
  int trial_cpu = -1;         // -1: not pinned
  int housekeeping_cpu = -1;  // -1: not pinned
  std::string why;            // one sentence, for the ledger and doctor
};

}  // namespace stab::host
