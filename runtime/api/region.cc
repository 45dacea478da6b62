// The region of interest: what the program spent between two of its own lines.
//
// Wall and CPU time and the process's counts are read from the kernel at both ends. Hardware counters are opened at
// the first region and never closed; a machine that has none, or does not let us, just leaves their bits unset. Their
// descriptors go to high numbers, because a program may rely on getting the lowest one.
#include <string.h>
#include <sys/resource.h>

#include "runtime/control.h"
#include "runtime/libc_names.h"
#include "runtime/perf_event.h"
#include "runtime/sys.h"
#include "stab/stab.h"

namespace stab::api {
namespace {

constexpr int kHardwareCounters = 4;  // STAB_CYCLES .. STAB_BRANCH_MISSES
constexpr uint64_t kEvents[kHardwareCounters] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                                 PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_BRANCH_MISSES};
constexpr int kLowestDescriptor = 500;

int descriptors[kHardwareCounters];  // + 1, so that 0 is: not open
bool opened = false;

// Invariant: owner is null or belongs to the thread that has the region open; `begin` is that thread's to write.
__attribute__((tls_model("initial-exec"))) thread_local char this_thread;  // its address names the thread
const char* owner = nullptr;
struct Reading {
  uint64_t wall_ns;
  uint64_t cpu_ns;
  uint64_t layouts;
  uint64_t counters[STAB_COUNTERS];
  uint32_t counted;
};
Reading begin;

int open_counter(uint64_t event) {
  perf_event_attr attributes = sys::event_attributes(PERF_TYPE_HARDWARE, event);
  attributes.exclude_kernel = 1;
  attributes.inherit = 1;
  const int fd = sys::open_event(attributes, 0, -1);
  if (fd < 0) return -1;
  const long high = sys::call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return fd;  // few descriptors are allowed
  sys::close(fd);
  return static_cast<int>(high);
}

uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  libc::read_clock(clock, &now);
  return sys::ns_of(now);
}

void read_counters(Reading& out) {
  out.counted = 0;
  for (int i = 0; i < kHardwareCounters; ++i) {
    out.counters[i] = 0;
    if (descriptors[i] == 0) continue;
    if (sys::read(descriptors[i] - 1, &out.counters[i], sizeof out.counters[i]) == sizeof out.counters[i])
      out.counted |= 1u << i;
  }
  rusage usage{};
  sys::call(SYS_getrusage, RUSAGE_SELF, sys::word(&usage));
  out.counters[STAB_PAGE_FAULTS] = static_cast<uint64_t>(usage.ru_minflt + usage.ru_majflt);
  out.counters[STAB_CONTEXT_SWITCHES] = static_cast<uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
  out.counted |= 1u << STAB_PAGE_FAULTS | 1u << STAB_CONTEXT_SWITCHES;
}

}  // namespace
}  // namespace stab::api

extern "C" {

int stab_rt_region_begin() {
  using namespace stab::api;
  const char* expected = nullptr;
  const char* self = &this_thread;
  if (!__atomic_compare_exchange_n(&owner, &expected, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return expected == self ? STAB_NESTED : STAB_OTHER_THREAD;
  if (!opened) {
    for (int i = 0; i < kHardwareCounters; ++i) descriptors[i] = open_counter(kEvents[i]) + 1;
    opened = true;
  }
  read_counters(begin);
  begin.layouts = stab_rt_epoch();
  begin.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  begin.wall_ns = clock_ns(CLOCK_MONOTONIC_RAW);  // last, as it is first at the end: our own reads stay outside
  return STAB_OK;
}

int stab_rt_region_end(stab_region* region, size_t bytes) {
  using namespace stab::api;
  const uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC_RAW);
  const uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const char* open_by = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);
  if (open_by == nullptr) return STAB_NOT_BEGUN;
  if (open_by != &this_thread) return STAB_OTHER_THREAD;
  Reading end;
  read_counters(end);
  stab_region now;
  memset(&now, 0, sizeof now);
  now.wall_ns = wall_ns - begin.wall_ns;
  now.cpu_ns = cpu_ns - begin.cpu_ns;
  now.layouts = stab_rt_epoch() - begin.layouts;
  now.counted = begin.counted & end.counted;
  for (int i = 0; i < STAB_COUNTERS; ++i)
    if ((now.counted >> i & 1) != 0) now.counters[i] = end.counters[i] - begin.counters[i];
  __atomic_store_n(&owner, static_cast<const char*>(nullptr), __ATOMIC_RELEASE);

  stab::RegionDose& dose = stab::control().region;
  stab::add(dose.regions);
  stab::add(dose.wall_ns, now.wall_ns);
  stab::add(dose.cpu_ns, now.cpu_ns);
  stab::add(dose.layouts, now.layouts);
  if (region != nullptr) {
    memset(region, 0, bytes);
    memcpy(region, &now, bytes < sizeof now ? bytes : sizeof now);
  }
  return STAB_OK;
}

}  // extern "C"
