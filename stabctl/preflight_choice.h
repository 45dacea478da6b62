// Choosing the clock of programs that an experiment builds: they can be tried only when they are built, which its preflight does.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "stabctl/clock_choice.h"
#include "stabctl/run_command.h"
#include "stabd/engine/experiment/engine.h"
#include "store/store.h"

namespace stab::ctl {

struct PreflightChoice {
  // How the run ended before its preflight had; absent: the preflight is over and all of it passed, and `clock` is chosen.
  std::optional<engine::RunEnd> end;
  ClockChoice clock;
};

// Runs it up to the end of its preflight: builds, and one trial of each cell. The experiment is stopped there, and a run goes on
// with it, with another stop signal: this one is used up. `name`: what to call the program of a trial.
Result<PreflightChoice> choose_by_preflight(engine::Engine& engine, store::Id experiment, engine::Observer& observer,
                                            Budget& budget, engine::StopSignal& interrupts,
                                            const std::function<std::string(const store::TrialRow&)>& name);

}  // namespace stab::ctl
