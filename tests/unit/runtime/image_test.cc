// Images are built from hand-made machine code and then executed: a fix-up that is off by one byte crashes or
// returns another number.
#include "runtime/code/image.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/code/pointers.h"
#include "runtime/code/stayers.h"

namespace stab::code {
namespace {

using Bytes = std::vector<uint8_t>;

// One function of the program under test.
struct Piece {
  Bytes bytes;
  std::vector<abi::DirectedFixup> directed;
  std::vector<uint16_t> fixed;
  uint8_t flags = 0;
  abi::Immovable immovable = abi::Immovable::kNo;
  uint32_t start = 0;  // filled in
};

abi::DirectedFixup directed(abi::FixupKind kind, uint32_t at, uint32_t target) {
  return {at, static_cast<uint32_t>(kind) << 30 | target};
}

void put32(Bytes& bytes, size_t at, uint64_t value) {
  const uint32_t low = static_cast<uint32_t>(value);
  std::memcpy(bytes.data() + at, &low, 4);
}

// Text, data and ring in the low 2 GiB, as a program at a fixed address has them.
class ImageTest : public ::testing::Test {
 protected:
  static constexpr size_t kTextBytes = 4096;
  static constexpr size_t kDataBytes = 4096;
  static constexpr size_t kRingBytes = 1 << 20;
  static constexpr size_t kData = kTextBytes;
  static constexpr size_t kRing = kTextBytes + kDataBytes;

  void SetUp() override {
    const size_t bytes = kTextBytes + kDataBytes + kRingBytes;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    base_ = static_cast<uint8_t*>(memory);
    original_.assign(kTextBytes + 8, 0xcc);
  }
  void TearDown() override { munmap(base_, kTextBytes + kDataBytes + kRingBytes); }

  uint64_t address(size_t offset) const { return reinterpret_cast<uint64_t>(base_) + offset; }
  uint64_t text_of(size_t index) const { return address(pieces_[index].start); }

  // The program: seven functions, as the comments say; `start_skew` moves their starts off 16.
  void make_program(uint32_t start_skew = 0) {
    int32_t value = 1000;
    std::memcpy(base_ + kData, &value, 4);
    pieces_.resize(kCount);
    // caller: call doubled; add $1, %eax; ret
    pieces_[kCaller].bytes = {0xe8, 0, 0, 0, 0, 0x83, 0xc0, 1, 0xc3};
    pieces_[kCaller].directed = {directed(abi::FixupKind::kPcFunction, 1, kLoads)};
    // loads: mov data(%rip), %eax; ret
    pieces_[kLoads].bytes = {0x8b, 0x05, 0, 0, 0, 0, 0xc3};
    pieces_[kLoads].fixed = {2};
    // pushes: push %rbp; pop %rbp; nop; jmp caller      (its first instruction is one byte long)
    pieces_[kPushes].bytes = {0x55, 0x5d, 0x90, 0xe9, 0, 0, 0, 0};
    pieces_[kPushes].directed = {directed(abi::FixupKind::kPcFunction, 4, kCaller)};
    pieces_[kPushes].flags = abi::kFrontNop;
    // selects_relative: lea table(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax; jmp *%rax;
    //                   mov $11, %eax; ret; mov $22, %eax; ret
    pieces_[kSelectsRelative].bytes = {0x48, 0x8d, 0x15, 0, 0, 0, 0, 0x48, 0x63, 0x04, 0xba, 0x48, 0x01,
                                       0xd0, 0xff, 0xe0, 0xb8, 11, 0, 0, 0, 0xc3, 0xb8, 22, 0, 0, 0, 0xc3};
    pieces_[kSelectsRelative].directed = {directed(abi::FixupKind::kPcTable, 3, 0)};
    // selects_absolute: jmp *table(,%rdi,8); mov $33, %eax; ret; mov $44, %eax; ret
    pieces_[kSelectsAbsolute].bytes = {0xff, 0x24, 0xfd, 0, 0, 0, 0, 0xb8, 33, 0, 0, 0, 0xc3, 0xb8, 44, 0, 0, 0, 0xc3};
    pieces_[kSelectsAbsolute].directed = {directed(abi::FixupKind::kAbsTable, 3, 1)};
    // where: lea 0(%rip), %rax; ret                (a reference inside the body: no fix-up)
    pieces_[kWhere].bytes = {0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3};
    // fixed: never moves; mov $55, %eax; ret
    pieces_[kStays].bytes = {0xb8, 55, 0, 0, 0, 0xc3};
    pieces_[kStays].immovable = abi::Immovable::kForeign;
    // calls_fixed: jmp stays
    pieces_[kCallsStays].bytes = {0xe9, 0, 0, 0, 0};
    pieces_[kCallsStays].fixed = {1};

    uint32_t start = 64;
    for (Piece& piece : pieces_) {
      piece.start = start + start_skew;
      start += 64;
    }
    relative_table_ = address(kData + 64);
    absolute_table_ = address(kData + 128);
    link(kCaller, 1, text_of(kLoads));
    link(kLoads, 2, address(kData));
    link(kPushes, 4, text_of(kCaller));
    link(kSelectsRelative, 3, relative_table_);
    put32(pieces_[kSelectsAbsolute].bytes, 3, absolute_table_);
    link(kCallsStays, 1, text_of(kStays));
    for (uint32_t i = 0; i < 2; ++i) {
      const int32_t relative = static_cast<int32_t>(text_of(kSelectsRelative) + 16 + i * 6 - relative_table_);
      std::memcpy(base_ + kData + 64 + i * 4, &relative, 4);
      const uint64_t absolute = text_of(kSelectsAbsolute) + 7 + i * 6;
      std::memcpy(base_ + kData + 128 + i * 8, &absolute, 8);
    }
    for (const Piece& piece : pieces_)
      std::memcpy(original_.data() + piece.start, piece.bytes.data(), piece.bytes.size());
    std::memcpy(base_, original_.data(), kTextBytes);
    write_metadata();
  }

  void link(size_t index, uint32_t at, uint64_t target) {
    put32(pieces_[index].bytes, at, target - (text_of(index) + at + 4));
  }

