// `stabctl selftest --nightly`: what A/A controls of several sessions say together.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/answers/command_output.h"
#include "analysis/commands/gate/gate_sessions.h"

namespace stab::commands {

struct NightlyFacts {
  std::string day, machine, logbook;
  std::vector<SessionFinding> today;     // of this control
  std::vector<SessionFinding> controls;  // all that the logbook has, today's among them
  bool json = false;
};

// For each question of today's control: what it has found, how far equal programs differ between sessions, and how much wider an
// interval of as many blocks becomes in a gate. Exit code 0 whatever has been found; 2: the logbook's numbers are none, and why.
CommandOutput run_nightly(const NightlyFacts& facts);

}  // namespace stab::commands
