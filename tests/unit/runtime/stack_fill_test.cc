// The pads that one epoch draws: their set of values, what the modes do, and how evenly they fill cache sets.
#include "runtime/stack/fill.h"

#include <gmock/gmock.h>

#include <set>
#include <vector>

namespace stab {
namespace {

using abi::StackMode;
using ::testing::Each;

abi::Settings wanted(StackMode mode, uint32_t range_bytes = 4096) {
  abi::Settings settings;
  settings.stack = mode;
  settings.stack_range_bytes = range_bytes;
  return settings;
}

LayoutRng epoch_rng(uint64_t epoch) { return LayoutRng(42, kRngStack, epoch); }

// Chi-square of counts against equal frequencies.
double chi_square(const std::vector<int>& counts) {
  double total = 0;
  for (int count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(FillPads, ZeroAndOffWriteZero) {
  for (StackMode mode : {StackMode::kZero, StackMode::kOff}) {
    std::vector<uint32_t> slots(100, 4080);
    LayoutRng rng = epoch_rng(0);
    EXPECT_EQ(fill_pads(slots.data(), 100, wanted(mode), rng), 0u);
    EXPECT_THAT(slots, Each(0u));
  }
}

TEST(FillPads, DrawsEveryMultipleOf16BelowAPage) {
  std::set<uint32_t> seen;
  for (uint64_t epoch = 0; epoch < 100; ++epoch) {
    std::vector<uint32_t> slots(100);
    LayoutRng rng = epoch_rng(epoch);
    fill_pads(slots.data(), 100, wanted(StackMode::kOn), rng);
    seen.insert(slots.begin(), slots.end());
  }
  EXPECT_EQ(seen.size(), 256u);
  EXPECT_EQ(*seen.rbegin(), 4080u);
  for (uint32_t pad : seen) EXPECT_EQ(pad % 16, 0u);
}

TEST(FillPads, OneFunctionHasOnePadInEveryBuild) {
  const std::vector<uint64_t> one = {11, 22, 33, 44}, two = {33, 99, 11};
  std::vector<std::vector<int>> counts(4, std::vector<int>(256));
  int equal_to_neighbour = 0;
  for (uint64_t epoch = 0; epoch < 20000; ++epoch) {
    std::vector<uint32_t> slots(4), others(3);
    LayoutRng rng = epoch_rng(epoch), again = epoch_rng(epoch);
    fill_pads_by_identity(slots.data(), 4, one.data(), wanted(StackMode::kOn), rng);
    fill_pads_by_identity(others.data(), 3, two.data(), wanted(StackMode::kOn), again);
    ASSERT_EQ(others[0], slots[2]);
    ASSERT_EQ(others[2], slots[0]);
    equal_to_neighbour += slots[0] == slots[1];
    for (size_t i = 0; i < 4; ++i) ++counts[i][slots[i] / 16];
  }
  // 255 degrees of freedom: the 0.9999 quantile is 347. Equal by chance: 78 of 20,000.
  for (const std::vector<int>& of_slot : counts) EXPECT_LT(chi_square(of_slot), 347);
  EXPECT_LT(equal_to_neighbour, 120);
  EXPECT_GT(equal_to_neighbour, 40);
}

TEST(FillPads, DrawsEveryMultipleOf16BelowTheRange) {
  for (uint32_t range_bytes = 16; range_bytes <= 4096; range_bytes *= 2) {
    std::set<uint32_t> seen;
    for (uint64_t epoch = 0; epoch < 100; ++epoch) {
      std::vector<uint32_t> slots(100, 4080);
      LayoutRng rng = epoch_rng(epoch);
      fill_pads(slots.data(), 100, wanted(StackMode::kOn, range_bytes), rng);
      seen.insert(slots.begin(), slots.end());
    }
    EXPECT_EQ(seen.size(), range_bytes / 16);
    EXPECT_EQ(*seen.rbegin(), range_bytes - 16);
  }
}

TEST(FillPads, RecursiveFunctionsStayUnpaddedAndKeepTheirMark) {
  std::vector<uint32_t> slots(64, abi::kPadRecursive);
  LayoutRng rng = epoch_rng(1);
  EXPECT_EQ(fill_pads(slots.data(), 64, wanted(StackMode::kOn), rng), 64u);
  EXPECT_THAT(slots, Each(abi::kPadRecursive));

  EXPECT_EQ(fill_pads(slots.data(), 64, wanted(StackMode::kRecursive), rng), 0u);
  EXPECT_GT(std::set<uint32_t>(slots.begin(), slots.end()).size(), 40u);
  for (uint32_t slot : slots) EXPECT_TRUE(slot & abi::kPadRecursive);
}

TEST(FillPads, HeldSlotsStayUnpaddedAlsoWhereRecursionIsPadded) {
  std::vector<uint32_t> slots(64, abi::kPadHeld);
  slots[1] |= abi::kPadRecursive;
  const std::vector<uint32_t> before = slots;
  LayoutRng rng = epoch_rng(1);
  for (const StackMode mode : {StackMode::kOn, StackMode::kRecursive}) {
    EXPECT_EQ(fill_pads(slots.data(), 64, wanted(mode), rng), 64u);
    EXPECT_EQ(slots, before);
  }
}

TEST(FillPads, TheNextEpochDrawsOthers) {
  std::vector<uint32_t> slots(200);
  LayoutRng first = epoch_rng(0), second = epoch_rng(1);
  fill_pads(slots.data(), 200, wanted(StackMode::kOn), first);
  const std::vector<uint32_t> before = slots;
  fill_pads(slots.data(), 200, wanted(StackMode::kOn), second);
  int changed = 0;
  for (size_t i = 0; i < slots.size(); ++i) changed += slots[i] != before[i];
  EXPECT_GT(changed, 190);  // 1 in 256 draws the same again
}

TEST(FillPads, AMarkDoesNotChangeTheOthersPads) {
  std::vector<uint32_t> plain(40), marked(40);
  marked[7] = abi::kPadRecursive;
  LayoutRng one = epoch_rng(3), other = epoch_rng(3);
  fill_pads(plain.data(), 40, wanted(StackMode::kOn), one);
  fill_pads(marked.data(), 40, wanted(StackMode::kOn), other);
  marked[7] = plain[7];
  EXPECT_EQ(plain, marked);
}

// 63 degrees of freedom: 99.99 % of uniform samples stay below 114.
constexpr double kLimit63 = 114;

TEST(FillPads, EachSlotIsUniformOverTheCacheSets) {
  constexpr int kEpochs = 6400;
  std::vector<std::vector<int>> sets(9, std::vector<int>(64));
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<uint32_t> slots(9);
    LayoutRng rng = epoch_rng(epoch);
    fill_pads(slots.data(), 9, wanted(StackMode::kOn), rng);
    for (size_t i = 0; i < 9; ++i) ++sets[i][slots[i] >> 6];
  }
  for (size_t i = 0; i < 9; ++i) EXPECT_LT(chi_square(sets[i]), kLimit63) << "slot " << i;
}

// Two functions' pads in one epoch say nothing about each other: their difference is uniform, too.
TEST(FillPads, SlotsAreIndependent) {
  constexpr int kEpochs = 6400;
  for (size_t a = 0; a < 9; ++a) {
    for (size_t b = a + 1; b < 9; ++b) {
      std::vector<int> sets(64);
      for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
        std::vector<uint32_t> slots(9);
        LayoutRng rng = epoch_rng(epoch);
        fill_pads(slots.data(), 9, wanted(StackMode::kOn), rng);
        ++sets[((slots[a] - slots[b]) >> 6) & 63];
      }
      EXPECT_LT(chi_square(sets), kLimit63) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace stab
