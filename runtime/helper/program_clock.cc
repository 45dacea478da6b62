// There is no event for "it has used so much CPU time" that the program would not pay for (timers on another process's clock go
// off in that process, at its ticks). So the clock is read when the time can have come at the earliest, and again: a program
// that has its CPU to itself is found there at the second look, one that shares it after a few more.
#include "runtime/helper/program_clock.h"

#include "runtime/helper/cpu_clock.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Closer than this nobody needs to know, and more looks would be the helper's whole work.
constexpr uint64_t kLeastWaitNs = 50'000;
constexpr uint64_t kLooksInPeriod = 64;
// While the program doesn't run at all looks become rarer, up to so many in a period.
constexpr uint64_t kIdleLooksInPeriod = 16;

}  // namespace

bool ProgramClock::count_cpu(const Family& family) {
  program_.pid = family.program.pid;
  counts_cpu_ = family.numbered && read_cpu_clock(cpu_clock_of(program_.pid), program_.cpu_ns);
  return counts_cpu_;
}

// A number that is read for the first time is that of a child whose clock began with it.
void ProgramClock::add(Member& member, int32_t pid) {
  if (pid != member.pid) member = {pid, 0};
  uint64_t now_ns = 0;
  if (pid <= 0 || !read_cpu_clock(cpu_clock_of(pid), now_ns) || now_ns <= member.cpu_ns) return;
  cpu_ns_ += now_ns - member.cpu_ns;
  member.cpu_ns = now_ns;
}

uint64_t ProgramClock::now_ns(const int32_t (&kin)[kMaxKin]) {
  const uint64_t monotonic_ns = sys::monotonic_ns();
  if (!counts_cpu_) return monotonic_ns;
  const uint64_t before_ns = cpu_ns_, passed_ns = monotonic_ns - looked_ns_;
  add(program_, program_.pid);
  for (uint32_t i = 0; i < kMaxKin; ++i)
    if (const int32_t pid = __atomic_load_n(&kin[i], __ATOMIC_RELAXED); pid != 0 || kin_[i].pid != 0) add(kin_[i], pid);
  looked_ns_ = monotonic_ns;
  rate_ = passed_ns == 0 ? 1 : (cpu_ns_ - before_ns + passed_ns - 1) / passed_ns;
  idle_looks_ = cpu_ns_ == before_ns ? idle_looks_ + 1 : 0;
  return cpu_ns_;
}

uint64_t ProgramClock::look_at_ns(uint64_t due_ns, uint64_t period_ns) {
  if (!counts_cpu_) return due_ns;
  const uint64_t left_ns = due_ns > cpu_ns_ ? due_ns - cpu_ns_ : 0;
  uint64_t least_ns = period_ns / kLooksInPeriod;
  for (uint64_t i = 1; i < idle_looks_ && least_ns < period_ns / kIdleLooksInPeriod; ++i) least_ns *= 2;
  uint64_t wait_ns = rate_ > 1 ? left_ns / rate_ : left_ns;
  if (wait_ns < least_ns) wait_ns = least_ns;
  if (wait_ns < kLeastWaitNs) wait_ns = kLeastWaitNs;
  return looked_ns_ + wait_ns;
}

}  // namespace stab::helper