  void write_metadata() {
    abi::CodeHeader header{};
    std::memcpy(header.magic, abi::kCodeMagic, 8);
    header.version = abi::kCodeVersion;
    header.header_bytes = sizeof header;
    header.text_start = address(0);
    header.text_bytes = kTextBytes;
    header.function_count = kCount;
    header.table_count = 2;
    header.target_count = 4;
    std::vector<abi::CodeFunction> functions;
    std::vector<abi::DirectedFixup> all_directed;
    std::vector<uint16_t> all_fixed;
    for (const Piece& piece : pieces_) {
      abi::CodeFunction f{};
      f.start = piece.start;
      f.bytes = static_cast<uint32_t>(piece.bytes.size());
      f.first_directed = static_cast<uint32_t>(all_directed.size());
      f.directed_count = static_cast<uint32_t>(piece.directed.size());
      f.first_fixed = static_cast<uint32_t>(all_fixed.size());
      f.fixed_count = static_cast<uint32_t>(piece.fixed.size());
      f.immovable = piece.immovable;
      f.flags = piece.flags;
      const size_t index = functions.size();
      if (index == kSelectsRelative) f.first_table = 0, f.table_count = 1;
      if (index == kSelectsAbsolute) f.first_table = 1, f.table_count = 1;
      all_directed.insert(all_directed.end(), piece.directed.begin(), piece.directed.end());
      all_fixed.insert(all_fixed.end(), piece.fixed.begin(), piece.fixed.end());
      functions.push_back(f);
    }
    header.directed_count = static_cast<uint32_t>(all_directed.size());
    header.fixed_count = static_cast<uint32_t>(all_fixed.size());
    const abi::CodeTable tables[2] = {{relative_table_, 0, 2, abi::TableKind::kRelative32, {}},
                                      {absolute_table_, 2, 2, abi::TableKind::kAbsolute64, {}}};
    const uint32_t targets[4] = {16, 22, 7, 13};
    section_.clear();
    append(&header, sizeof header);
    append(functions.data(), functions.size() * sizeof functions[0]);
    append(tables, sizeof tables);
    append(targets, sizeof targets);
    append(all_directed.data(), all_directed.size() * sizeof all_directed[0]);
    append(all_fixed.data(), all_fixed.size() * sizeof all_fixed[0]);
    ASSERT_EQ(read_metadata(section_.data(), section_.size(), code_), MetadataFault::kNone);
    scratch_memory_.assign(scratch_bytes(code_) / 4 + 1, 0);
    scratch_ = bind_scratch(code_, scratch_memory_.data());
  }
  void append(const void* bytes, size_t size) {
    const auto* from = static_cast<const uint8_t*>(bytes);
    section_.insert(section_.end(), from, from + size);
  }

  uint64_t bytes_of_slot() const { return slot_bytes(code_, scratch_.script, scratch_.frames.total); }
  uint8_t* slot(int index) { return base_ + kRing + static_cast<size_t>(index) * bytes_of_slot(); }
  uint8_t& executed(int index) { return base_[kData + 512 + index]; }

  void move_to(int index, abi::CodeMode mode, uint64_t number) {
    ImagePlace& place = newest_;
    place.slot = reinterpret_cast<uint64_t>(slot(index));
    place.executed = reinterpret_cast<uint64_t>(&executed(index));
    place.text = address(0);
    place.bias = 0;
    LayoutRng rng(7, kRngCode, number);
    const uint64_t used = build_image(code_, original_.data(), place, mode, rng, scratch_, slot(index));
    EXPECT_LE(used, bytes_of_slot());
    publish(code_, scratch_, place, original_.data(), base_);
  }

  long call(size_t index, long argument = 0) {
    return reinterpret_cast<long (*)(long)>(text_of(index))(argument);
  }
  void expect_right_results() {
    EXPECT_EQ(call(kCaller) & 0xffffffff, 1001);
    EXPECT_EQ(call(kLoads) & 0xffffffff, 1000);
    EXPECT_EQ(call(kPushes) & 0xffffffff, 1001);
    EXPECT_EQ(call(kSelectsRelative, 0), 11);
    EXPECT_EQ(call(kSelectsRelative, 1), 22);
    EXPECT_EQ(call(kSelectsAbsolute, 0), 33);
    EXPECT_EQ(call(kSelectsAbsolute, 1), 44);
    EXPECT_EQ(call(kStays), 55);
    EXPECT_EQ(call(kCallsStays), 55);
  }

  enum { kCaller, kLoads, kPushes, kSelectsRelative, kSelectsAbsolute, kWhere, kStays, kCallsStays, kCount };
  uint8_t* base_ = nullptr;
  Bytes original_;
  std::vector<Piece> pieces_;
  uint64_t relative_table_ = 0, absolute_table_ = 0;
  Bytes section_;
  Metadata code_;
  std::vector<uint32_t> scratch_memory_;
  ImageScratch scratch_;
  ImagePlace newest_;
  LayoutScript script_;
};

TEST_F(ImageTest, OriginalWorks) {
  make_program();
  expect_right_results();
  EXPECT_EQ(static_cast<uint64_t>(call(kWhere)), text_of(kWhere) + 7);
}

TEST_F(ImageTest, EveryModeComputesTheSame) {
  make_program();
  for (abi::CodeMode mode : {abi::CodeMode::kCopy, abi::CodeMode::kOnce, abi::CodeMode::kShuffle, abi::CodeMode::kPad})
    for (uint64_t number = 0; number < 50; ++number) {
      move_to(0, mode, number);
      expect_right_results();
      EXPECT_GE(static_cast<uint64_t>(call(kWhere)), reinterpret_cast<uint64_t>(slot(0)));
    }
}

TEST_F(ImageTest, EntriesOffSixteenKeepTheirAlignment) {
  for (uint32_t skew : {1u, 2u, 3u, 8u}) {
    make_program(skew);
    move_to(0, abi::CodeMode::kShuffle, skew);
    expect_right_results();
    for (uint32_t i = 0; i < scratch_.order_count; ++i) {
      const uint32_t index = scratch_.order[i];
      EXPECT_EQ(scratch_.body[index] % 16, pieces_[index].start % 16);
      EXPECT_EQ(scratch_.entry[index] % 2, 0u);
    }
  }
}

LayoutScript read_script(const Metadata& code, const std::string& text) {
  LayoutScript script;
  EXPECT_EQ(parse_script(text.data(), text.size(), script).fault, ScriptFault::kNone) << text;
  const auto nameless = [](const void*, uint32_t) -> const char* { return nullptr; };
  EXPECT_EQ(bind_script(code, nameless, nullptr, script).fault, ScriptFault::kNone) << text;
  return script;
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(value));
  return text;
}

TEST_F(ImageTest, PlacedFunctionsStartAtTheirLevels) {
  for (const uint32_t skew : {0u, 1u, 3u, 8u}) {
    SCOPED_TRACE(skew);
    make_program(skew);
    const std::string text = "stab-script 1 any\nplace " + hex(text_of(kPushes)) + " mod 64 0 16 32 48\nplace " +
                             hex(text_of(kLoads)) + " mod 4096 2032 16 4080\nplace " + hex(text_of(kWhere)) + " mod 32 16\n";
    script_ = read_script(code_, text);
    follow_script(script_, scratch_);
    std::map<uint32_t, int> pushes, loads;
    std::set<uint32_t> others;
    for (uint32_t image = 0; image < 24; ++image) {
      draw_levels(7, image, scratch_);
      move_to(0, abi::CodeMode::kDesign, image);
      expect_right_results();
      const auto residue = [this](size_t index, uint32_t modulus) {
        return (scratch_.body[index] - pieces_[index].start % 16) % modulus;
      };
      EXPECT_EQ(residue(kPushes, 64), level_of(script_.placed[0], 7, image));
      EXPECT_EQ(residue(kLoads, 4096), level_of(script_.placed[1], 7, image));
      EXPECT_EQ(residue(kWhere, 32), 16u);
      ++pushes[residue(kPushes, 64)];
      ++loads[residue(kLoads, 4096)];
      others.insert(scratch_.body[kCaller]);
    }
    EXPECT_EQ(pushes, (std::map<uint32_t, int>{{0, 6}, {16, 6}, {32, 6}, {48, 6}}));
    EXPECT_EQ(loads, (std::map<uint32_t, int>{{16, 8}, {2032, 8}, {4080, 8}}));
    EXPECT_GT(others.size(), 20u);  // shuffled as ever
  }
}

TEST_F(ImageTest, FunctionsBeginWhereTheirIdentitiesSay) {
  std::vector<uint64_t> identities;
  // Where kPushes and kLoads begin in 40 images, if these are the identities of all functions.
  const auto residues = [&] {
    make_program();
    code_.identities = identities.data();
    EXPECT_EQ(follow_identities(code_, scratch_), scratch_.order_count * uint64_t{kLeastIdentityModulus});
    std::map<size_t, std::vector<uint32_t>> out;
    for (uint32_t image = 0; image < 40; ++image) {
      draw_levels(7, image, scratch_);
      move_to(0, abi::CodeMode::kOnce, image);
      expect_right_results();
      for (const size_t index : {size_t{kPushes}, size_t{kLoads}})
        out[index].push_back((scratch_.body[index] - pieces_[index].start % 16) % kLeastIdentityModulus);
    }
    return out;
  };
  make_program();
  identities.resize(pieces_.size());
  for (size_t i = 0; i < identities.size(); ++i) identities[i] = 1000 + 17 * i;
  const auto first = residues();
  std::swap(identities[kPushes], identities[kLoads]);
  const auto swapped = residues();
  EXPECT_EQ(first.at(kPushes), swapped.at(kLoads));
  EXPECT_EQ(first.at(kLoads), swapped.at(kPushes));
  EXPECT_NE(first.at(kLoads), first.at(kPushes));
  EXPECT_EQ(std::set<uint32_t>(first.at(kPushes).begin(), first.at(kPushes).end()), (std::set<uint32_t>{0, 16, 32, 48}));
}

// kWhere returns the address of kLoads, which is all that the list says.
class PointersTest : public ImageTest {
 protected:
  void make() {
    make_program();
    // lea loads(%rip), %rax; ret
    link(kWhere, 3, text_of(kLoads));
    pieces_[kWhere].fixed = {3};
    std::memcpy(original_.data() + pieces_[kWhere].start, pieces_[kWhere].bytes.data(), pieces_[kWhere].bytes.size());
    std::memcpy(base_, original_.data(), kTextBytes);
    write_metadata();
    slots_ = {{kData + 256, kLoads, 0}, {kData + 264, kWhere, 0}};
    fields_ = {{kWhere, 3, kLoads}};
  }

