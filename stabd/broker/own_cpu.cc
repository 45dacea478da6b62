#include "stabd/broker/own_cpu.h"

#include <utility>

namespace stab::broker {

OwnCpu::OwnCpu() : is_in_front_((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO) {
  ::sched_getaffinity(0, sizeof anywhere_, &anywhere_);
}

bool OwnCpu::move_to(int cpu) {
  cpu_set_t here;
  CPU_ZERO(&here);
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  CPU_SET(static_cast<size_t>(cpu), &here);
  return ::sched_setaffinity(0, sizeof here, &here) == 0;
}

void OwnCpu::work_on(int cpu) {
  pinned_ = move_to(cpu);
  own_ = at_ = cpu;
  next_ = -1;
}

void OwnCpu::visit_next(int cpu) {
  if (cpu >= 0 && is_in_front_) next_ = cpu;
}

void OwnCpu::settle() {
  const int cpu = std::exchange(next_, -1);
  if (!pinned_ || cpu < 0 || cpu == at_) return;
  if (move_to(cpu)) at_ = cpu;
}

void OwnCpu::leave() {
  if (pinned_) ::sched_setaffinity(0, sizeof anywhere_, &anywhere_);
  pinned_ = false;
}

}  // namespace stab::broker
