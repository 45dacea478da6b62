// The event of perf that samples a thread's user time: after each `period_ns` of its CPU time comes a SIGTRAP, whose sig_data is
// `signal`.
#pragma once

#include "runtime/perf_event.h"

namespace stab::causal {

inline perf_event_attr sampling_event(uint64_t period_ns, uint64_t signal) {
  perf_event_attr attr = sys::event_attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  attr.sample_period = period_ns;
  attr.sample_type = PERF_SAMPLE_IP;
  // A sample in the kernel would end a wait with EINTR, and one in an exec would reach the new program, which has no handler.
  attr.exclude_kernel = 1;
  attr.sigtrap = 1;
  attr.remove_on_exec = 1;
  attr.sig_data = signal;
  return attr;
}

}  // namespace stab::causal