  bool read() {
    list_.clear();
    const abi::PointerCounts counts{static_cast<uint32_t>(slots_.size()), static_cast<uint32_t>(fields_.size())};
    const auto append = [this](const void* from, size_t bytes) {
      const auto* const at = static_cast<const uint8_t*>(from);
      list_.insert(list_.end(), at, at + bytes);
    };
    append(&counts, sizeof counts);
    append(slots_.data(), slots_.size() * sizeof slots_[0]);
    append(fields_.data(), fields_.size() * sizeof fields_[0]);
    return read_pointers(code_, list_.data(), list_.size(), pointers_);
  }

  std::vector<abi::PointerSlot> slots_;
  std::vector<abi::PointerField> fields_;
  Bytes list_;
  Pointers pointers_;
};

TEST_F(PointersTest, CodeMakesTheAddressOfTheCopy) {
  make();
  ASSERT_TRUE(read());
  for (uint64_t number = 0; number < 20; ++number) {
    move_to(0, abi::CodeMode::kDirect, number);
    EXPECT_EQ(static_cast<uint64_t>(call(kWhere)), text_of(kLoads)) << "as long as nobody leads it";
    lead_fields(code_, pointers_, newest_, scratch_, slot(0));
    const auto made = static_cast<uint64_t>(call(kWhere));
    EXPECT_EQ(made, newest_.slot + scratch_.body[kLoads]);
    EXPECT_EQ(made % 16, text_of(kLoads) % 16) << "aligned as the original";
    EXPECT_EQ(reinterpret_cast<int (*)()>(made)(), 1000);
    expect_right_results();
  }
}

TEST_F(PointersTest, OriginalsMakeTheAddressOfTheCopyToo) {
  make();
  ASSERT_TRUE(read());
  move_to(0, abi::CodeMode::kDirect, 1);
  Bytes text = original_;
  lead_original_fields(code_, pointers_, newest_, scratch_, text.data());
  const uint32_t at = pieces_[kWhere].start + 3;
  int32_t distance = 0;
  std::memcpy(&distance, text.data() + at, sizeof distance);
  EXPECT_EQ(text_of(kWhere) + 7 + static_cast<uint64_t>(int64_t{distance}), newest_.slot + scratch_.body[kLoads]);
  std::memcpy(text.data() + at, original_.data() + at, sizeof distance);
  EXPECT_EQ(text, original_) << "nothing else is written";
}

TEST_F(PointersTest, CountedFunctionsAreEnteredByTheirCount) {
  make();
  ASSERT_TRUE(read());
  script_ = read_script(code_, "stab-script 1 any\ncount " + hex(text_of(kLoads)) + "\n");
  follow_script(script_, scratch_);
  EXPECT_TRUE(is_counted(scratch_, kLoads));
  EXPECT_FALSE(is_counted(scratch_, kWhere));
  scratch_.entry[kLoads] = 48;
  scratch_.body[kLoads] = 64;
  EXPECT_EQ(landing_of(scratch_, kLoads), 48u);
}

TEST_F(PointersTest, WhatCantBeIsNotRead) {
  make();
  ASSERT_TRUE(read());
  EXPECT_EQ(pointers_.slot_count, 2u);
  EXPECT_EQ(pointers_.field_count, 1u);
  const auto is_read = [this](const abi::PointerSlot& slot, const abi::PointerField& field) {
    slots_ = {slot};
    fields_ = {field};
    return read();
  };
  const abi::PointerSlot slot{kData, kLoads, 0};
  const abi::PointerField field{kWhere, 3, kLoads};
  EXPECT_TRUE(is_read(slot, field));
  EXPECT_FALSE(is_read({kData, kStays, 0}, field)) << "it never moves";
  EXPECT_FALSE(is_read({kData, kCount, 0}, field)) << "there is none";
  EXPECT_FALSE(is_read(slot, {kStays, 1, kLoads}));
  EXPECT_FALSE(is_read(slot, {kWhere, 3, kStays}));
  EXPECT_FALSE(is_read(slot, {kWhere, 5, kLoads})) << "it leaves the function";
  EXPECT_FALSE(is_read(slot, {kWhere, 0xffffffff, kLoads}));
  fields_ = {field};
  slots_ = {{kData + 8, kLoads, 0}, {kData + 4, kLoads, 0}};
  EXPECT_FALSE(read()) << "they overlap";
  slots_ = {slot};
  ASSERT_TRUE(read());
  EXPECT_FALSE(read_pointers(code_, list_.data(), list_.size() - 1, pointers_)) << "cut short";
  EXPECT_FALSE(read_pointers(code_, list_.data(), 4, pointers_));
}

TEST_F(ImageTest, AFileWithoutIdentitiesIsPlacedAsEver) {
  make_program();
  EXPECT_EQ(follow_identities(code_, scratch_), 0u);
  EXPECT_EQ(scratch_.identities, nullptr);
}

TEST_F(ImageTest, TheRestLiesStillWhereTheScriptSaysSo) {
  make_program();
  script_ = read_script(code_, "stab-script 1 any\nrest still\nplace " + hex(text_of(kLoads)) + " mod 64 0 16 32 48\nplace " +
                                   hex(text_of(kCaller)) + " mod 64 0 32\n");
  follow_script(script_, scratch_);
  std::set<uint32_t> still, placed, bodies;
  for (uint32_t image = 0; image < 40; ++image) {
    draw_levels(7, image, scratch_);
    move_to(0, abi::CodeMode::kDesign, image);
    expect_right_results();
    still.insert(scratch_.body[kWhere]);
    placed.insert(scratch_.body[kLoads] % 64);
    bodies.insert(scratch_.body[kLoads]);
    EXPECT_GT(scratch_.body[kLoads], scratch_.body[kCallsStays]);
  }
  EXPECT_EQ(still.size(), 1u);
  EXPECT_EQ(placed.size(), 4u);
  EXPECT_GT(bodies.size(), 6u);
}

TEST_F(ImageTest, CallsOfACountedFunctionAreCountedFromWherever) {
  for (const uint32_t skew : {0u, 1u, 2u, 3u}) {
    SCOPED_TRACE(skew);
    make_program(skew);
    script_ = read_script(code_, "stab-script 1 any\ncount " + hex(text_of(kPushes)) + "\ncount " + hex(text_of(kLoads)) + "\n");
    follow_script(script_, scratch_);
    auto* const cells = reinterpret_cast<EntryCell*>(base_ + kData + 1024);
    cells[0].visits = cells[1].visits = 0;
    newest_.entries = reinterpret_cast<uint64_t>(cells);
    uint64_t pushes = 0, loads = 0;
    int number = 0;
    for (const abi::CodeMode mode : {abi::CodeMode::kCopy, abi::CodeMode::kOnce, abi::CodeMode::kShuffle, abi::CodeMode::kPad}) {
      move_to(number % 2, mode, static_cast<uint64_t>(number));
      const auto pushes_here = reinterpret_cast<long (*)(long)>(slot(number % 2) + scratch_.entry[kPushes]);
      EXPECT_EQ(scratch_.entry[kPushes] % 2, 0u);
      EXPECT_EQ(scratch_.body[kPushes] % 16, pieces_[kPushes].start % 16);
      expect_right_results();  // loads by itself, by caller, and by pushes
      pushes += 1, loads += 3;
      EXPECT_EQ(cells[0].visits, pushes);
      EXPECT_EQ(cells[1].visits, loads);
      // A call from inside of the image, and one that finds it retired: once each.
      EXPECT_EQ(pushes_here(0) & 0xffffffff, 1001);
      move_to((number + 1) % 2, mode, 100 + static_cast<uint64_t>(number));
      retire(slot(number % 2));
      EXPECT_EQ(pushes_here(0) & 0xffffffff, 1001);
      pushes += 2, loads += 2;
      EXPECT_EQ(cells[0].visits, pushes);
      EXPECT_EQ(cells[1].visits, loads);
      ++number;
    }
  }
}

TEST_F(ImageTest, FirstEntrySetsExecuted) {
  make_program();
  move_to(0, abi::CodeMode::kShuffle, 1);
  EXPECT_EQ(executed(0), 0);
  call(kStays);
  EXPECT_EQ(executed(0), 0);
  call(kLoads);
  EXPECT_EQ(executed(0), 1);
  expect_right_results();
}

TEST_F(ImageTest, CallsInsideARetiredImageReachTheNewest) {
  make_program();
  move_to(0, abi::CodeMode::kShuffle, 1);
  // A frame that still runs in image 0 calls its own copies there.
  const auto in_old = [this](size_t index) {
    return reinterpret_cast<long (*)(long)>(slot(0) + scratch_.entry[index]);
  };
  const auto old_where = in_old(kWhere);
  const auto old_pushes = in_old(kPushes);
  EXPECT_LT(static_cast<uint64_t>(old_where(0)), reinterpret_cast<uint64_t>(slot(1)));
  move_to(1, abi::CodeMode::kShuffle, 2);
  EXPECT_LT(static_cast<uint64_t>(old_where(0)), reinterpret_cast<uint64_t>(slot(1)));
  // Calls inside an image that is not retired stay there: they don't pass the canonical entries.
  EXPECT_EQ(old_pushes(0) & 0xffffffff, 1001);
  EXPECT_EQ(executed(1), 0);
  retire(slot(0));
  EXPECT_GE(static_cast<uint64_t>(old_where(0)), reinterpret_cast<uint64_t>(slot(1)));
  EXPECT_EQ(old_pushes(0) & 0xffffffff, 1001);
  EXPECT_EQ(executed(1), 1);
  expect_right_results();
}

TEST_F(ImageTest, CallsOfAStayerAreLedToEachNewestImage) {
  // The field of pushes' jump begins at 4 in an aligned word, or crosses into the next after 3, 2 and 1 of its bytes.
  for (const uint32_t skew : {0u, 1u, 2u, 3u}) {
    SCOPED_TRACE(skew);
    make_program(skew);
    move_to(0, abi::CodeMode::kShuffle, skew);
    const uint32_t body = scratch_.body[kPushes], prefix = scratch_.entry[kCaller] - arch::kPrefixBytes;
    const auto stayer = reinterpret_cast<long (*)(long)>(slot(0) + body);
    Stayers stayers;
    for (int i = 1; i < 8; ++i) {
      move_to(i, abi::CodeMode::kShuffle, skew * 10 + static_cast<uint64_t>(i));
      for (uint32_t k = 0; k < stayers.size(); ++k)
        lead_calls(code_, stayers[k], reinterpret_cast<uint64_t>(slot(0)), newest_, scratch_, original_.data(), slot(0));
      retire(slot(i - 1));
      if (i == 1) {
        ASSERT_TRUE(stayers.add(code_, 0, slot(0), body + 2));
        EXPECT_FALSE(stayers.add(code_, 0, slot(0), body));
        EXPECT_EQ(stayers[0].function, static_cast<uint32_t>(kPushes));
        lead_calls(code_, stayers[0], reinterpret_cast<uint64_t>(slot(0)), newest_, scratch_, original_.data(), slot(0));
      } else {
        std::memset(slot(i - 1), 0xcc, slot_bytes(code_));  // nobody comes here any more
      }
      const auto target_of = [](const uint8_t* field) {
        int32_t distance;
        std::memcpy(&distance, field, 4);
        return field + 4 + distance;
      };
      const uint8_t* arrival = slot(i) + scratch_.entry[kCaller] - arch::kPrefixBytes + arch::kPrefixArrival;
      const uint8_t* called = target_of(slot(0) + body + 4);
      if (skew == 0) {
        EXPECT_EQ(called, arrival);
      } else {
        EXPECT_EQ(called, slot(0) + prefix);
        EXPECT_EQ(target_of(called + 1), arrival);
      }
      executed(i) = 0;
      EXPECT_EQ(stayer(0) & 0xffffffff, 1001);
      EXPECT_EQ(executed(i), 1);
    }
    stayers.forget(SlotSet{1} << 1);
    EXPECT_EQ(stayers.size(), 1u);
    stayers.forget(SlotSet{1} << 0);
    EXPECT_EQ(stayers.size(), 0u);
    for (int i = 0; i < 8; ++i) executed(i) = 0;
  }
}

// Caller begins with its call. Where nothing is in front of its body, the jump of its retired entry lies over that call.
TEST_F(ImageTest, LeadingTheFirstCallOfAStayerLeavesItsRetiredEntry) {
  for (const uint32_t skew : {0u, 1u, 2u, 3u}) {
    SCOPED_TRACE(skew);
    make_program(skew);
    move_to(0, abi::CodeMode::kShuffle, skew);
    const uint32_t body = scratch_.body[kCaller], entry = scratch_.entry[kCaller];
    move_to(1, abi::CodeMode::kShuffle, skew + 10);
    retire(slot(0));
    const Bytes jump(slot(0) + entry, slot(0) + entry + 2);
    Stayers stayers;
    ASSERT_TRUE(stayers.add(code_, 0, slot(0), body));
    lead_calls(code_, stayers[0], reinterpret_cast<uint64_t>(slot(0)), newest_, scratch_, original_.data(), slot(0));
    ASSERT_EQ(Bytes(slot(0) + entry, slot(0) + entry + 2), jump);
    EXPECT_EQ(reinterpret_cast<long (*)(long)>(slot(0) + entry)(0) & 0xffffffff, 1001);
    EXPECT_EQ(executed(1), 1);
    if (entry != body) {
      EXPECT_EQ(reinterpret_cast<long (*)(long)>(slot(0) + body)(0) & 0xffffffff, 1001) << "its call runs on";
    }
    executed(0) = executed(1) = 0;
  }
}

TEST(SeenCode, NotesEachAddressOnceAndForgetsWhatIsTooMuch) {
  SeenCode seen;
  const auto count = [&seen] {
    uint32_t found = 0;
    for (uint32_t place = 0; place < SeenCode::kPlaces; ++place) found += seen[place] != 0;
    return found;
  };
  for (int i = 0; i < 3; ++i)
    for (uint64_t address = 1; address <= 100; ++address) seen.note(address * 0x1000);
  EXPECT_EQ(count(), 100u);
  for (uint64_t address = 1; address <= 100'000; ++address) seen.note(address * 16);
  EXPECT_LE(count(), SeenCode::kPlaces);
  seen.clear();
  EXPECT_EQ(count(), 0u);
}

TEST_F(ImageTest, FindsTheOriginalOfEveryByte) {
  make_program();
  move_to(0, abi::CodeMode::kShuffle, 3);
  ImageEntry entry;
  for (uint32_t i = 0; i < scratch_.order_count; ++i) {
    const uint32_t index = scratch_.order[i];
    const uint32_t body = scratch_.body[index];
    for (uint32_t at = scratch_.entry[index] - arch::kPrefixBytes; at < body + pieces_[index].bytes.size(); ++at) {
      ASSERT_TRUE(find_original(slot(0), at, entry));
      EXPECT_EQ(entry.start, pieces_[index].start);
      EXPECT_EQ(entry.body, body);
    }
    EXPECT_FALSE(find_original(slot(0), body + static_cast<uint32_t>(pieces_[index].bytes.size()), entry));
  }
  EXPECT_FALSE(find_original(slot(0), 0, entry));
}

TEST_F(ImageTest, AFunctionsEndIsWhereItsLastCallReturnsTo) {
  make_program();
  move_to(0, abi::CodeMode::kShuffle, 3);
  ImageEntry* const entries = reinterpret_cast<ImageEntry*>(slot(0) + sizeof(ImageHeader));
  ASSERT_GE(scratch_.order_count, 2u);
  ImageEntry& ended = entries[0];
  const uint32_t end = ended.body + ended.bytes;
  const std::vector<std::vector<uint8_t>> calls = {{0xe8, 1, 2, 3, 4},       {0xff, 0xd0},
                                                   {0x41, 0xff, 0xd3},       {0xff, 0x52, 0x10},
                                                   {0xff, 0x15, 1, 2, 3, 4}, {0xff, 0x54, 0xc8, 8},
                                                   {0xff, 0x94, 0xc8, 1, 2, 3, 4}};
  for (const bool is_next_there : {false, true}) {
    if (is_next_there) entries[1].prefix = end;
    for (const std::vector<uint8_t>& call : calls) {
      memset(slot(0) + end - 7, 0x90, 7);
      memcpy(slot(0) + end - call.size(), call.data(), call.size());
      ImageEntry entry;
      ASSERT_TRUE(find_returned_to(slot(0), end, entry));
      EXPECT_EQ(entry.start, ended.start);
      // Who executes that place is in the next function, as the unwinder finds a frame that a signal interrupted.
      ASSERT_EQ(find_executed(slot(0), end, entry), is_next_there);
      EXPECT_EQ(entry.start, entries[is_next_there ? 1 : 0].start);
      ASSERT_TRUE(find_returned_to(slot(0), end - 1, entry));
      EXPECT_EQ(entry.start, ended.start);
    }
    memset(slot(0) + end - 7, 0x90, 7);
    ImageEntry entry;
    ASSERT_EQ(find_returned_to(slot(0), end, entry), is_next_there) << "no call is there";
    EXPECT_EQ(entry.start, entries[is_next_there ? 1 : 0].start);
  }
}

TEST_F(ImageTest, CopyKeepsTheOrderAndShuffleMakesManyOrders) {
  make_program();
  move_to(0, abi::CodeMode::kCopy, 1);
  for (uint32_t i = 1; i < scratch_.order_count; ++i) EXPECT_LT(scratch_.order[i - 1], scratch_.order[i]);
  move_to(0, abi::CodeMode::kPad, 1);
  for (uint32_t i = 1; i < scratch_.order_count; ++i) EXPECT_LT(scratch_.order[i - 1], scratch_.order[i]);
  std::set<std::vector<uint32_t>> orders;
  std::map<uint32_t, int> first;
  constexpr int kRounds = 700;
  for (int i = 0; i < kRounds; ++i) {
    move_to(0, abi::CodeMode::kShuffle, static_cast<uint64_t>(i));
    orders.insert({scratch_.order, scratch_.order + scratch_.order_count});
    ++first[scratch_.order[0]];
  }
  EXPECT_GT(orders.size(), 600u);  // of 7! = 5040: 700 draws repeat 46 times on average
  EXPECT_EQ(first.size(), 7u);
  for (const auto& [index, count] : first) EXPECT_NEAR(count, kRounds / 7, 40) << index;  // 4 standard deviations
}

// Chi-square of counts against equal frequencies.
double chi_square(const std::vector<int>& counts) {
  double all = 0, sum = 0;
  for (int count : counts) all += count;
  const double expected = all / static_cast<double>(counts.size());
  for (int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// 99.99 % of uniform samples stay below these, with 6 and 63 degrees of freedom.
constexpr double kLimit6 = 27.9, kLimit63 = 114;

TEST_F(ImageTest, AddressesAreUniform) {
  make_program();
  constexpr int kImages = 12800;
  const uint32_t movable = scratch_.order_count;
  ASSERT_EQ(movable, 7u);
  for (abi::CodeMode mode : {abi::CodeMode::kShuffle, abi::CodeMode::kPad}) {
    std::vector<std::vector<int>> places(kCount, std::vector<int>(movable)), sets(kCount, std::vector<int>(64));
    for (int i = 0; i < kImages; ++i) {
      move_to(0, mode, static_cast<uint64_t>(i));
      for (uint32_t place = 0; place < movable; ++place) {
        const uint32_t function = scratch_.order[place];
        ++places[function][place];
        ++sets[function][scratch_.body[function] / 64 % 64];
      }
    }
    for (uint32_t place = 0; place < movable; ++place) {
      const uint32_t function = scratch_.order[place];
      if (mode == abi::CodeMode::kShuffle) {
        EXPECT_LT(chi_square(places[function]), kLimit6) << "function " << function;
      }
      EXPECT_LT(chi_square(sets[function]), kLimit63) << "function " << function << " mode " << static_cast<int>(mode);
    }
  }
}

TEST_F(ImageTest, TheSameSeedMakesTheSameImage) {
  make_program();
  Bytes images[2];
  for (Bytes& image : images) {
    scratch_ = bind_scratch(code_, scratch_memory_.data());
    std::memset(slot(0), 0, slot_bytes(code_));
    move_to(0, abi::CodeMode::kShuffle, 5);
    image.assign(slot(0), slot(0) + slot_bytes(code_));
  }
  EXPECT_EQ(images[0], images[1]);
}

// Identities for the pieces, as post-link gives them.
class MatchedImageTest : public ImageTest {
 protected:
  // `renamed`: the identity of piece 1, where it has another name than elsewhere.
  void name_pieces(uint64_t renamed = 0) {
    section_.resize((section_.size() + 7) / 8 * 8);
    abi::CodeHeader header;
    std::memcpy(&header, section_.data(), sizeof header);
    header.flags |= abi::kCodeIdentities;
    std::memcpy(section_.data(), &header, sizeof header);
    for (uint64_t i = 0; i < kCount; ++i) {
      const uint64_t identity = i == 1 && renamed != 0 ? renamed : identity_of(i);
      append(&identity, sizeof identity);
    }
    for (uint32_t i = 0; i < kCount; ++i) {
      const uint32_t pad = i % 2 == 0 ? i : abi::kNoPad;
      append(&pad, sizeof pad);
    }
    ASSERT_EQ(read_metadata(section_.data(), section_.size(), code_), MetadataFault::kNone);
    scratch_ = bind_scratch(code_, scratch_memory_.data());
  }

  static uint64_t identity_of(uint64_t piece) { return 0x1000 - piece * 7; }  // not in the order of the text

  // What all movable pieces need, by identity.
  std::vector<MatchRow> rows() const {
    std::vector<MatchRow> rows;
    for (uint32_t i = kCount; i-- > 0;)
      if (code_.functions[i].immovable == abi::Immovable::kNo) rows.push_back(match_row(code_, i, 0));
    return rows;
  }
  bool follow(const std::vector<MatchRow>& rows) {
    rows_ = rows;
    const auto count = static_cast<uint32_t>(rows_.size());
    EXPECT_TRUE(read_match(rows_.data(), count, match_hash(rows_.data(), count), table_));
    match_memory_.assign(match_scratch_bytes(table_) / 4, 0);
    scratch_ = bind_scratch(code_, scratch_memory_.data());
    return follow_match(code_, table_, match_memory_.data(), scratch_);
  }
  std::map<uint64_t, std::pair<uint32_t, uint32_t>> places() {
    std::map<uint64_t, std::pair<uint32_t, uint32_t>> out;
    for (uint32_t i = 0; i < scratch_.order_count; ++i) {
      const uint32_t function = scratch_.order[i];
      const uint32_t tables =
          code_.functions[function].table_count > 0 ? scratch_.table[code_.functions[function].first_table] : 0;
      out[code_.identities[function]] = {scratch_.body[function], tables};
    }
    return out;
  }

  std::vector<MatchRow> rows_;
  MatchTable table_;
  std::vector<uint32_t> match_memory_;
};

TEST_F(MatchedImageTest, WhatAnotherBuildNeedsMovesNothingElse) {
  make_program();
  name_pieces();
  std::vector<MatchRow> wider = rows();
  for (MatchRow& row : wider) row.bytes += 8;
  wider[1].bytes += 100;
  wider[2].table_bytes += 64;
  wider.push_back({0x7000, 500, 24, 23, 0});  // that this build lacks
  ASSERT_TRUE(follow(wider));
  std::vector<std::map<uint64_t, std::pair<uint32_t, uint32_t>>> drawn;
  for (uint64_t number = 0; number < 20; ++number) {
    move_to(0, abi::CodeMode::kShuffle, number);
    expect_right_results();
    drawn.push_back(places());
  }
  // Of the other build all functions lie elsewhere in the text, 8 behind a multiple of 16, and so in their places.
  make_program(8);
  name_pieces();
  ASSERT_TRUE(follow(wider));
  for (uint64_t number = 0; number < 20; ++number) {
    move_to(0, abi::CodeMode::kShuffle, number);
    expect_right_results();
    for (const auto& [identity, place] : places()) {
      EXPECT_EQ(place.first, drawn[number].at(identity).first + 8) << identity << " in image " << number;
      EXPECT_EQ(place.second, drawn[number].at(identity).second);
    }
  }
}

TEST_F(MatchedImageTest, AFunctionOfAnotherNameHasThePlaceOfTheFirst) {
  constexpr uint64_t kOther = 0x7000;
  make_program();
  name_pieces();
  ASSERT_EQ(code_.functions[1].immovable, abi::Immovable::kNo);
  std::vector<MatchRow> with_names = rows();
  const auto is_own = [](const MatchRow& row) { return row.identity == identity_of(1); };
  const auto own = std::find_if(with_names.begin(), with_names.end(), is_own);
  with_names.push_back({kOther, 0, 0, 0, 1 + static_cast<uint32_t>(own - with_names.begin())});
  ASSERT_TRUE(follow(with_names));
  std::vector<std::map<uint64_t, std::pair<uint32_t, uint32_t>>> drawn;
  for (uint64_t number = 0; number < 20; ++number) {
    move_to(0, abi::CodeMode::kShuffle, number);
    drawn.push_back(places());
  }
  make_program();
  name_pieces(kOther);
  ASSERT_TRUE(follow(with_names));
  for (uint64_t number = 0; number < 20; ++number) {
    move_to(0, abi::CodeMode::kShuffle, number);
    expect_right_results();
    std::map<uint64_t, std::pair<uint32_t, uint32_t>> now = places();
    ASSERT_EQ(now.count(kOther), 1u);
    now[identity_of(1)] = now[kOther];
    now.erase(kOther);
    EXPECT_EQ(now, drawn[number]);
  }
  std::vector<uint64_t> pads = {kOther, identity_of(2), 0x9999};
  match_identities(table_, pads.data(), 3);
  EXPECT_EQ(pads, (std::vector<uint64_t>{identity_of(1), identity_of(2), 0x9999}));
}

TEST_F(MatchedImageTest, AnImageDependsOnItsNumberAlone) {
  make_program();
  name_pieces();
  ASSERT_TRUE(follow(rows()));
  move_to(0, abi::CodeMode::kOnce, 9);
  const auto alone = places();
  for (uint64_t number = 0; number <= 9; ++number) move_to(0, abi::CodeMode::kOnce, number);
  EXPECT_EQ(places(), alone);
}

TEST_F(MatchedImageTest, EveryRowHasItsRoomInASlot) {
  make_program();
  name_pieces();
  std::vector<MatchRow> wider = rows();
  for (MatchRow& row : wider) row.bytes += 333, row.table_bytes += 40;
  ASSERT_TRUE(follow(wider));
  for (uint64_t number = 0; number < 200; ++number) {
    LayoutRng rng(number, kRngCode, 0);
    EXPECT_LE(place_image(code_, abi::CodeMode::kShuffle, rng, scratch_), slot_bytes(table_));
  }
}

TEST_F(MatchedImageTest, ATableWithoutRoomForAFunctionIsNotFollowed) {
  make_program();
  EXPECT_FALSE(follow_match(code_, table_, nullptr, scratch_)) << "no identities";
  name_pieces();
  for (size_t i = 0; i < rows().size(); ++i) {
    for (const auto shorten : {&MatchRow::bytes, &MatchRow::lead}) {
      std::vector<MatchRow> short_of = rows();
      --(short_of[i].*shorten);
      EXPECT_FALSE(follow(short_of)) << i;
    }
    std::vector<MatchRow> lacks = rows();
    lacks.erase(lacks.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(follow(lacks)) << i;
  }
  EXPECT_TRUE(follow(rows()));
}

TEST_F(MatchedImageTest, DamagedTablesAreRefused) {
  make_program();
  name_pieces();
  const std::vector<MatchRow> good = rows();
  const auto count = static_cast<uint32_t>(good.size());
  const auto is_read = [&](const std::vector<MatchRow>& rows) {
    MatchTable out;
    return read_match(rows.data(), count, match_hash(rows.data(), count), out);
  };
  EXPECT_TRUE(is_read(good));
  MatchTable out;
  EXPECT_FALSE(read_match(good.data(), count, match_hash(good.data(), count) + 1, out));
  EXPECT_TRUE(read_match(nullptr, 0, match_hash(nullptr, 0), out)) << "all that moves may be in libraries";
  EXPECT_FALSE(read_match(nullptr, 0, match_hash(good.data(), 1), out));
  for (const auto& [number, value] : std::vector<std::pair<uint32_t MatchRow::*, uint32_t>>{
           {&MatchRow::bytes, kMostMatchBytes + 1}, {&MatchRow::table_bytes, kMostMatchBytes + 8}, {&MatchRow::table_bytes, 4},
           {&MatchRow::lead, kMostMatchLead + 1}, {&MatchRow::renamed, 1}}) {
    std::vector<MatchRow> bad = good;
    bad[1].*number = value;
    EXPECT_FALSE(is_read(bad));
  }
  // Names of names, of rows that aren't there, and with room of their own.
  std::vector<MatchRow> named = good;
  named[1] = {named[1].identity, 0, 0, 0, 1};
  EXPECT_TRUE(is_read(named));
  for (const uint32_t row : {2u, count + 1, ~0u}) {
    named[1].renamed = row;
    EXPECT_FALSE(is_read(named)) << row;
  }
  named[1].renamed = 1;
  for (const auto number : {&MatchRow::bytes, &MatchRow::table_bytes, &MatchRow::lead}) {
    std::vector<MatchRow> wide = named;
    wide[1].*number = 8;
    EXPECT_FALSE(is_read(wide));
  }
  named[2] = {named[2].identity, 0, 0, 0, 2};
  EXPECT_FALSE(is_read(named)) << "a name of a name";
  std::vector<MatchRow> twice = good;
  twice[1].identity = twice[0].identity;
  EXPECT_FALSE(is_read(twice));
}

TEST_F(ImageTest, MalformedMetadataIsRefused) {
  make_program();
  const Bytes good = section_;
  Metadata out;
  const auto broken = [&](size_t at, uint32_t value) {
    section_ = good;
    put32(section_, at, value);
    return read_metadata(section_.data(), section_.size(), out);
  };
  const size_t functions = sizeof(abi::CodeHeader);
  const size_t tables = functions + kCount * sizeof(abi::CodeFunction);
  const size_t targets = tables + 2 * sizeof(abi::CodeTable);
  const size_t fixups = targets + 4 * 4;
  EXPECT_EQ(broken(0, 0), MetadataFault::kAbsent);                                   // magic
  EXPECT_EQ(broken(8, abi::kCodeVersion + 1), MetadataFault::kAbsent);                // version
  EXPECT_EQ(broken(offsetof(abi::CodeHeader, function_count), 1u << 30), MetadataFault::kMalformed);
  EXPECT_EQ(broken(functions + offsetof(abi::CodeFunction, start), kTextBytes), MetadataFault::kMalformed);
  EXPECT_EQ(broken(functions + offsetof(abi::CodeFunction, start), 128), MetadataFault::kMalformed);  // overlaps
  EXPECT_EQ(broken(functions + offsetof(abi::CodeFunction, start), 68), MetadataFault::kMalformed);   // crosses 8
  EXPECT_EQ(broken(functions + offsetof(abi::CodeFunction, bytes), 4), MetadataFault::kMalformed);
  EXPECT_EQ(broken(functions + offsetof(abi::CodeFunction, first_fixed), 9), MetadataFault::kMalformed);
  EXPECT_EQ(broken(targets, 1000), MetadataFault::kMalformed);                       // outside the function
  EXPECT_EQ(broken(fixups, 6), MetadataFault::kMalformed);                           // field past the end
  EXPECT_EQ(broken(fixups + 4, kCount), MetadataFault::kMalformed);                  // no such function
  EXPECT_EQ(read_metadata(good.data(), good.size() - 1, out), MetadataFault::kMalformed);
  EXPECT_EQ(read_metadata(good.data(), 10, out), MetadataFault::kAbsent);
}

// Rows of the executable's own table, which lies in its data here: from its header, a function's start and its description.
std::vector<FrameRow> rows_of(const std::vector<std::pair<uint64_t, int32_t>>& functions, uint64_t table) {
  std::vector<FrameRow> rows;
  for (const auto& [start, description] : functions) rows.push_back({static_cast<int32_t>(start - table), description});
  return rows;
}

TEST_F(ImageTest, EndsWithTheFramesOfItsFunctions) {
  make_program();
  const uint64_t table = address(kData + 1024);
  // Assembly in `pushes` has two descriptions; what stays has one that no image lists, `where` none.
  const auto rows = rows_of({{text_of(kCaller), 10}, {text_of(kLoads), 20}, {text_of(kPushes), 30}, {text_of(kPushes) + 3, 31},
                             {text_of(kSelectsAbsolute), 50}, {text_of(kStays), 60}}, table);
  std::vector<uint32_t> memory(2 * kCount, 0);
  scratch_.frames = bind_frames(code_, {0, table, static_cast<uint32_t>(rows.size())}, rows.data(), memory.data());
  EXPECT_EQ(scratch_.frames.total, 5u);
  for (uint64_t number = 0; number < 20; ++number) {
    move_to(0, abi::CodeMode::kShuffle, number);
    const uint8_t* const frames = frames_of(slot(0));
    ASSERT_NE(frames, nullptr);
    EXPECT_EQ(reinterpret_cast<uint64_t>(frames) % 4, 0u);
    FrameHeader header;
    std::memcpy(&header, frames, sizeof header);
    EXPECT_TRUE(has_sorted_rows(header));
    ASSERT_EQ(header.count, 5u);
    std::map<uint64_t, uint64_t> found;
    int64_t before = INT64_MIN;
    for (uint32_t i = 0; i < header.count; ++i) {
      FrameRow row;
      std::memcpy(&row, frames + sizeof header + i * sizeof row, sizeof row);
      EXPECT_LT(before, row.function);
      before = row.function;
      found[reinterpret_cast<uint64_t>(frames) + static_cast<uint64_t>(int64_t{row.function})] =
          reinterpret_cast<uint64_t>(frames) + static_cast<uint64_t>(int64_t{row.description});
    }
    const uint64_t image = reinterpret_cast<uint64_t>(slot(0));
    EXPECT_EQ(found[image + scratch_.body[kCaller]], table + 10);
    EXPECT_EQ(found[image + scratch_.body[kPushes]], table + 30);
    EXPECT_EQ(found[image + scratch_.body[kPushes] + 3], table + 31);
    EXPECT_EQ(found[image + scratch_.body[kSelectsAbsolute]], table + 50);
    // Whoever reads on finds no descriptions.
    uint32_t first = 1;
    std::memcpy(&first, frames + offsetof(FrameHeader, frames) + header.frames, sizeof first);
    EXPECT_EQ(first, 0u);
  }
}

// The file is the program's: its rows may be in any order and as many as there are.
TEST_F(ImageTest, FramesOfHostileTablesStayInBounds) {
  make_program();
  const uint64_t table = address(kData + 1024);
  std::vector<uint32_t> memory(2 * kCount, 0);
  auto rows = rows_of({{text_of(kCaller), 1}, {text_of(kLoads), 2}, {text_of(kPushes), 3}, {text_of(kWhere), 4}}, table);
  const auto comes_before = [](const FrameRow& a, const FrameRow& b) { return a.function < b.function; };
  std::sort(rows.begin(), rows.end(), comes_before);
  do {
    const uint32_t count = static_cast<uint32_t>(rows.size());
    const MovedFrames frames = bind_frames(code_, {0, table, count}, rows.data(), memory.data());
    ASSERT_LE(frames.total, count);
    for (uint32_t i = 0; i < kCount; ++i) ASSERT_LE(frames.first[i] + frames.count[i], count);
  } while (std::next_permutation(rows.begin(), rows.end(), comes_before));
  const auto same = rows_of(std::vector<std::pair<uint64_t, int32_t>>(500, {text_of(kCaller), 1}), table);
  EXPECT_EQ(bind_frames(code_, {0, table, 500}, same.data(), memory.data()).total, 0u);
}

TEST_F(ImageTest, GoesHome) {
  make_program();
  for (uint64_t number = 0; number < 20; ++number) {
    move_to(0, abi::CodeMode::kShuffle, number);
    EXPECT_NE(std::memcmp(base_, original_.data(), kTextBytes), 0);
    restore(code_, scratch_, original_.data(), base_);
    retire(slot(0));
    EXPECT_EQ(std::memcmp(base_, original_.data(), kTextBytes), 0);
    expect_right_results();
    EXPECT_EQ(static_cast<uint64_t>(call(kWhere)), text_of(kWhere) + 7);
  }
}

// A list that many functions share would be gone through once for each of them: a section of some MB for hours.
TEST_F(ImageTest, SharedListsAreMalformed) {
  make_program();
  const Bytes good = section_;
  Metadata out;
  const auto set = [&](size_t function, size_t field, uint32_t value) {
    put32(section_, sizeof(abi::CodeHeader) + function * sizeof(abi::CodeFunction) + field, value);
  };
  // The callee takes the fixed list of `loads`, which is the first; `pushes` the directed one of `caller`.
  for (const auto& [function, first, count] :
       {std::tuple{kCallsStays, offsetof(abi::CodeFunction, first_fixed), offsetof(abi::CodeFunction, fixed_count)},
        std::tuple{kPushes, offsetof(abi::CodeFunction, first_directed), offsetof(abi::CodeFunction, directed_count)},
        std::tuple{kSelectsAbsolute, offsetof(abi::CodeFunction, first_table), offsetof(abi::CodeFunction, first_table)}}) {
    section_ = good;
    set(static_cast<size_t>(function), first, 0);
    if (count != first) set(static_cast<size_t>(function), count, 1);
    EXPECT_EQ(read_metadata(section_.data(), section_.size(), out), MetadataFault::kMalformed) << function;
  }
  section_ = good;
  // The second table's targets are the first one's.
  put32(section_, sizeof(abi::CodeHeader) + kCount * sizeof(abi::CodeFunction) + sizeof(abi::CodeTable) +
                      offsetof(abi::CodeTable, first_target), 0);
  EXPECT_EQ(read_metadata(section_.data(), section_.size(), out), MetadataFault::kMalformed);
  EXPECT_EQ(read_metadata(good.data(), good.size(), out), MetadataFault::kNone);
}

}  // namespace
}  // namespace stab::code
