// The virtual clock. Pure: shared words in, shared words out, no system calls; tests drive it with a simulated scheduler.
//
// A line is sped up virtually by giving up time everywhere else. Time is given up by CPUs and not by threads: where a thread
// slept off what it owes another thread would use the CPU meanwhile, and nothing would have been given up.
//
//   lost[c]   virtual time that CPU c has given up, by spinning, or was credited with, because it ran the line
//   global    what every CPU has to have given up: the most that any of them was credited with
//
// CPU c owes global - lost[c] where that is positive. Five rules:
//
//   R1 credit   a sample that stands for w ns of the line, at speedup s, on CPU c: lost[c] += s w; global = max(global, lost[c])
//   R2 pay      in every trap, before waking somebody, before blocking: spin on c until it owes nothing. Only steps shorter than
//               kLongestStepNs that begin and end on one CPU count: a longer gap was somebody else's time
//   R3 woken by a thread of ours: owes nothing, since the waker had paid. It comes to a CPU c; if nobody occupied c, c was idle,
//               and an idle CPU loses nothing by a pause: lost[c] = global
//   R4 woken by the world, which does not get faster: it first sleeps by what global grew since its wait began, and by what it
//               grows meanwhile; then R3
//   R5 a new thread is as if woken by its creator
//
// Time without the pauses: wall - k * growth of global on several CPUs, with k the wall time of spinning over what of it was
// counted. On one CPU nothing runs beside the line, so nobody has to pause (rule F4 of the page): CPU time of the program, and
// time in which all of it waited for the world, less the growth of global.
#pragma once

#include "runtime/causal/causal_abi.h"

namespace stab::causal {

inline uint64_t look(const uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
inline void raise_by(uint64_t& word, uint64_t by) { __atomic_fetch_add(&word, by, __ATOMIC_RELAXED); }
inline void raise_to(uint64_t& word, uint64_t least) {
  uint64_t now = look(word);
  while (now < least && !__atomic_compare_exchange_n(&word, &now, least, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

// Above the cost of a step (tens of ns) and below what any other task or a hypervisor takes at a time.
inline constexpr uint64_t kLongestStepNs = 20'000;

struct Clock {
  uint64_t& global;
  CpuClock* cpus;
  uint32_t count;  // of cpus; at least 1
  bool is_one;     // everything is the one CPU's, whatever its number

  CpuClock& cpu(int number) const {
    return cpus[is_one || number < 0 || static_cast<uint32_t>(number) >= count ? 0 : number];
  }

  uint64_t owed(int number) const {
    const uint64_t everybody = look(global), own = look(cpu(number).lost);
    return own < everybody ? everybody - own : 0;
  }

  // R1
  void credit(int number, uint64_t ns) const {
    raise_to(global, __atomic_add_fetch(&cpu(number).lost, ns, __ATOMIC_RELAXED));
  }

  // A null window's sample: as R1, but its own CPU is not credited, so that it owes as well.
  void charge_everybody(uint64_t ns) const { raise_by(global, ns); }

  // R2, one step of spinning that took `passed_ns`, begun on one CPU and ended on another or the same. Returns what counted.
  uint64_t count_step(int begun_on, int ended_on, uint64_t passed_ns) const {
    if (begun_on != ended_on || passed_ns >= kLongestStepNs) return 0;
    raise_by(cpu(ended_on).lost, passed_ns);
    return passed_ns;
  }

  // R3. `occupied` is the thread's: the CPU that it occupies, -1 while it is blocked. was_away: it may have left that CPU idle,
  // and did not just call what found at once what it wanted.
  void occupy(int& occupied, int number, bool was_away = true) const {
    if (occupied == number) return;
    vacate(occupied);
    occupied = number;
    CpuClock& to = cpu(number);
    if (__atomic_fetch_add(&to.occupants, 1, __ATOMIC_RELAXED) <= 0 && was_away) raise_to(to.lost, look(global));
  }
  void vacate(int& occupied) const {
    if (occupied >= 0) __atomic_fetch_sub(&cpu(occupied).occupants, 1, __ATOMIC_RELAXED);
    occupied = -1;
  }

  // R4: what a thread has yet to sleep that was woken by the world, if `seen` was global when its wait began or its last such
  // sleep began. Call until it is 0.
  uint64_t owed_to_world(uint64_t& seen) const {
    const uint64_t now = look(global);
    const uint64_t more = now > seen ? now - seen : 0;
    seen = now;
    return more;
  }

  // A window opens: nobody owes anything.
  void forgive() const {
    const uint64_t now = look(global);
    for (uint32_t i = 0; i < count; ++i) __atomic_store_n(&cpus[i].lost, now, __ATOMIC_RELAXED);
  }
};

// One CPU: time in which all waited for the world. No more than the CPU had besides: a thread that is in a call and computes
// there may have counted as one that waits.
inline uint64_t world_blocked_ns(const Snapshot& from, const Snapshot& to) {
  const uint64_t blocked = to.world_blocked_ns - from.world_blocked_ns;
  const uint64_t wall = to.at_ns - from.at_ns, cpu = to.cpu_ns - from.cpu_ns;
  const uint64_t rest = cpu < wall ? wall - cpu : 0;
  return blocked < rest ? blocked : rest;
}

// The time of a window without its pauses, 0 where nothing is left.
inline uint64_t effective_ns(Pauses pauses, const Snapshot& from, const Snapshot& to) {
  const uint64_t growth = to.global - from.global, wall = to.at_ns - from.at_ns;
  const auto less = [](uint64_t all, uint64_t part) { return part < all ? all - part : 0; };
  if (pauses == Pauses::kCpuTime)
    return less(to.cpu_ns - from.cpu_ns + world_blocked_ns(from, to), growth);
  if (pauses == Pauses::kThread) return less(wall, growth);
  const uint64_t spun = to.spun_wall_ns - from.spun_wall_ns, counted = to.spun_counted_ns - from.spun_counted_ns;
  if (counted == 0 || spun <= counted) return less(wall, growth);
  const double k = static_cast<double>(spun) / static_cast<double>(counted);
  return less(wall, static_cast<uint64_t>(static_cast<double>(growth) * k));
}

// One CPU: when a pause is made matters to nobody, so many are made as one. After each the program finds its caches colder, as
// far as others share them, and a late trap: with eight periods at once a null window of xz's was 1 % slower by that.
// No longer than that for its own sake: whoever closes a window waits for its pauses.
inline uint64_t bulk_ns_of(const Script& script) {
  const auto lesser = [](uint64_t a, uint64_t b) { return a < b ? a : b; };
  constexpr uint64_t kLongestNs = 100'000'000;
  const uint64_t least_ns = 8 * script.period_ns;
  const uint64_t wanted_ns = lesser(lesser(32 * script.period_ns, script.window_ns / 8), kLongestNs);
  return wanted_ns < least_ns ? least_ns : wanted_ns;
}

// What a sample stands for. Samples come after whole periods of a thread's CPU time, `since_ns` up to the jitter of timers, of
// which `spun_ns` were pauses. More than a period is time in which no sample could be taken (the kernel's), and is nobody's.
// Rounding keeps the jitter out: cutting off what is above a period, and not adding what is below, would lose credit.
inline uint64_t weight_of(uint64_t since_ns, uint64_t spun_ns, uint64_t period_ns) {
  const uint64_t periods = since_ns < period_ns ? 1 : (since_ns + period_ns / 2) / period_ns;
  const uint64_t own_ns = periods * period_ns > spun_ns ? periods * period_ns - spun_ns : 0;
  return own_ns < period_ns ? own_ns : period_ns;
}

}  // namespace stab::causal
