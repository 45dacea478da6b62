// An engine in this process, for the commands that run trials themselves.
#pragma once

#include <signal.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/terminal/progress.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/experiment/stop_signal.h"
#include "store/store.h"

namespace stab::ctl {

// On the database that the arguments name. Waits a moment for one that another engine is about to leave.
Result<std::unique_ptr<engine::Engine>> open_engine(const Arguments& arguments, const Clock& clock, bool share = false);

// How these arguments want a run to be shown.
ProgressStyle style_of(const Arguments& arguments);

// How long a run may take; 0: as long as it does. What runs when it is over is killed.
struct Budget {
  std::chrono::nanoseconds most{0};
  bool is_over = false;  // it ended the run
};
// Of "10min"; of an empty text 0. kBadInput: it is no time.
Result<std::chrono::nanoseconds> budget_of(const std::string& text);
// Whether the first interrupt lets end what runs, or whoever is asked ends that, too. The user is told so.
enum class FirstInterrupt { kAfterTrial, kAtOnce };
// As long as it lives, Ctrl-C, SIGTERM and SIGHUP ask `stop` to end after this trial, and at once when one comes again. What
// they did before, they do after it. One at a time.
class CaughtInterrupts {
 public:
  explicit CaughtInterrupts(engine::StopSignal& stop, FirstInterrupt first = FirstInterrupt::kAfterTrial);
  ~CaughtInterrupts();
  // From now on they ask this one, to end after its trial.
  void ask(engine::StopSignal& stop);
  // Whether one has come: others may ask the same signal to stop.
  bool any() const;
  CaughtInterrupts(const CaughtInterrupts&) = delete;
  CaughtInterrupts& operator=(const CaughtInterrupts&) = delete;

 private:
  std::array<struct sigaction, 3> before_{};
};

// Runs it until it is over, somebody stops it or the budget ends.
Result<engine::RunEnd> run_within(engine::Engine& engine, store::Id experiment, engine::Observer& observer, Budget& budget,
                                  engine::StopSignal& stop);
// The same with progress on stderr.
Result<engine::RunEnd> run_until(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock,
                                 Budget& budget, engine::StopSignal& stop, ToldNotes* told = nullptr);

// Makes its builds alone, with progress on stderr, until they are made or somebody stops it. kDone: they are.
Result<engine::RunEnd> build_until(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock,
                                   engine::StopSignal& stop, ToldNotes* told = nullptr);

// Runs it until it is over or the user stops it, with progress on stderr, then shows what it says: `show` prints and
// returns an exit code. Returns that, or why there is nothing to show. `stop`: of whoever has caught interrupts already.
using Show = std::function<int(store::Store&, store::Id)>;
int run_to_end(engine::Engine& engine, store::Id experiment, const Arguments& arguments, const Clock& clock, const Show& show,
               engine::StopSignal* stop = nullptr);

}  // namespace stab::ctl
