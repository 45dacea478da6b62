// Asks whether a difference is code or place.
#pragma once

#include <chrono>

#include "analysis/commands/explain/explain.h"
#include "base/clock.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/explain/explained_sides.h"
#include "stabctl/terminal/progress.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/experiment/stop_signal.h"

namespace stab::ctl {

inline constexpr std::chrono::minutes kUsualExplainTime{10};
// Asks within `budget`, builds not counted, whether these sides differ by their code or their place. An Error where there is no
// answer; `out` has it or why there is none, either way.
Status explain_sides(engine::Engine& engine, const Arguments& arguments, const Clock& clock, engine::StopSignal& stop,
                     const ExplainedSides& sides, std::chrono::nanoseconds budget, ToldNotes& told,
                     commands::Explanation& out);

}  // namespace stab::ctl
