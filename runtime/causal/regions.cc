// The pure half of regions.h: tables.
#include "runtime/causal/regions.h"

#include "runtime/causal/clock.h"
#include "runtime/code/partition_point.h"

namespace stab::causal {
namespace {

bool is_before(const Range& range, uint32_t module, uint64_t address) {
  return range.module < module || (range.module == module && range.end <= address);
}

const char* fault_of_ranges(const Script& script, const Area& area) {
  for (uint32_t i = 0; i < script.range_count; ++i) {
    const Range& range = area.ranges[i];
    if (range.start >= range.end) return "a range ends before it starts";
    if (range.module >= script.module_count) return "a range is of a module that is not listed";
    if (range.region >= script.region_count) return "a range's region is not below region_count";
    if (i > 0 && !is_before(area.ranges[i - 1], range.module, range.start)) return "ranges are not sorted, or overlap";
  }
  return nullptr;
}

const char* fault_of_arms(const Script& script, const Area& area) {
  for (uint32_t i = 0; i < script.arm_count; ++i) {
    const Arm& arm = area.arms[i];
    if (arm.kind >= ArmKind::kCount) return "an arm's kind is not known";
    if (arm.speedup_permille > 1000) return "an arm's speedup is above 100 %";
    if (arm.kind == ArmKind::kBaseline && (arm.region != kNoRegion || arm.speedup_permille != 0))
      return "a baseline arm has a region or a speedup";
    if (arm.kind != ArmKind::kBaseline && (arm.region == kNoRegion || arm.region >= script.region_count))
      return "an arm's region is not below region_count";
  }
  return nullptr;
}

}  // namespace

const Range* find_range(const Range* ranges, uint32_t count, uint32_t module, uint64_t address) {
  const uint32_t at = code::partition_point(count, [&](uint32_t i) { return is_before(ranges[i], module, address); });
  if (at == count || ranges[at].module != module || ranges[at].start > address) return nullptr;
  return &ranges[at];
}

const char* fault_of(const Script& script, const Area& area) {
  for (size_t i = 0; i < sizeof kAreaMagic; ++i)
    if (script.magic[i] != kAreaMagic[i]) return "no causal area: its magic is another";
  if (script.version != kCausalVersion) return "a causal area of another version";
  if (script.header_bytes != sizeof(Area)) return "a causal area of another size";
  if (script.period_ns < 50'000 || script.period_ns > 100'000'000) return "period_ns is not from 50 us to 100 ms";
  if (script.window_ns < 1'000'000 || script.window_ns > 3'600'000'000'000) return "window_ns is not from 1 ms to 1 h";
  if (script.load_permille != 0 && (script.load_permille < 1000 || script.load_permille > kMostLoadPermille))
    return "load_permille is not 0, nor from 1000 to 100000";
  if (script.pauses >= Pauses::kCount) return "pauses is not known";
  if (script.module_count > kMaxModules || script.range_count > kMaxRanges || script.region_count > kMaxRegions ||
      script.arm_count > kMaxArms)
    return "a table is longer than its room";
  if (const char* fault = fault_of_ranges(script, area)) return fault;
  return fault_of_arms(script, area);
}

bool count_in(HistogramCell* cells, uint32_t module, uint64_t address, uint64_t times) {
  constexpr uint32_t kMostSteps = 256;
  const uint64_t key = (static_cast<uint64_t>(module) + 1) << 48 | (address & 0xffff'ffff'ffff);
  uint64_t hash = key * 0x9e3779b97f4a7c15u;
  uint32_t at = static_cast<uint32_t>(hash >> 40) & (kHistogramCells - 1);
  for (uint32_t i = 0; i < kMostSteps; ++i, at = (at + 1) & (kHistogramCells - 1)) {
    uint64_t found = look(cells[at].key);
    if (found == 0 && __atomic_compare_exchange_n(&cells[at].key, &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      found = key;
    if (found != key) continue;
    raise_by(cells[at].count, times);
    return true;
  }
  return false;
}

}  // namespace stab::causal
