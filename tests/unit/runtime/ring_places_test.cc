// Where a word of a stack points to, among the rings of the executable and of libraries that come and go.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/helper/watched_process.h"

namespace stab::helper {
namespace {

// As a reader would look: one ring after the other.
SlotSet look_at_all(const RingPlace& program, const std::vector<RingPlace>& libraries, uint64_t word) {
  SlotSet slots = program.slot_of(word);
  for (const RingPlace& library : libraries) slots |= library.slot_of(word);
  return slots;
}

TEST(RingPlaces, FindsTheSlotWhateverTheOrderThatLibrariesComeIn) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    RingPlaces places;
    if (round % 3 != 0) places.program = {0x5555'0000'0000, 64 << 13, 1 << 13};
    std::vector<RingPlace> libraries;
    uint64_t at = 0x7f00'0000'0000;
    for (uint64_t i = random() % (code::kMaxLibraries + 1); i > 0; --i) {
      const uint64_t slot_bytes = (1 + random() % 9) << 12;
      libraries.push_back({at, (2 + random() % 62) * slot_bytes, slot_bytes});
      at += libraries.back().bytes + (random() % 3 << 12);
    }
    std::shuffle(libraries.begin(), libraries.end(), random);
    for (const RingPlace& library : libraries) places.add_library(library);
    for (int i = 0; i < 2000; ++i) {
      const bool near_program = random() % 5 == 0;
      const uint64_t begin = near_program ? 0x5555'0000'0000 : 0x7f00'0000'0000;
      const uint64_t bytes = near_program ? 65 << 13 : at - begin;
      const uint64_t word = begin - 64 + random() % (bytes + 128);
      ASSERT_EQ(places.slot_of(word), look_at_all(places.program, libraries, word)) << std::hex << word;
    }
    places.clear_libraries();
    EXPECT_EQ(places.slot_of(0x7f00'0000'0000), 0u);
  }
}

TEST(RingPlaces, FirstAndLastByteOfEachSlotAreItsOwn) {
  RingPlaces places;
  places.add_library({0x7f00'0020'0000, 4 << 12, 1 << 12});
  places.add_library({0x7f00'0000'0000, 4 << 12, 1 << 12});
  EXPECT_EQ(places.slot_of(0x7f00'0000'0fff), 1u);
  EXPECT_EQ(places.slot_of(0x7f00'0000'3fff), 8u);
  EXPECT_EQ(places.slot_of(0x7f00'0000'4000), 0u);
  EXPECT_EQ(places.slot_of(0x7f00'001f'ffff), 0u);
  EXPECT_EQ(places.slot_of(0x7f00'0020'0000), 1u);
  EXPECT_EQ(places.slot_of(0x7f00'0020'4000), 0u);
}

}  // namespace
}  // namespace stab::helper
