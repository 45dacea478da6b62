// Paying: rules R2 to R5 of clock.h with real threads.
//
// A pause is spun away where virtual time is accounted by CPU, slept away by COZ's rule, and not made at all on one CPU. What a
// thread spins is no time of the program's: `spun_ns` keeps it out of what samples stand for.
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/last_writer.h"
#include "runtime/causal/load.h"
#include "runtime/causal/moment.h"
#include "runtime/causal/regions.h"

namespace stab::causal {

__thread Thread self __attribute__((tls_model("initial-exec"))) = kNewThread;
Program program = {nullptr, nullptr, Pauses::kAuto, false, false, -1, 0};

namespace {

// Waits shorter than this were no waits: a system call that found what it wanted. A switch away and back takes longer.
constexpr uint64_t kShortestWaitNs = 3'000;

// Of the calling function. What a handler that interrupts it calls lies below, and what called it above.
#define STAB_FRAME reinterpret_cast<uint64_t>(__builtin_frame_address(0))

void pay_by_sleeping(Area& area) {
  const uint64_t everybody = look(area.state.global);
  if (self.local >= everybody) {
    raise_to(area.state.global, self.local);
    return;
  }
  while (self.local < look(area.state.global) && is_window_open()) {
    const uint64_t begun = now_ns();
    sleep_for(look(area.state.global) - self.local);
    self.local += now_ns() - begun;  // what was slept too long stays to its credit
  }
}

void pay_by_spinning(Area& area) {
  const Clock clock = clock_of(area);
  const uint64_t window = look(area.state.live.open);
  int cpu = sched_getcpu();
  clock.occupy(self.occupied, cpu);
  if (clock.owed(cpu) == 0) return;
  self.pause_frame = STAB_FRAME;
  self.spins = true;
  const uint64_t begun = now_ns();
  uint64_t at = begun, counted = 0;
  while (clock.owed(cpu) != 0 && look(area.state.live.open) == window) {
    for (int i = 0; i < 20; ++i) __builtin_ia32_pause();
    const int cpu_now = sched_getcpu();
    const uint64_t now = now_ns();
    counted += clock.count_step(cpu, cpu_now, now - at);
    at = now;
    if (cpu_now != cpu) clock.occupy(self.occupied, cpu_now);
    cpu = cpu_now;
  }
  self.spun_ns += counted;
  raise_by(area.state.spun_wall_ns, at - begun);
  raise_by(area.state.spun_counted_ns, counted);
  self.spins = false;
}

uint64_t voluntary_switches() {
  rusage used{};
  sys::call(SYS_getrusage, RUSAGE_THREAD, sys::word(&used));
  return static_cast<uint64_t>(used.ru_nvcsw);
}

// Whether the thread gave its CPU away since its last wait. A call that finds what it wants waits for nobody, however long it
// takes: it may have been preempted in the middle, and owes nobody what others were credited with meanwhile, nor did anybody
// idle. Not known where a window has opened since.
bool has_blocked() {
  if (!is_window_open() || program.is_silent) return true;
  const uint64_t before = self.blocked;
  self.blocked = voluntary_switches();
  return self.blocked != before;
}

// Sleeps for so long in the sum over its calls: each ends late, by as much as it takes until the thread has a CPU again.
void sleep_exactly(uint64_t ns, Late& late) {
  const uint64_t spared_ns = ns < self.overslept_ns ? ns : self.overslept_ns;
  self.overslept_ns -= spared_ns;
  if (spared_ns == ns) return;
  ++self.classified;
  const uint64_t wanted_ns = ns - spared_ns, begun_ns = sys::monotonic_ns();
  sleep_for(wanted_ns);
  late = {begun_ns + wanted_ns, sys::monotonic_ns()};
  self.overslept_ns += late.ns();
}

// R4. What global grew before this window was another window's business. Who comes back late from a sleep has waited for a CPU
// for so long, and not for the world: what the others were credited with then is slept off already.
void wait_as_the_world_does(Area& area, Late& late) {
  uint64_t late_ns = late.ns();
  const Clock clock = clock_of(area);
  for (;;) {
    const uint64_t window = look(area.state.live.open);
    if (window % 2 == 0) return;
    if (window != self.seen_open) {
      self.overslept_ns = 0;
      self.seen_open = window;
      self.seen = look(area.state.begin.global);
    }
    const uint64_t more = clock.owed_to_world(self.seen);
    if (more <= late_ns) return;
    sleep_exactly(more - late_ns, late);
    late_ns = 0;
  }
}

// A wait that may be sped up stands for as many samples of the line that waits as it has periods. Everybody is charged, the CPU
// on which it comes back, too, if somebody else works there; else that was idle. A null window's waiter waits for as much longer.
void credit_wait(Area& area, uint64_t caller, uint64_t waited_ns) {
  Place place = find_place(area, original_of(caller - 1));
  if (!place.in_scope && (area.script.flags & kScriptCallers) != 0) find_caller(caller, place);
  if (place.module == kNoModule) return;
  const uint64_t times = waited_ns / area.script.period_ns;
  if (times != 0 && !count_in(area.histogram, place.module, place.address, times)) degrade(area, Degraded::kHistogramFull);
  if (place.region == kNoRegion) return;
  raise_by(area.state.region_samples[place.region], times);
  raise_by(area.state.region_ns[place.region], waited_ns);
  const Live& live = area.state.live;
  const uint64_t window = look(live.open);
  if (window % 2 == 0 || place.region != live.region) return;
  // Only what of the wait lay in this window.
  const uint64_t in_window_ns = now_ns() - area.state.begin.at_ns;
  const uint64_t delay_ns = (waited_ns < in_window_ns ? waited_ns : in_window_ns) * live.speedup_permille / 1000;
  if (delay_ns == 0 || live.kind == ArmKind::kBaseline) return;
  if (live.kind != ArmKind::kSpeedup) {
    ++self.classified;
    sleep_for(delay_ns);
  }
  if (live.kind == ArmKind::kSlowdown) return;
  raise_by(area.state.credited_ns, delay_ns);
  const Clock clock = clock_of(area);
  clock.charge_everybody(delay_ns);
  // It is the one that was credited, or has paused: it doesn't wait for that again.
  self.seen += delay_ns;
  if (program.pauses == Pauses::kThread) self.local += delay_ns;
}

// Burns so much of the thread's CPU time, less where goes_on(what is spent) ends it. Returns what it took.
template <typename GoesOn>
uint64_t spin(uint64_t cpu_ns, GoesOn goes_on) {
  self.pause_frame = STAB_FRAME;
  self.spins = true;
  const uint64_t begun = thread_cpu_ns();
  uint64_t spent = 0;
  while (spent < cpu_ns && !program.is_silent && goes_on(spent)) {
    for (int i = 0; i < 20; ++i) __builtin_ia32_pause();
    spent = thread_cpu_ns() - begun;
  }
  self.spun_ns += spent;
  self.spins = false;
  return spent;
}

void go_off(Area& area) {
  if (program.pauses == Pauses::kSpin) clock_of(area).vacate(self.occupied);
  if (self.is_counted) begin_wait(area, *program.process);
}

// kNot: it never gave its CPU away, which was not idle therefore.
void come_back(Area& area, Waits woken_by, const Late& late = {}) {
  if (self.is_counted) end_wait(area, *program.process, woken_by == kForWorld, late);
  if (program.pauses == Pauses::kSpin) clock_of(area).occupy(self.occupied, sched_getcpu(), woken_by != kNot);
}

}  // namespace

uint64_t thread_cpu_ns() {
  timespec now{};
  sys::call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, sys::word(&now));
  return sys::ns_of(now);
}

