// Names of events against the kernel's own numbers and libpfm's, on a machine that may have none of the hardware.
#include "counters/events.h"

#include <gmock/gmock.h>
#include <linux/perf_event.h>

#include <set>

namespace stab::counters {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

EventSpec one(const std::string& name, const Scope& scope = {}) {
  const auto specs = resolve({name}, scope);
  EXPECT_TRUE(specs.ok()) << specs.error().message;
  return specs.ok() ? specs->at(0) : EventSpec{};
}

TEST(Events, SoftwareEventsAreTheKernelsNumbers) {
  EXPECT_EQ(one("task-clock").type, uint32_t{PERF_TYPE_SOFTWARE});
  EXPECT_EQ(one("task-clock").config, uint64_t{PERF_COUNT_SW_TASK_CLOCK});
  EXPECT_EQ(one("task-clock").unit, "ns");
  EXPECT_EQ(one("page-faults").config, uint64_t{PERF_COUNT_SW_PAGE_FAULTS});
  EXPECT_EQ(one("context-switches").config, uint64_t{PERF_COUNT_SW_CONTEXT_SWITCHES});
  EXPECT_EQ(one("cpu-migrations").config, uint64_t{PERF_COUNT_SW_CPU_MIGRATIONS});
  EXPECT_FALSE(one("page-faults").hardware);
}

TEST(Events, HardwareAndCacheEventsAreTheKernelsNumbers) {
  EXPECT_EQ(one("cycles").type, uint32_t{PERF_TYPE_HARDWARE});
  EXPECT_TRUE(one("cycles").hardware);
  EXPECT_EQ(one("instructions").config, uint64_t{PERF_COUNT_HW_INSTRUCTIONS});
  const EventSpec icache = one("L1-icache-load-misses");
  EXPECT_EQ(icache.type, uint32_t{PERF_TYPE_HW_CACHE});
  EXPECT_EQ(icache.config, 1u | 0u << 8 | 1u << 16);  // L1I, read, miss
  EXPECT_EQ(one("dTLB-store-misses").config, 3u | 1u << 8 | 1u << 16);
}

TEST(Events, RawNumbersAreHexadecimal) {
  EXPECT_EQ(one("r01c2").type, uint32_t{PERF_TYPE_RAW});
  EXPECT_EQ(one("r01c2").config, 0x1c2u);
  EXPECT_FALSE(resolve({"r"}).ok());
  EXPECT_FALSE(resolve({"rxyz"}).ok());
}

TEST(Events, LibpfmKnowsTheNamesOfItsPmus) {
  // "perf" is the PMU of the kernel's generic events and is always there.
  const EventSpec spec = one("perf::PERF_COUNT_SW_PAGE_FAULTS");
  EXPECT_TRUE(spec.available);
  EXPECT_EQ(spec.type, uint32_t{PERF_TYPE_SOFTWARE});
  EXPECT_EQ(spec.config, uint64_t{PERF_COUNT_SW_PAGE_FAULTS});
  EXPECT_THAT(spec.resolved, HasSubstr("perf::"));
  EXPECT_TRUE(one("perf::CYCLES").scope.kernel);
  EXPECT_FALSE(one("perf::CYCLES:u").scope.kernel);
}

TEST(Events, AnEventOfAnotherProcessorIsNotAvailableHere) {
  // Nobody runs this on either; libpfm4 knows processors of one architecture.
#if defined(__x86_64__)
  const EventSpec spec = one("netburst::TC_deliver_mode");
  EXPECT_THAT(spec.reason, HasSubstr("Pentium4"));
#else
  const EventSpec spec = one("arm_xgene::L1D_CACHE_REFILL");
  EXPECT_THAT(spec.reason, HasSubstr("X-Gene"));
#endif
  EXPECT_FALSE(spec.available);
}

TEST(Events, UnknownNamesAreErrors) {
  for (const char* name : {"cycels", "", "perf::NO_SUCH", "nopmu::CYCLES", "page faults"}) {
    const auto specs = resolve({"task-clock", name});
    ASSERT_FALSE(specs.ok()) << name;
    EXPECT_EQ(specs.error().code, ErrorCode::kBadInput);
  }
}

TEST(Events, WhatHappensInTheKernelCanNotBeCountedWithoutIt) {
  Scope user_only;
  user_only.kernel = false;
  EXPECT_FALSE(one("context-switches", user_only).available);
  EXPECT_THAT(one("cpu-migrations", user_only).reason, HasSubstr("counters.kernel"));
  EXPECT_TRUE(one("page-faults", user_only).available);
  EXPECT_TRUE(one("context-switches").available);
}

TEST(Events, ListedNamesResolveAndDiffer) {
  std::set<std::string_view> names;
  for (std::string_view name : known_events()) {
    EXPECT_TRUE(resolve({std::string(name)}).ok()) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_THAT(names, Contains("cycles"));
}

}  // namespace
}  // namespace stab::counters
