// The half of load.h that is inside the program. Every visit of a progress point comes by here in a trial that has a load
// (stab_rt_watch_visits), before it counts: so that arrivals are seen in the thread that they come to, and tasks inside are
// added up exactly from visit to visit.
#include "runtime/causal/load.h"

#include <dlfcn.h>
#include <errno.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/insides.h"
#include "runtime/causal/moment.h"

namespace stab::causal {
namespace {

struct LoadThread {
  ArrivalSites sites;
  uint64_t overslept_ns;  // of waits that were stretched: the next is shorter
  uint64_t paid_ns;  // its CPU time up to which it has paid
  bool pays;         // is about to: a trap that comes between would pay the same again
};
__thread LoadThread mine __attribute__((tls_model("initial-exec")));

// Before the first task nothing is slower: a start is no part of any load.
bool has_begun(const Area& area) { return __atomic_load_n(&area.state.arriving, __ATOMIC_RELAXED) != 0; }

bool is_arrival(const Area& area, int kind) {
  if (kind == static_cast<int>(progress::Kind::kArrival)) return true;
  return kind == static_cast<int>(progress::Kind::kBegin) && (area.script.flags & kScriptBeginsArrive) != 0;
}

void on_visit(int kind) {
  if (!is_profiled()) return;
  const int saved_errno = errno;
  Area& area = *program.area;
  if (is_arrival(area, kind)) {
    mine.sites.arrived();
    if (!has_begun(area)) {
      __atomic_store_n(&area.state.arriving, 1u, __ATOMIC_SEQ_CST);
      sys::futex_wake(&area.state.arriving);
    }
  }
  pay_load();
  if (is_window_open()) add_insides_surely(area, program.pid);
  errno = saved_errno;
}

}  // namespace

void watch_load() {
  using Watch = void (*)(void (*)(int));
  const auto watch = reinterpret_cast<Watch>(dlsym(RTLD_DEFAULT, "stab_rt_watch_visits"));
  // A program that an older szc built counts its points itself, where we do not see it.
  if (watch == nullptr || (dlsym(RTLD_DEFAULT, "stab_rt_active") != nullptr &&
                           dlsym(RTLD_DEFAULT, "stab_rt_share_board") == nullptr))
    return degrade(*program.area, Degraded::kPointsElsewhere);
  watch(on_visit);
  begin_load_thread();
}

void begin_load_thread() {
  mine = {};
  mine.paid_ns = thread_cpu_ns();
}

void pay_load() {
  Area& area = *program.area;
  const uint32_t load = area.script.load_permille;
  if (load <= kLoadOne || mine.pays || self.spins) return;
  mine.pays = true;
  if (has_begun(area)) {
    const uint64_t now = thread_cpu_ns();
    const uint64_t pause_ns = now > mine.paid_ns ? extra_ns(now - mine.paid_ns, load) : 0;
    raise_by(area.state.credited_ns, pause_ns);
    if (pause_ns != 0) spin_for(pause_ns);
  }
  mine.paid_ns = thread_cpu_ns();
  mine.pays = false;
}

void stretch_wait(uint64_t waited_ns, uint64_t site, bool timed_out) {
  Area& area = *program.area;
  const uint32_t load = area.script.load_permille;
  if (site != 0) mine.sites.waited_at(site);
  if (load <= kLoadOne || !has_begun(area) || mine.sites.is_one(site)) return;
  if (waited_ns == 0) return;
  if (timed_out) degrade(area, Degraded::kTimeouts);
  const uint64_t wanted_ns = extra_ns(waited_ns, load);
  if (mine.overslept_ns >= wanted_ns) {
    mine.overslept_ns -= wanted_ns;
    return;
  }
  ++self.classified;
  const uint64_t begun_ns = sys::monotonic_ns(), rest_ns = wanted_ns - mine.overslept_ns;
  sleep_for(rest_ns);
  mine.overslept_ns = sys::monotonic_ns() - begun_ns - rest_ns;
}

}  // namespace stab::causal