void sleep_for(uint64_t ns) {
  const uint64_t until_ns = sys::monotonic_ns() + ns;
  const timespec until{static_cast<time_t>(until_ns / 1'000'000'000u), static_cast<long>(until_ns % 1'000'000'000u)};
  while (sys::call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, sys::word(&until)) == -EINTR) {
  }
  self.blocked = voluntary_switches();  // no wait of the program's
}

void pay() {
  Area& area = *program.area;
  if (self.waits != kNot || self.spins) return;
  if (is_loaded(area.script)) return pay_load();
  if (!is_window_open()) return;
  if (program.pauses == Pauses::kSpin) pay_by_spinning(area);
  if (program.pauses == Pauses::kThread) pay_by_sleeping(area);
}

void spin_for(uint64_t cpu_ns) {
  if (self.too_much_ns >= cpu_ns) {
    self.too_much_ns -= cpu_ns;
    return;
  }
  const uint64_t wanted_ns = cpu_ns - self.too_much_ns;
  self.too_much_ns = spin(wanted_ns, [](uint64_t) { return true; }) - wanted_ns;
}

void pause_in_window(uint64_t cpu_ns, bool everybody) {
  // A pause that everybody makes is charged as it goes by: whoever waits for the world pauses for as much of it as he waited
  // through. Charged as a whole at its end, it would be slept off by all whose wait had just begun.
  constexpr uint64_t kChargedAtOnceNs = 100'000;
  Area& area = *program.area;
  const uint64_t window = look(area.state.live.open);
  uint64_t charged = 0;
  const auto charge_until = [&](uint64_t spent) {
    if (everybody) clock_of(area).charge_everybody(spent - charged);
    charged = spent;
  };
  const uint64_t spent = spin(cpu_ns, [&](uint64_t so_far) {
    if (so_far - charged >= kChargedAtOnceNs) charge_until(so_far);
    return look(area.state.live.open) == window;
  });
  charge_until(spent);
  raise_by(area.state.credited_ns, spent);
}

