// An engine in this process, for the commands that run trials themselves.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "stabctl/arguments.h"
#include "engine/experiment/engine.h"
#include "store/store.h"

namespace stab::ctl {

// On the database that the arguments name. Waits a moment for one that another engine is about to leave.
Result<std::unique_ptr<engine::Engine>> open_engine(const Arguments& arguments, const Clock& clock, bool share = false);

// How long a run may take; 0: as long as it does. What runs when it is over is killed.
struct Budget {
  std::chrono::nanoseconds most{0};
  bool is_over = false;  // it ended the run
};
// Runs it until it is over, the user stops it or the budget ends, with progress on stderr.
Result<engine::RunEnd> run_until(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock,
                                 Budget& budget);

// Runs it until it is over or the user stops it, with progress on stderr, then shows what it says: `show` prints and
// returns an exit code. Returns that, or why there is nothing to show.
using Show = std::function<int(store::Store&, store::Id)>;
int run_to_end(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock, const Show& show);

}  // namespace stab::ctl
