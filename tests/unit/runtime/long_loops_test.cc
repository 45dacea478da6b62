// Loops of hand-made machine code, entered in one image and led to the next: what follows the lead point is gone from the
// image that they leave, so that a turn which stays in it ends the test.
#include "runtime/code/long_loops.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace stab::code {
namespace {

using Bytes = std::vector<uint8_t>;
using Following = LongLoops::Following;

// Text, flags and ring in the low 2 GiB, as a program at a fixed address has them.
class LongLoopsTest : public ::testing::Test {
 protected:
  static constexpr size_t kTextBytes = 4096, kFlagsBytes = 4096, kRing = kTextBytes + kFlagsBytes, kAllBytes = 1 << 20;
  static constexpr uint32_t kNear = 0, kShort = 1, kPlain = 2;
  static constexpr uint32_t kNearAt = 8, kShortAt = 9;

  void SetUp() override {
    void* memory = mmap(nullptr, kAllBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    base_ = static_cast<uint8_t*>(memory);
    // xor %eax, %eax; mov $5, %ecx; nop; 1: add $3, %eax; dec %ecx; jne 1b; ret
    functions_.push_back({0x31, 0xc0, 0xb9, 5, 0, 0, 0, 0x90, 0x05, 3, 0, 0, 0, 0xff, 0xc9, 0x75, 0xf7, 0xc3});
    // xor %eax, %eax; mov $5, %ecx; 1: inc %eax; dec %ecx; jne 1b; ret
    functions_.push_back({0x31, 0xc0, 0xb9, 5, 0, 0, 0, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xfa, 0xc3});
    // mov $7, %eax; ret
    functions_.push_back({0xb8, 7, 0, 0, 0, 0xc3});
    records_ = {{kNear, 0, 0, 1, abi::LoopStay::kNo}, {kShort, 1, 2, 1, abi::LoopStay::kNo}};
    points_ = {kNearAt, kShortAt | abi::kShortPoint};
    original_.assign(kTextBytes + 8, 0xcc);
    for (size_t i = 0; i < functions_.size(); ++i)
      std::memcpy(original_.data() + start_of(i), functions_[i].data(), functions_[i].size());
    std::memcpy(base_, original_.data(), kTextBytes);
    ASSERT_EQ(read(), MetadataFault::kNone);
    scratch_memory_.assign(scratch_bytes(code_) / 4 + 1, 0);
    scratch_ = bind_scratch(code_, scratch_memory_.data());
  }
  void TearDown() override { munmap(base_, kAllBytes); }

  static uint32_t start_of(size_t index) { return static_cast<uint32_t>(64 + 64 * index); }

  MetadataFault read() {
    abi::CodeHeader header{};
    std::memcpy(header.magic, abi::kCodeMagic, 8);
    header.version = abi::kCodeVersion;
    header.header_bytes = sizeof header;
    header.text_start = reinterpret_cast<uint64_t>(base_);
    header.text_bytes = kTextBytes;
    header.function_count = static_cast<uint32_t>(functions_.size());
    header.loop_words = static_cast<uint32_t>(1 + records_.size() * 3 + points_.size());
    section_.clear();
    append(&header, sizeof header);
    for (size_t i = 0; i < functions_.size(); ++i) {
      abi::CodeFunction f{};
      f.start = start_of(i);
      f.bytes = static_cast<uint32_t>(functions_[i].size());
      append(&f, sizeof f);
    }
    const uint32_t count = static_cast<uint32_t>(records_.size());
    append(&count, sizeof count);
    append(records_.data(), records_.size() * sizeof records_[0]);
    append(points_.data(), points_.size() * sizeof points_[0]);
    return read_metadata(section_.data(), section_.size(), code_);
  }
  void append(const void* bytes, size_t size) {
    const auto* from = static_cast<const uint8_t*>(bytes);
    section_.insert(section_.end(), from, from + size);
  }

  uint8_t* slot(uint32_t index) { return base_ + kRing + index * slot_bytes(code_); }
  uint8_t& executed(uint32_t index) { return base_[kTextBytes + index]; }
  uint64_t landings(uint32_t index) { return reinterpret_cast<uint64_t>(slot(index)) + landings_at(used_[index]); }

  // Builds an image there, publishes it, and returns where the function's body is.
  void move_to(uint32_t index, uint64_t number) {
    place_.slot = reinterpret_cast<uint64_t>(slot(index));
    place_.executed = reinterpret_cast<uint64_t>(&executed(index));
    place_.text = reinterpret_cast<uint64_t>(base_);
    LayoutRng rng(7, kRngCode, number);
    used_[index] = static_cast<uint32_t>(
        build_image(code_, original_.data(), place_, abi::CodeMode::kShuffle, rng, scratch_, slot(index)));
    ASSERT_LE(landings_at(used_[index]) + kLandingsBytes, slot_bytes(code_));
    publish(code_, scratch_, place_, original_.data(), base_);
    for (uint32_t i = 0; i < 3; ++i) body_[index][i] = scratch_.body[i];
    loops_.arrive(code_, index, place_, scratch_, slot(index), used_[index]);
  }
  void lead(uint32_t from, uint32_t to) {
    loops_.lead(code_, from, reinterpret_cast<uint64_t>(slot(from)), landings(to), slot(from));
  }
  // Nothing behind the point's jump is there any more.
  void cut(uint32_t index, uint32_t function, uint32_t from) {
    const uint32_t bytes = static_cast<uint32_t>(functions_[function].size());
    std::memset(slot(index) + body_[index][function] + from, 0xcc, bytes - from);
  }
  int enter(uint32_t index, uint32_t function) {
    return reinterpret_cast<int (*)()>(reinterpret_cast<uint64_t>(slot(index)) + body_[index][function])();
  }

  uint8_t* base_ = nullptr;
  std::vector<Bytes> functions_;
  std::vector<abi::LoopRecord> records_;
  std::vector<uint32_t> points_;
  Bytes original_, section_;
  Metadata code_;
  std::vector<uint32_t> scratch_memory_;
  ImageScratch scratch_;
  ImagePlace place_;
  uint32_t used_[8] = {}, body_[8][3] = {};
  LongLoops loops_;
};

TEST_F(LongLoopsTest, ALoopGoesOnInTheNewestImage) {
  EXPECT_EQ(loops_.follow(code_, kNear), Following::kBegun);
  EXPECT_EQ(loops_.follow(code_, kShort), Following::kBegun);
  EXPECT_EQ(loops_.follow(code_, kShort), Following::kKnown);
  move_to(0, 1);
  EXPECT_EQ(enter(0, kNear), 15);
  EXPECT_EQ(enter(0, kShort), 5);
  for (uint32_t newest = 1; newest < 8; ++newest) {
    move_to(newest, 1 + newest);
    for (uint32_t from = 0; from < newest; ++from) {
      lead(from, newest);
      cut(from, kNear, kNearAt + 5);
      cut(from, kShort, kShortAt + 2);
      executed(newest) = 0;
      EXPECT_EQ(enter(from, kNear), 15) << from << " to " << newest;
      EXPECT_EQ(executed(newest), 1);
      executed(newest) = 0;
      EXPECT_EQ(enter(from, kShort), 5) << from << " to " << newest;
      EXPECT_EQ(executed(newest), 1);
    }
  }
  EXPECT_EQ(loops_.summary().functions, 2u);
  EXPECT_EQ(loops_.summary().points, 2u);
  EXPECT_EQ(loops_.summary().unled_branches, 2u);
}

TEST_F(LongLoopsTest, OneThatIsFoundLaterIsLedFromWhereItWasFound) {
  move_to(0, 1);
  move_to(1, 2);
  EXPECT_EQ(loops_.follow(code_, kShort), Following::kBegun);
  loops_.note_body(kShort, 0, body_[0][kShort]);
  loops_.arrive(code_, 1, place_, scratch_, slot(1), used_[1]);
  lead(0, 1);
  cut(0, kShort, kShortAt + 2);
  EXPECT_EQ(enter(0, kShort), 5);
  EXPECT_EQ(executed(1), 1);
  EXPECT_EQ(enter(0, kNear), 15) << "which nobody follows";
}

TEST_F(LongLoopsTest, AnotherImageInTheSlotIsLeftAlone) {
  loops_.follow(code_, kNear);
  move_to(0, 1);
  move_to(1, 2);
  const Bytes before(slot(0), slot(0) + slot_bytes(code_));
  loops_.forget(0);
  lead(0, 1);
  EXPECT_EQ(Bytes(slot(0), slot(0) + slot_bytes(code_)), before);
}

TEST_F(LongLoopsTest, WhereverALoopIsTheUnwinderFindsItsPlace) {
  loops_.follow(code_, kNear);
  loops_.follow(code_, kShort);
  move_to(0, 1);
  move_to(1, 2);
  lead(0, 1);
  ImageEntry entry;
  for (uint32_t inside = 0; inside < 12; ++inside) {
    ASSERT_TRUE(find_executed(slot(1), landings_at(used_[1]) + inside, entry));
    EXPECT_EQ(entry.start, start_of(kNear));
    EXPECT_EQ(landings_at(used_[1]) + inside - entry.body, kNearAt);
  }
  ASSERT_TRUE(find_executed(slot(1), landings_at(used_[1]) + sizeof(Landing), entry));
  EXPECT_EQ(entry.start, start_of(kShort));
  EXPECT_EQ(landings_at(used_[1]) + sizeof(Landing) - entry.body, kShortAt);

  const uint32_t word = body_[0][kShort] + 16;
  EXPECT_FALSE(find_original(slot(0), word, entry));
  ASSERT_TRUE(find_executed(slot(0), word, entry));
  EXPECT_EQ(entry.start, start_of(kShort));
  EXPECT_EQ(word - entry.body, kShortAt);
  EXPECT_FALSE(find_executed(slot(1), body_[1][kShort] + 16, entry)) << "nobody is led away from the newest";
  ASSERT_TRUE(find_executed(slot(0), body_[0][kNear] + kNearAt, entry));
  EXPECT_EQ(entry.body, body_[0][kNear]);
}

// Functions are looked for by halves: as a look at each finds them, for every address of both images.
TEST_F(LongLoopsTest, EachAddressIsFoundAsByLookingAtAllFunctions) {
  loops_.follow(code_, kNear);
  loops_.follow(code_, kShort);
  move_to(0, 1);
  move_to(1, 2);
  lead(0, 1);
  for (uint32_t of = 0; of < 2; ++of) {
    const uint8_t* const image = slot(of);
    const auto* header = reinterpret_cast<const ImageHeader*>(image);
    const auto* entries = reinterpret_cast<const ImageEntry*>(image + sizeof *header);
    ASSERT_GT(header->entry_count, 2u);
    for (uint32_t i = 1; i < header->entry_count; ++i) ASSERT_LT(entries[i - 1].prefix, entries[i].prefix);
    uint32_t words = 0;
    for (uint32_t at = 0; at < landings_at(used_[of]); ++at) {
      const ImageEntry* last = nullptr;
      for (uint32_t i = 0; i < header->entry_count; ++i)
        if (entries[i].prefix <= at) last = &entries[i];
      const bool inside = last != nullptr && at < last->body + last->bytes;
      ImageEntry found;
      EXPECT_EQ(find_original(image, at, found), inside) << at;
      const bool is_found = find_executed(image, at, found);
      words += is_found && !inside;
      if (inside) {
        EXPECT_TRUE(is_found) << at;
      }
      if (is_found) {
        ASSERT_EQ(found.start, last->start) << at;
      }
      if (inside) {
        ASSERT_EQ(found.body, last->body) << at;
      }
    }
    EXPECT_EQ(words, of == 0 ? 1u : 0u) << "the short point's word, in the image that is led on";
  }
}

TEST_F(LongLoopsTest, SaysWhyItDoesNotLead) {
  EXPECT_EQ(loops_.follow(code_, kPlain), Following::kUnled);
  EXPECT_EQ(loops_.follow(code_, kPlain), Following::kUnled);
  EXPECT_EQ(loops_.summary().no_loop, 1u);
  records_[kNear] = {kNear, 0, 3, 0, abi::LoopStay::kHoldsTable};
  records_[kShort] = {kShort, 0, 1, 0, abi::LoopStay::kNo};
  points_.clear();
  ASSERT_EQ(read(), MetadataFault::kNone);
  EXPECT_EQ(loops_.follow(code_, kNear), Following::kUnled);
  EXPECT_EQ(loops_.follow(code_, kShort), Following::kUnled);
  EXPECT_EQ(loops_.summary().holds_table, 1u);
  EXPECT_EQ(loops_.summary().no_point, 1u);
  EXPECT_EQ(loops_.summary().functions, 0u);
}

TEST_F(LongLoopsTest, PointsWhereNoJumpFitsAreRefused) {
  const auto with = [this](uint32_t near_point, uint32_t short_point) {
    points_ = {near_point, short_point};
    return read();
  };
  const uint32_t near_end = static_cast<uint32_t>(functions_[kNear].size()), good = kShortAt | abi::kShortPoint;
  EXPECT_EQ(with(kNearAt, good), MetadataFault::kNone);
  EXPECT_EQ(with(kNearAt + 3, good), MetadataFault::kNone);
  EXPECT_EQ(with(kNearAt + 4, good), MetadataFault::kMalformed) << "across an aligned 8";
  EXPECT_EQ(with(near_end - 2, good), MetadataFault::kMalformed) << "over the end";
  EXPECT_EQ(with(0, good), MetadataFault::kMalformed) << "the entry is retired there";
  EXPECT_EQ(with(kNearAt, 7 | abi::kShortPoint), MetadataFault::kMalformed);
  EXPECT_EQ(with(kNearAt, 13 | abi::kShortPoint), MetadataFault::kMalformed);
  EXPECT_EQ(with(kNearAt, good), MetadataFault::kNone);
  records_[kShort].first_point = 2;
  EXPECT_EQ(read(), MetadataFault::kMalformed);
  records_[kShort] = {kPlain + 1, 1, 0, 1, abi::LoopStay::kNo};
  EXPECT_EQ(read(), MetadataFault::kMalformed);
}

}  // namespace
}  // namespace stab::code