Wait start_wait(Waits what) {
  Area& area = *program.area;
  const Wait wait{self.waits, now_ns(), true, 0};
  if (wait.outer != kNot) come_back(area, kForWorld);  // a handler inside a wait runs
  self.waits = kNot;
  pay();
  const uint64_t window = look(area.state.live.open);
  if (window % 2 == 1 && window != self.seen_open) {
    self.blocked = voluntary_switches();
    self.overslept_ns = 0;
  }
  self.seen_open = window;
  self.seen = look(area.state.global);
  if (wait.outer == kNot) self.wait_frame = STAB_FRAME;
  self.waits = what;
  go_off(area);
  return wait;
}

void finish_wait(const Wait& wait, Waits by, uint64_t why, uint64_t caller) {
  if (program.is_silent) return;  // into a sandbox meanwhile, which may know no call of ours
  Area& area = *program.area;
  const uint64_t waited_ns = now_ns() - wait.since_ns;
  const bool has_waited = waited_ns >= kShortestWaitNs && has_blocked();
  if (waited_ns >= kShortestWaitNs) {
    ++self.classified;
    if ((area.script.flags & why) != 0) credit_wait(area, caller, waited_ns);
    if (by == kForWorld && is_loaded(area.script))
      stretch_wait(has_waited ? waited_ns : 0, wait.may_bring_task ? caller : 0, why == kScriptBlockedLock);
  }
  Late late;
  if (wait.asked_ns != 0 && wait.asked_ns < waited_ns) late = {wait.since_ns + wait.asked_ns, wait.since_ns + waited_ns};
  if (has_waited && by == kForWorld && program.pauses != Pauses::kThread) wait_as_the_world_does(area, late);
  come_back(area, has_waited ? by : kNot, late);
  if (program.pauses == Pauses::kThread && by == kForOurs) self.local += look(area.state.global) - self.seen;
  self.waits = kNot;
  if (by == kForWorld) pay();
  if (wait.outer == kNot) return;
  self.waits = wait.outer;
  go_off(area);
}

void abandon_below(uint64_t stack) {
  if (self.pause_frame < stack) self.spins = false;
  if (self.waits == kNot || self.wait_frame >= stack) return;
  end_noted(self.noted);
  self.noted = nullptr;
  come_back(*program.area, kForWorld);
  self.waits = kNot;
}

void arrive() {
  Area& area = *program.area;
  self.is_counted = true;
  self.local = look(area.state.global);
  self.program_ns = thread_cpu_ns();
  if (is_loaded(area.script)) begin_load_thread();
  if (program.pauses == Pauses::kSpin) clock_of(area).occupy(self.occupied, sched_getcpu());
}

void leave() {
  if (!self.is_counted) return;
  read_switches();
  take_rest();
  pay();
  if (program.pauses == Pauses::kSpin) clock_of(*program.area).vacate(self.occupied);
  // Ended inside a wait, by cancellation, it is off already.
  end_noted(self.noted);
  self.noted = nullptr;
  if (self.waits == kNot) count_threads(*program.area, *program.process, -1);
  self.is_counted = false;
}

void read_switches() {
  if (program.is_silent) return;
  const uint64_t switches = voluntary_switches();
  State& state = program.area->state;
  const uint64_t waits = switches - self.switches;
  raise_by(state.waits, waits);
  // A wait may be several switches and a call without a wait none: what has no class is what is left over.
  raise_by(state.waits_classified, self.classified < waits ? self.classified : waits);
  self.switches = switches;
  self.classified = 0;
}

}  // namespace stab::causal
