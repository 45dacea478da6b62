#include "runtime/causal/moment.h"

#include "runtime/causal/area.h"
#include "runtime/causal/insides.h"
#include "runtime/causal/load.h"
#include "runtime/sys.h"

namespace stab::causal {
namespace {

// The clock of another process's CPU time, as clock_getcpuclockid makes it. 0: it is gone.
uint64_t cpu_of(int pid) {
  constexpr int kScheduler = 2;
  timespec now{};
  if (sys::call(SYS_clock_gettime, static_cast<long>(~pid) * 8 | kScheduler, sys::word(&now)) != 0) return 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Time in which all wait for the world, what goes on at the moment included.
uint64_t world_blocked(const Area& area, uint64_t now) {
  const uint64_t since = look(area.state.idle_since_ns), sum = look(area.state.world_blocked_ns);
  return since != 0 && since < now ? sum + (now - since) : sum;
}

void look_whether_idle(Area& area) {
  State& state = area.state;
  if (__atomic_load_n(&state.runnable, __ATOMIC_SEQ_CST) > 0 || __atomic_load_n(&state.world_waiters, __ATOMIC_SEQ_CST) <= 0)
    return;
  uint64_t none = 0;
  __atomic_compare_exchange_n(&state.idle_since_ns, &none, sys::monotonic_ns(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void end_idleness(Area& area) {
  if (look(area.state.idle_since_ns) == 0) return;
  const uint64_t since = __atomic_exchange_n(&area.state.idle_since_ns, uint64_t{0}, __ATOMIC_SEQ_CST);
  if (since == 0) return;
  // What a window's beginning has counted already is part of both its ends.
  raise_by(area.state.world_blocked_ns, sys::monotonic_ns() - since);
}

}  // namespace

uint64_t cpu_of_family(Area& area, int own_pid) {
  uint64_t sum = 0;
  for (Process& process : area.processes) {
    const auto pid = static_cast<int>(__atomic_load_n(&process.pid, __ATOMIC_ACQUIRE));
    if (pid == 0) continue;
    if (__atomic_load_n(&process.ended, __ATOMIC_ACQUIRE) == 0)
      raise_to(process.cpu_ns, pid == own_pid ? sys::process_cpu_ns() : cpu_of(pid));
    sum += look(process.cpu_ns);
  }
  return sum;
}

void take_wall_times(const Area& area, Snapshot& out) {
  const State& state = area.state;
  out.at_ns = sys::monotonic_ns();
  // A load's virtual time falls behind all the time.
  out.global = look(state.global) + not_virtual_ns(out.at_ns - look(state.first_attach_ns), area.script.load_permille);
  out.spun_wall_ns = look(state.spun_wall_ns);
  out.spun_counted_ns = look(state.spun_counted_ns);
}

void take_times(Area& area, int own_pid, Snapshot& out) {
  const State& state = area.state;
  take_wall_times(area, out);
  out.cpu_ns = cpu_of_family(area, own_pid);
  out.credited_ns = look(state.credited_ns);
  out.world_blocked_ns = world_blocked(area, out.at_ns);
}

void take(Area& area, int own_pid, uint32_t region, Snapshot& out) {
  const State& state = area.state;
  take_times(area, own_pid, out);
  out.samples = look(state.samples);
  out.region_samples = region < kMaxRegions ? look(state.region_samples[region]) : 0;
  out.region_ns = region < kMaxRegions ? look(state.region_ns[region]) : 0;
  out.waits = look(state.waits);
  out.waits_classified = look(state.waits_classified);
  out.layouts_asked = look(state.layouts_asked);
  const uint32_t used = look(area.board.points_used) < progress::kMostNamed ? area.board.points_used : progress::kMostNamed;
  for (uint32_t point = 0; point < kPointSlots; ++point)
    out.visits[point] = point >= 1 && point <= used ? progress::visits_of(area.board, point) : 0;
}

uint64_t waiting_order(const Area& area) {
  const Live& live = area.state.live;
  const uint64_t ordered = __atomic_load_n(&live.ordered, __ATOMIC_ACQUIRE);
  return ordered == look(live.claimed) ? 0 : ordered;
}

bool carry_out(Area& area, uint64_t order, int own_pid) {
  Live& live = area.state.live;
  uint64_t before = order - 1;
  if (!__atomic_compare_exchange_n(&live.claimed, &before, order, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return false;
  const bool opens = order % 2 == 1;
  if (opens) {
    clock_of(area).forgive();
    take(area, own_pid, live.region, area.state.begin);
    begin_insides(area);
  } else {
    add_insides(area, own_pid);
  }
  __atomic_store_n(&live.open, order, __ATOMIC_RELEASE);
  if (!opens) take(area, own_pid, live.region, area.state.end);
  __atomic_store_n(&live.done, order, __ATOMIC_RELEASE);
  return true;
}

void begin_wait(Area& area, Process& process, bool for_world) {
  if (for_world) {
    __atomic_fetch_add(&process.world_waiters, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&area.state.world_waiters, 1, __ATOMIC_SEQ_CST);
  }
  count_threads(area, process, -1);
}

void end_wait(Area& area, Process& process, bool for_world) {
  count_threads(area, process, 1);
  if (!for_world) return;
  __atomic_fetch_sub(&process.world_waiters, 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&area.state.world_waiters, 1, __ATOMIC_SEQ_CST);
}

void count_threads(Area& area, Process& process, int by) {
  __atomic_fetch_add(&process.runnable, by, __ATOMIC_RELAXED);
  __atomic_fetch_add(&area.state.runnable, by, __ATOMIC_SEQ_CST);
  if (by < 0)
    look_whether_idle(area);
  else
    end_idleness(area);
}

}  // namespace stab::causal
