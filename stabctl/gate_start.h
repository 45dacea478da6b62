// The beginning of a gate, and of its A/A control: the plan is submitted, and where its file leaves the clock open, each program
// is tried once and the clock chosen by that.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "stabctl/arguments.h"
#include "stabctl/gate_file.h"
#include "stabctl/run_command.h"

namespace stab::ctl {

struct StartedGate {
  store::Id experiment = 0;
  std::optional<engine::RunEnd> tried;  // how it ended before its preflight had
  std::string clock;                    // which time is judged, and why; empty: as the file says
};
// `base` and `head`: what to call a trial's program. Of `limit` what the start has taken is gone.
Result<StartedGate> start_gate(engine::Engine& engine, const Revisions& revisions, const GateFile& file,
                               const GateChanges& changes, const Arguments& arguments, const Clock& clock, Budget& limit,
                               engine::StopSignal& interrupts, ToldNotes& told);

}  // namespace stab::ctl
