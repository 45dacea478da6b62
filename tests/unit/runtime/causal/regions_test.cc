// Tables of a causal area: ranges, the histogram, what is refused in a script, the setting that names it.
#include "runtime/causal/regions.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "runtime/causal/clock.h"

namespace stab::causal {
namespace {

// Too large for a stack, and zeros as the laboratory's new file has them.
std::unique_ptr<Area> good_area() {
  auto area = std::make_unique<Area>();
  std::memset(static_cast<void*>(area.get()), 0, offsetof(Area, histogram));
  Script& script = area->script;
  std::memcpy(script.magic, kAreaMagic, sizeof script.magic);
  script.version = kCausalVersion;
  script.header_bytes = sizeof(Area);
  script.period_ns = 1'000'000;
  script.window_ns = 250'000'000;
  script.module_count = 2;
  script.range_count = 4;
  script.region_count = 3;
  script.arm_count = 2;
  area->ranges[0] = {0x100, 0x110, 0, 1};
  area->ranges[1] = {0x110, 0x120, 0, 2};
  area->ranges[2] = {0x200, 0x280, 0, 1};
  area->ranges[3] = {0x100, 0x180, 1, 0};
  area->arms[0] = {ArmKind::kBaseline, 0, 0, 0};
  area->arms[1] = {ArmKind::kSpeedup, 2, 500, 0};
  return area;
}

TEST(Ranges, AreFoundByModuleAndAddress) {
  const auto area = good_area();
  const auto find = [&](uint32_t module, uint64_t address) -> int {
    const Range* range = find_range(area->ranges, area->script.range_count, module, address);
    return range == nullptr ? -1 : static_cast<int>(range - area->ranges);
  };
  EXPECT_EQ(find(0, 0xff), -1);
  EXPECT_EQ(find(0, 0x100), 0);
  EXPECT_EQ(find(0, 0x10f), 0);
  EXPECT_EQ(find(0, 0x110), 1);
  EXPECT_EQ(find(0, 0x120), -1);
  EXPECT_EQ(find(0, 0x27f), 2);
  EXPECT_EQ(find(0, 0x280), -1);
  EXPECT_EQ(find(1, 0x100), 3);
  EXPECT_EQ(find(1, 0x180), -1);
  EXPECT_EQ(find(2, 0x100), -1);
  EXPECT_EQ(find_range(area->ranges, 0, 0, 0x100), nullptr);
}

TEST(Script, ThatIsGoodHasNoFault) { EXPECT_EQ(fault_of(*good_area()), nullptr); }

TEST(Script, IsRefusedWithTheReason) {
  const auto fault = [](void (*spoil)(Area&)) {
    const auto area = good_area();
    spoil(*area);
    const char* found = fault_of(*area);
    return std::string(found == nullptr ? "" : found);
  };
  EXPECT_NE(fault([](Area& a) { a.script.magic[0] = 'x'; }).find("magic"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { ++a.script.version; }).find("version"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { --a.script.header_bytes; }).find("size"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.script.period_ns = 0; }).find("period_ns"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.script.window_ns = 0; }).find("window_ns"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.script.pauses = Pauses::kCount; }).find("pauses"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.script.range_count = kMaxRanges + 1; }).find("longer than its room"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.ranges[1].start = 0x10f; }).find("overlap"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.ranges[3].module = 0; }).find("sorted"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.ranges[3].module = 2; }).find("not listed"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.ranges[0].region = 3; }).find("region_count"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.ranges[0].end = 0x100; }).find("ends before"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.arms[1].region = 0; }).find("region"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.arms[1].speedup_permille = 1001; }).find("100 %"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.arms[0].region = 1; }).find("baseline"), std::string::npos);
  EXPECT_NE(fault([](Area& a) { a.arms[0].kind = ArmKind::kCount; }).find("kind"), std::string::npos);
}

TEST(Histogram, CountsByModuleAndAddressUntilItIsFull) {
  auto cells = std::make_unique<HistogramCell[]>(kHistogramCells);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(count_in(cells.get(), 1, 0x1234));
  EXPECT_TRUE(count_in(cells.get(), 2, 0x1234));
  uint64_t total = 0, most = 0;
  for (uint32_t i = 0; i < kHistogramCells; ++i) {
    total += cells[i].count;
    most = std::max(most, cells[i].count);
  }
  EXPECT_EQ(total, 4u);
  EXPECT_EQ(most, 3u);
  for (uint32_t i = 0; i < kHistogramCells; ++i) cells[i].key = ~uint64_t{0};
  EXPECT_FALSE(count_in(cells.get(), 1, 0x1234));
}

TEST(CausalSetting, HasOneLengthWhateverThePath) {
  char text[kCausalSettingLength + 1];
  ASSERT_TRUE(encode_causal_setting("/proc/self/fd/7", text));
  EXPECT_EQ(std::strlen(text), kCausalSettingLength);
  EXPECT_EQ(std::string(text).substr(0, 6), "04,///");
  EXPECT_EQ(std::string(text).substr(kCausalSettingLength - 15), "/proc/self/fd/7");
  EXPECT_FALSE(encode_causal_setting("relative", text));
  EXPECT_FALSE(encode_causal_setting(("/" + std::string(kCausalPathLength, 'x')).c_str(), text));
}

}  // namespace
}  // namespace stab::causal
