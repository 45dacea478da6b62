// Choosing the clock of programs that an experiment builds: they can be tried only when they are built, which its preflight does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabctl/run/run_command.h"
#include "stabctl/sides/clock_choice.h"
#include "stabd/engine/experiment/engine.h"
#include "store/store.h"

namespace stab::ctl {

struct PreflightChoice {
  store::Id experiment = 0;
  // How the run ended before its preflight had; absent: the preflight is over and all of it passed, and `clock` is chosen.
  std::optional<engine::RunEnd> end;
  ClockChoice clock;
  std::vector<TriedProgram> programs;  // of each cell its busiest try
};

// Submits the experiment, sliced or not. One that was submitted before is gone afterwards, but not what was built for it.
using SubmitAs = std::function<Result<store::Id>(bool sliced)>;

// Submits it and runs it up to the end of its preflight: builds, and one trial of each cell. The experiment is stopped there, and
// a run goes on with it. Where short programs seem to wait, it is submitted and tried again, and the busiest try of each counts.
// Interrupts ask `stop` when it returns. `name`: what to call the program of a trial.
Result<PreflightChoice> choose_by_preflight(engine::Engine& engine, const Arguments& arguments, const SubmitAs& submit,
                                            engine::Observer& observer, Budget& budget, CaughtInterrupts& caught,
                                            engine::StopSignal& stop,
                                            const std::function<std::string(const store::TrialRow&)>& name);

}  // namespace stab::ctl
