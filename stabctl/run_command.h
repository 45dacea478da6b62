// An engine in this process, for the commands that run trials themselves.
#pragma once

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

// Runs it until it is over or the user stops it, with progress on stderr, then shows what it says: `show` prints and
// returns an exit code. Returns that, or why there is nothing to show.
using Show = std::function<int(store::Store&, store::Id)>;
int run_to_end(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock, const Show& show);

}  // namespace stab::ctl
