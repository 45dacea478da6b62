// What a program that szc has built has, and others don't: a runtime with progress points of its own, code that moves, a helper
// that makes new layouts. Its names are looked up; without them nothing of it is there.
#include <dlfcn.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/last_writer.h"
#include "runtime/causal/moment.h"
#include "runtime/causal/regions.h"
#include "runtime/progress/points.h"

namespace stab::causal {
namespace {

uint64_t (*original)(uint64_t pc) = nullptr;
int (*order_layout)() = nullptr;

template <typename Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void meet_program() {
  Area& area = *program.area;
  progress::use_board(&area.board);
  original = find<uint64_t (*)(uint64_t)>("stab_rt_original_pc");
  order_layout = find<int (*)()>("stab_rt_order_layout");
  if (const auto active = find<int (*)()>("stab_rt_active"); active != nullptr && active() != 0) area.state.moving = 1;
  // One of szc's without it, an older one, counts on a board that we don't see.
  const auto share_board = find<int (*)(void*)>("stab_rt_share_board");
  if (share_board != nullptr ? share_board(&area.board) == 0 : find<void*>("stab_rt_active") != nullptr)
    degrade(area, Degraded::kPointsElsewhere);
}

uint64_t original_of(uint64_t pc) { return original == nullptr ? pc : original(pc); }

void ask_for_layout() {
  State& state = program.area->state;
  uint64_t asked = look(state.layouts_asked);
  const uint64_t wanted = look(state.live.layouts_wanted);
  // One asks, whoever comes first.
  if (asked == wanted ||
      !__atomic_compare_exchange_n(&state.layouts_asked, &asked, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return;
  if (order_layout != nullptr) order_layout();
}

void say_goodbye() {
  if (program.pid != sys::getpid()) return;  // a child of a bare clone
  if (self.is_counted) read_switches();
  raise_to(program.process->cpu_ns, program.process->before_ns + sys::process_cpu_ns());
}

void end_process() {
  if (program.pid != sys::getpid()) return;
  say_goodbye();
  note_signal();
  if (program.pauses == Pauses::kSpin) clock_of(*program.area).vacate(self.occupied);
  // Whoever sees its end sooner than the companion may wait for the world then.
  self.is_counted = false;
  count_threads(*program.area, *program.process, -__atomic_load_n(&program.process->runnable, __ATOMIC_RELAXED));
}

int begin_exec() {
  pay();
  say_goodbye();
  Process& process = *program.process;
  __atomic_store_n(&process.ended, kProcessExecutes, __ATOMIC_RELEASE);
  const int threads = __atomic_load_n(&process.runnable, __ATOMIC_RELAXED);
  count_threads(*program.area, process, -threads);
  return threads;
}

void end_failed_exec(int threads) {
  __atomic_store_n(&program.process->ended, kProcessRuns, __ATOMIC_RELEASE);
  count_threads(*program.area, *program.process, threads);
}

}  // namespace stab::causal

// ---------------------------------------------------------------------------------------------------------
// COZ's names, for programs of any compiler. _coz_get_counter is in runtime/progress/points.cc.
extern "C" {

__attribute__((visibility("default"))) void _coz_add_delays() {
  if (stab::causal::is_profiled()) stab::causal::pay();
}

namespace {
// Of this thread: begun by _coz_pre_block. One at a time, as with COZ.
__thread stab::causal::Wait coz_wait __attribute__((tls_model("initial-exec")));
}  // namespace

__attribute__((visibility("default"))) void _coz_pre_block() {
  if (stab::causal::is_profiled()) coz_wait = stab::causal::start_wait(stab::causal::kForOurs);
}

// skip_delays: whoever woke us has paid.
__attribute__((visibility("default"))) void _coz_post_block(int skip_delays) {
  using namespace stab::causal;
  if (is_profiled()) finish_wait(coz_wait, skip_delays != 0 ? kForOurs : kForWorld, 0, 0);
}

}  // extern "C"
