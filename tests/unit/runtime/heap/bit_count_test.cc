// The runtime's own count of bits against the compiler's.
#include "runtime/heap/bit_count.h"

#include <gtest/gtest.h>

#include <bit>

#include "runtime/heap/heap_draws.h"

namespace stab::heap {
namespace {

static_assert(bit_count(0) == 0 && bit_count(~uint64_t{0}) == 64 && bit_count(0x8000000000000001u) == 2);

TEST(BitCount, OfRunsOfOnesAnywhere) {
  for (int ones = 1; ones <= 64; ++ones)
    for (int shift = 0; shift + ones <= 64; ++shift)
      EXPECT_EQ(bit_count((~uint64_t{0} >> (64 - ones)) << shift), ones) << ones << " from bit " << shift;
}

TEST(BitCount, OfRandomWords) {
  Draws draws(1);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t word = i % 2 == 0 ? draws.word() : draws.word() & draws.word() & draws.word();
    ASSERT_EQ(bit_count(word), std::popcount(word)) << word;
  }
}

}  // namespace
}  // namespace stab::heap
