// The class table decides much of what the heap can do against bias; these are the rules of size_classes.h.
#include "runtime/heap/size_classes.h"

#include <cstdint>
#include <map>
#include <set>

#include "gtest/gtest.h"

namespace stab::heap {
namespace {

TEST(SizeClasses, NoStrideAbove512IsAMultipleOf128) {
  for (const uint16_t stride : kStrides) EXPECT_TRUE(stride <= 512 || stride % 128 != 0) << stride;
}

TEST(SizeClasses, ARequestFitsItsClassAndNoSmallerOne) {
  for (size_t bytes = 0; bytes <= kMaxSmall; ++bytes) {
    const int fits = class_of(bytes);
    ASSERT_LT(fits, kClasses);
    ASSERT_GE(size_class(fits).stride, bytes);
    ASSERT_TRUE(fits == 0 || size_class(fits - 1).stride < bytes);
  }
}

TEST(SizeClasses, WasteIsBounded) {
  // A request just above a class: at most 12.5 % above 128 for the nominal classes, plus a line.
  for (int i = 9; i < kClasses; ++i) {
    const double before = size_class(i - 1).stride;
    EXPECT_LT(size_class(i).stride, before * 1.3 + kLine) << i;
  }
}

// What waits in groups that aren't worth going on with is at most a quarter of the slots, or one of two or three.
TEST(SizeClasses, AGroupGoesOnWithAnEighthOrFourOfItsSlots) {
  for (int i = 0; i < kClasses; ++i) {
    const uint32_t slots = size_class(i).slots;
    const uint32_t enough = size_class(i).enough;
    EXPECT_GE(enough * 8, slots) << i;
    EXPECT_GE(enough * 4, std::min(slots, 16u)) << i;
    EXPECT_LE((enough - 1) * 8, std::max(2 * slots, 8u)) << i;
    EXPECT_TRUE(slots < 32 || enough == (slots + 7) / 8) << i;
  }
}

TEST(SizeClasses, GroupsFitTheirRunAndTheirWord) {
  for (int i = 0; i < kClasses; ++i) {
    const SizeClass& shape = size_class(i);
    EXPECT_EQ(shape.stride % kAlignment, 0u);
    EXPECT_GE(shape.slots, 1u);
    EXPECT_LE(shape.slots, kMaxSlots);
    EXPECT_GE(shape.groups, 1u);
    EXPECT_LE(shape.groups, kMaxGroups);
    EXPECT_TRUE(shape.slots == 1 || shape.slots * shape.stride <= group_bytes(shape.stride));
    EXPECT_LE(shape.groups * shape.pitch + shape.phase_lines * kLine, kRunBytes);
    // A gap behind slot 63 would alias slot 0 in the word of free slots.
    EXPECT_TRUE(shape.slots < kMaxSlots || shape.pitch == shape.slots * shape.stride) << shape.stride;
  }
}

TEST(SizeClasses, DivisionByMultiplicationIsExact) {
  for (int i = 0; i < kClasses; ++i) {
    const SizeClass& shape = size_class(i);
    for (uint32_t x = 0; x < kRunBytes; ++x) {
      ASSERT_EQ(divide(x, shape.per_stride), x / shape.stride) << shape.stride;
      ASSERT_EQ(divide(x, shape.per_pitch), x / shape.pitch) << shape.pitch;
      // How locate_start tells that nothing remains.
      ASSERT_EQ(x * shape.per_stride < shape.per_stride, x % shape.stride == 0) << x << " by " << shape.stride;
    }
  }
}

// Heads of one class in the runs of all phases: the L1 sets they can reach, and how evenly.
TEST(SizeClasses, HeadsOfEveryClassUpToAPageReachAll64Sets) {
  for (int i = 0; i < kClasses && size_class(i).stride <= kPage + kLine; ++i) {
    const SizeClass& shape = size_class(i);
    std::map<uint32_t, int> sets;
    for (uint32_t phase = 0; phase <= shape.phase_lines; ++phase)
      for (uint32_t group = 0; group < shape.groups; ++group)
        for (uint32_t slot = 0; slot < shape.slots; ++slot)
          ++sets[(phase * kLine + group * shape.pitch + slot * shape.stride) / kLine % 64];
    EXPECT_EQ(sets.size(), 64u) << "stride " << shape.stride;
    int least = 1 << 30, most = 0;
    for (const auto& [set, count] : sets) least = std::min(least, count), most = std::max(most, count);
    EXPECT_LE(most, 4 * least) << "stride " << shape.stride;
  }
}

// One run is enough for 256-byte objects, whatever its phase.
TEST(SizeClasses, OneRunOf256ByteObjectsReachesAll64Sets) {
  const SizeClass& shape = size_class(class_of(256));
  for (uint32_t phase = 0; phase <= shape.phase_lines; ++phase) {
    std::set<uint32_t> sets;
    for (uint32_t group = 0; group < shape.groups; ++group)
      for (uint32_t slot = 0; slot < shape.slots; ++slot)
        sets.insert((phase * kLine + group * shape.pitch + slot * shape.stride) / kLine % 64);
    EXPECT_EQ(sets.size(), 64u);
  }
}

// Two that did would do so in every layout: hot objects 16 slots of 256 bytes apart had more misses than others.
TEST(SizeClasses, HeadsOfAGroupShareNoL1Set) {
  for (int i = 0; i < kClasses && size_class(i).stride <= kPage; ++i) {
    const SizeClass& shape = size_class(i);
    if (shape.stride % kLine != 0) continue;
    std::set<uint32_t> sets;
    for (uint32_t slot = 0; slot < shape.slots; ++slot) sets.insert(slot * shape.stride / kLine % 64);
    EXPECT_EQ(sets.size(), shape.slots) << shape.stride;
  }
}

TEST(SizeClasses, ColoursAreBalancedWithinARun) {
  for (const size_t bytes : {128, 256, 384, 512}) {
    const SizeClass& shape = size_class(class_of(bytes));
    ASSERT_EQ(shape.stride, bytes);
    // Lines modulo the largest power of two that divides the stride: what the gap is there to vary.
    const uint32_t colours = (shape.stride & -shape.stride) / kLine;
    std::map<uint32_t, int> seen;
    for (uint32_t group = 0; group < shape.groups; ++group) ++seen[group * shape.pitch / kLine % colours];
    ASSERT_EQ(seen.size(), colours) << bytes;
    int least = 1 << 30, most = 0;
    for (const auto& [colour, count] : seen) least = std::min(least, count), most = std::max(most, count);
    EXPECT_LE(most - least, 1) << bytes;
  }
}

}  // namespace
}  // namespace stab::heap
