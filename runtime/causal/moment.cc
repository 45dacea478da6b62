#include "runtime/causal/moment.h"

#include <time.h>

#include "runtime/causal/area.h"
#include "runtime/causal/insides.h"
#include "runtime/causal/load.h"
#include "runtime/helper/cpu_clock.h"
#include "runtime/sys.h"

namespace stab::causal {
namespace {

// A sleep ends by as much too late on a CPU that nobody else wants: timers have a slack of 50 us.
constexpr uint64_t kPromptNs = 100'000;

// Of another process's CPU time. 0: it is gone.
uint64_t cpu_of(int pid) {
  uint64_t ns = 0;
  helper::read_cpu_clock(helper::cpu_clock_of(pid), ns);
  return ns;
}

// Time in which all wait for the world, what goes on at the moment included.
uint64_t world_blocked(const Area& area, uint64_t now) {
  const uint64_t since = look(area.state.idle_since_ns), sum = look(area.state.world_blocked_ns);
  return since != 0 && since < now ? sum + (now - since) : sum;
}

void look_whether_idle(Area& area) {
  State& state = area.state;
  if (__atomic_load_n(&state.runnable, __ATOMIC_SEQ_CST) > 0) return;
  uint64_t none = 0;
  __atomic_compare_exchange_n(&state.idle_since_ns, &none, now_ns(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void end_idleness(Area& area, bool was_the_worlds, const Late& late) {
  if (look(area.state.idle_since_ns) == 0) return;
  const uint64_t since = __atomic_exchange_n(&area.state.idle_since_ns, uint64_t{0}, __ATOMIC_SEQ_CST);
  if (since == 0 || !was_the_worlds) return;
  const uint64_t late_from = late.due_ns + kPromptNs > since ? late.due_ns + kPromptNs : since;
  const uint64_t late_ns = late.woke_ns > late_from ? late.woke_ns - late_from : 0;
  raise_by(area.state.world_blocked_ns, now_ns() - since - late_ns);
}

void settle_idleness(Area& area) {
  uint64_t since = look(area.state.idle_since_ns);
  const uint64_t now = sys::monotonic_ns();
  if (since == 0 || since >= now) return;
  if (__atomic_compare_exchange_n(&area.state.idle_since_ns, &since, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    raise_by(area.state.world_blocked_ns, now - since);
}

void change_runnable(Area& area, Process& process, int by) {
  __atomic_fetch_add(&process.runnable, by, __ATOMIC_RELAXED);
  __atomic_fetch_add(&area.state.runnable, by, __ATOMIC_SEQ_CST);
}

}  // namespace

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return sys::ns_of(now);
}

uint64_t cpu_of_family(Area& area, int own_pid) {
  uint64_t sum = 0;
  for (Process& process : area.processes) {
    const bool runs = __atomic_load_n(&process.ended, __ATOMIC_ACQUIRE) == kProcessRuns;
    const auto pid = static_cast<int>(__atomic_load_n(&process.pid, __ATOMIC_ACQUIRE));
    if (pid == 0) continue;
    if (runs) raise_to(process.cpu_ns, process.before_ns + (pid == own_pid ? sys::process_cpu_ns() : cpu_of(pid)));
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

void take_beginning(Area& area, int own_pid, uint32_t region, Snapshot& out) {
  settle_idleness(area);
  take(area, own_pid, region, out);
  // What begins now may yet turn out to be nobody's wait for the world: no later moment has less.
  out.world_blocked_ns = look(area.state.world_blocked_ns);
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
    take_beginning(area, own_pid, live.region, area.state.begin);
    begin_insides(area);
  } else {
    add_insides(area, own_pid);
  }
  __atomic_store_n(&live.open, order, __ATOMIC_RELEASE);
  if (!opens) take(area, own_pid, live.region, area.state.end);
  __atomic_store_n(&live.done, order, __ATOMIC_RELEASE);
  return true;
}

void begin_wait(Area& area, Process& process) { count_threads(area, process, -1); }

void end_wait(Area& area, Process& process, bool world_woke_it, const Late& late) {
  change_runnable(area, process, 1);
  end_idleness(area, world_woke_it, late);
}

void count_threads(Area& area, Process& process, int by) {
  change_runnable(area, process, by);
  if (by < 0)
    look_whether_idle(area);
  else
    end_idleness(area, false, {});
}

}  // namespace stab::causal
