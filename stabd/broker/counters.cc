#include "stabd/broker/counters.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "stabd/host/roots.h"

namespace stab::broker {
namespace {

// Units of processors as the kernel names them: x86, hybrid x86, and what Arm and others call theirs.
constexpr const char* kProcessorUnits[] = {"cpu",         "cpu_core",      "cpu_atom",     "cpu_lowpower",
                                           "armv8_pmuv3", "armv8_pmuv3_0", "armv8_pmuv3_1"};

counters::EventSpec spec_of(const Counter& counter) {
  counters::EventSpec spec;
  spec.type = counter.type;
  spec.config = counter.config;
  spec.config1 = counter.config1;
  spec.config2 = counter.config2;
  spec.scope.kernel = !(counter.flags & Counter::kNoKernel);
  spec.scope.hypervisor = !(counter.flags & Counter::kNoHypervisor);
  spec.scope.guest = !(counter.flags & Counter::kNoGuest);
  return spec;
}

}  // namespace

bool may_be_counted(const Counter& counter, const std::string& sys) {
  switch (counter.type) {
    case PERF_TYPE_HARDWARE:
    case PERF_TYPE_HW_CACHE:
    case PERF_TYPE_RAW: return true;
    case PERF_TYPE_SOFTWARE:
      return counter.config <= PERF_COUNT_SW_EMULATION_FAULTS || counter.config == PERF_COUNT_SW_CGROUP_SWITCHES;
    case PERF_TYPE_TRACEPOINT:
    case PERF_TYPE_BREAKPOINT: return false;
    default: break;
  }
  return std::any_of(std::begin(kProcessorUnits), std::end(kProcessorUnits), [&](const char* unit) {
    const auto type = host::read_small_file(sys + "/bus/event_source/devices/" + unit + "/type");
    return type && host::to_integer(*type) == static_cast<long long>(counter.type);
  });
}

std::vector<counters::OpenedEvent> open_counters(const OpenCounters& request, pid_t pid, const std::string& sys,
                                                 counters::PerfCalls& perf) {
  std::vector<counters::PerfEvent> allowed;
  for (uint32_t i = 0; i < request.count; ++i) {
    const Counter& counter = request.counters[i];
    if (may_be_counted(counter, sys)) allowed.push_back({spec_of(counter), (counter.flags & Counter::kGrouped) != 0});
  }
  std::vector<counters::OpenedEvent> opened = perf.open_all(pid, -1, allowed);
  std::vector<counters::OpenedEvent> all(request.count);
  auto next = opened.begin();
  for (uint32_t i = 0; i < request.count; ++i) {
    if (may_be_counted(request.counters[i], sys)) all[i] = std::move(*next++);
    else all[i].refused = EACCES;
  }
  return all;
}

}  // namespace stab::broker
