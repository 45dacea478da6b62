// perf_event_open(2)'s generic events as one table. Names and numbers are Linux ABI.
#include "counters/kernel_events.h"

#include <linux/perf_event.h>


namespace stab::counters {
namespace {

constexpr uint64_t cache(uint64_t cache_id, uint64_t op, uint64_t result) {
  return cache_id | op << 8 | result << 16;
}
constexpr uint64_t kL1d = PERF_COUNT_HW_CACHE_L1D, kL1i = PERF_COUNT_HW_CACHE_L1I, kLlc = PERF_COUNT_HW_CACHE_LL,
                   kDtlb = PERF_COUNT_HW_CACHE_DTLB, kItlb = PERF_COUNT_HW_CACHE_ITLB,
                   kBpu = PERF_COUNT_HW_CACHE_BPU, kNode = PERF_COUNT_HW_CACHE_NODE;
constexpr uint64_t kRead = PERF_COUNT_HW_CACHE_OP_READ, kWrite = PERF_COUNT_HW_CACHE_OP_WRITE,
                   kPrefetch = PERF_COUNT_HW_CACHE_OP_PREFETCH;
constexpr uint64_t kAccess = PERF_COUNT_HW_CACHE_RESULT_ACCESS, kMiss = PERF_COUNT_HW_CACHE_RESULT_MISS;

constexpr KernelEvent software(std::string_view name, uint64_t config, bool in_kernel_only = false,
                               bool in_ns = false) {
  return {name, PERF_TYPE_SOFTWARE, config, false, in_kernel_only, in_ns};
}
constexpr KernelEvent hardware(std::string_view name, uint64_t config) {
  return {name, PERF_TYPE_HARDWARE, config, true, false, false};
}
constexpr KernelEvent caching(std::string_view name, uint64_t config) {
  return {name, PERF_TYPE_HW_CACHE, config, true, false, false};
}

constexpr KernelEvent kEvents[] = {
    software("task-clock", PERF_COUNT_SW_TASK_CLOCK, false, true),
    software("cpu-clock", PERF_COUNT_SW_CPU_CLOCK, false, true),
    software("page-faults", PERF_COUNT_SW_PAGE_FAULTS),
    software("faults", PERF_COUNT_SW_PAGE_FAULTS),
    software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN),
    software("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ),
    software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, true),
    software("cs", PERF_COUNT_SW_CONTEXT_SWITCHES, true),
    software("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true),
    software("migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true),
    software("cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES, true),
    software("alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS),
    software("emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS),

    hardware("cycles", PERF_COUNT_HW_CPU_CYCLES),
    hardware("cpu-cycles", PERF_COUNT_HW_CPU_CYCLES),
    hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS),
    hardware("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
    hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
    hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
    hardware("branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
    hardware("branch-misses", PERF_COUNT_HW_BRANCH_MISSES),
    hardware("bus-cycles", PERF_COUNT_HW_BUS_CYCLES),
    hardware("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
    hardware("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
    hardware("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES),

    caching("L1-dcache-loads", cache(kL1d, kRead, kAccess)),
    caching("L1-dcache-load-misses", cache(kL1d, kRead, kMiss)),
    caching("L1-dcache-stores", cache(kL1d, kWrite, kAccess)),
    caching("L1-dcache-store-misses", cache(kL1d, kWrite, kMiss)),
    caching("L1-dcache-prefetches", cache(kL1d, kPrefetch, kAccess)),
    caching("L1-dcache-prefetch-misses", cache(kL1d, kPrefetch, kMiss)),
    caching("L1-icache-loads", cache(kL1i, kRead, kAccess)),
    caching("L1-icache-load-misses", cache(kL1i, kRead, kMiss)),
    caching("LLC-loads", cache(kLlc, kRead, kAccess)),
    caching("LLC-load-misses", cache(kLlc, kRead, kMiss)),
    caching("LLC-stores", cache(kLlc, kWrite, kAccess)),
    caching("LLC-store-misses", cache(kLlc, kWrite, kMiss)),
    caching("LLC-prefetches", cache(kLlc, kPrefetch, kAccess)),
    caching("LLC-prefetch-misses", cache(kLlc, kPrefetch, kMiss)),
    caching("dTLB-loads", cache(kDtlb, kRead, kAccess)),
    caching("dTLB-load-misses", cache(kDtlb, kRead, kMiss)),
    caching("dTLB-stores", cache(kDtlb, kWrite, kAccess)),
    caching("dTLB-store-misses", cache(kDtlb, kWrite, kMiss)),
    caching("iTLB-loads", cache(kItlb, kRead, kAccess)),
    caching("iTLB-load-misses", cache(kItlb, kRead, kMiss)),
    caching("branch-loads", cache(kBpu, kRead, kAccess)),
    caching("branch-load-misses", cache(kBpu, kRead, kMiss)),
    caching("node-loads", cache(kNode, kRead, kAccess)),
    caching("node-load-misses", cache(kNode, kRead, kMiss)),
    caching("node-stores", cache(kNode, kWrite, kAccess)),
    caching("node-store-misses", cache(kNode, kWrite, kMiss)),
};

}  // namespace

std::optional<KernelEvent> kernel_event(std::string_view name) {
  for (const KernelEvent& event : kEvents)
    if (event.name == name) return event;
  return std::nullopt;
}

std::vector<std::string_view> kernel_event_names() {
  std::vector<std::string_view> names;
  for (const KernelEvent& event : kEvents) names.push_back(event.name);
  return names;
}

}  // namespace stab::counters
