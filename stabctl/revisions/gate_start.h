// The beginning of a gate, of its A/A control and of a search: the plan is submitted, and where its file leaves the clock open,
// each program is tried and the clock chosen by that.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/revisions/gate_file.h"
#include "stabctl/run/run_command.h"
#include "stabctl/sides/copy_facts.h"

namespace stab::ctl {

struct StartedGate {
  store::Id experiment = 0;
  std::optional<engine::RunEnd> tried;  // how it ended before its preflight had
  std::string clock;                    // which time is judged, and why; empty: as the file says
  bool is_sliced = false;               // of a clock that was chosen
};
// Of `limit` what the start has taken is gone. Interrupts ask `stop` when it returns.
Result<StartedGate> start_gate(engine::Engine& engine, const Revisions& revisions, const GateFile& file,
                               const GateChanges& changes, const Arguments& arguments, const Clock& clock, Budget& limit,
                               CaughtInterrupts& caught, engine::StopSignal& stop, ToldNotes& told);

// What running in copies has more to do in the one revision than in the other; nothing where nothing moves.
CountedCopies copies_of_revisions(engine::Engine& engine, const Revisions& revisions, const GateFile& file,
                                  const Arguments& arguments, const Clock& clock, Budget& limit, engine::StopSignal& stop);

}  // namespace stab::ctl
