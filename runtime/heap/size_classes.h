// Size classes: which slot a request gets, and how the slots of a class lie in a run.
//
// A run is 64 KiB of one class, cut into groups of at most 64 slots and one page, or two if slots are large:
//
//   run:   | phase | group 0 | group 1 | ... | group n-1 | rest |
//   group: | slot 0 | slot 1 | ... | gap |           pitch = slots * stride + gap
//
// Where the heads of objects fall in a cache is decided here as much as by any random draw. An L1 of 64 sets
// sees address bits 6-11, so a stride that is an even number of lines reaches only some sets, however its
// slots are chosen: stride 1024 reaches 4 of 64. Hence two rules, which size_classes_test.cc checks:
// - no stride above 512 is a multiple of 128: the nominal 4 classes a doubling, 8 above 1 KiB, plus one line;
// - where a stride is a multiple of 128 (128, 256, 384, 512), the gap is one line: the groups' colours. The
//   groups of a run then start at different lines modulo the stride, each equally often.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::heap {

inline constexpr uint32_t kLine = 64;
inline constexpr uint32_t kPage = 4096;
inline constexpr uint32_t kRunBytes = 64 * 1024;
inline constexpr uint32_t kColourGap = kLine;
inline constexpr uint32_t kMaxSlots = 64;   // a group's free slots are one word
inline constexpr uint32_t kMaxGroups = 64;  // a run's fresh groups are one word
inline constexpr uint32_t kAlignment = 16;  // alignof(max_align_t)

// From 4 to 5 KiB there are twice as many: databases have pages of 4 KiB and keep something beside each. In slots of 5184 bytes
// those of sqlite3 took 6 % more CPU time than in glibc's heap.
inline constexpr uint16_t kStrides[] = {
    16,   32,   48,   64,   80,   96,   112,  128,  160,  192,  224,  256,   320,   384,   448,   512,  576,
    704,  832,  960,  1088, 1216, 1344, 1472, 1600, 1728, 1856, 1984, 2112,  2368,  2624,  2880,  3136, 3392,
    3648, 3904, 4160, 4416, 4672, 4928, 5184, 5696, 6208, 6720, 7232, 7744,  8256,  9280,  10304, 11328,
    12352, 14400, 16448};
inline constexpr int kClasses = sizeof(kStrides) / sizeof(kStrides[0]);
inline constexpr size_t kMaxSmall = kStrides[kClasses - 1];

struct SizeClass {
  uint32_t stride;        // bytes from slot to slot
  uint32_t slots;         // in a group, 1 to kMaxSlots
  uint32_t pitch;         // bytes from group to group
  uint32_t groups;        // in a run, 1 to kMaxGroups
  uint32_t phase_lines;   // the run's first group may start at line 0 to phase_lines
  uint32_t enough;        // so many free slots make a group worth going on with
  uint32_t per_stride;    // ceil(2^32 / stride): x / stride == x * per_stride >> 32 for x < 2^16
  uint32_t per_pitch;

  // Bit i set for each slot i.
  constexpr uint64_t full() const { return slots == 64 ? ~uint64_t{0} : (uint64_t{1} << slots) - 1; }
};

// What is allocated together shares pages. A page has few slots of more than 128 bytes, and to change groups costs
// two mispredictions. A line less than two pages, so that eight groups and their gaps fit a run. But slots of one
// group must not share an L1 set by rule, as those of 256 and 512 bytes a page apart would.
constexpr uint32_t group_bytes(uint32_t stride) {
  return stride <= 128 || kPage % stride == 0 ? kPage : 2 * kPage - kColourGap;
}

// A group with one free slot costs as much to make current as it gives. So an eighth of the slots, but four, or a
// quarter of those that a group of few has: as much as that of the memory in use may wait.
constexpr uint32_t enough_slots(uint32_t slots) {
  const uint32_t eighth = (slots + 7) / 8;
  const uint32_t quarter = (slots + 3) / 4;
  return eighth > 4 ? eighth : quarter < 4 ? quarter : 4;
}

constexpr SizeClass make_size_class(uint32_t stride) {
  SizeClass made{};
  made.stride = stride;
  made.slots = group_bytes(stride) / stride < kMaxSlots ? group_bytes(stride) / stride : kMaxSlots;
  if (made.slots == 0) made.slots = 1;
  made.pitch = made.slots * stride + (stride % (2 * kLine) == 0 ? kColourGap : 0);
  made.groups = kRunBytes / made.pitch;
  // A run of large slots has too few heads to reach all sets by itself, and runs would differ in nothing but a
  // few phases: 64 of them cost a group's address space, but no memory.
  if (stride > 512 && kRunBytes - made.groups * made.pitch < 63 * kLine) --made.groups;
  const uint32_t spare_lines = (kRunBytes - made.groups * made.pitch) / kLine;
  // Whole multiples of the 64 sets where there are that many, or some sets would be reached more often.
  made.phase_lines = spare_lines >= 63 ? (spare_lines + 1) / 64 * 64 - 1 : spare_lines;
  made.enough = enough_slots(made.slots);
  made.per_stride = static_cast<uint32_t>(((uint64_t{1} << 32) + stride - 1) / stride);
  made.per_pitch = static_cast<uint32_t>(((uint64_t{1} << 32) + made.pitch - 1) / made.pitch);
  return made;
}

// x / d for x < 2^16, with per_d = ceil(2^32 / d). Exact: the error per_d * d - 2^32 is below d <= 2^16.
constexpr uint32_t divide(uint32_t x, uint32_t per_d) {
  return static_cast<uint32_t>((uint64_t{x} * per_d) >> 32);
}

namespace detail {
struct Tables {
  SizeClass classes[kClasses];
  uint8_t of_granule[kMaxSmall / kAlignment + 1];  // class of a request of up to 16 * index bytes
};
constexpr Tables make_tables() {
  Tables made{};
  for (int i = 0; i < kClasses; ++i) made.classes[i] = make_size_class(kStrides[i]);
  uint8_t fits = 0;
  for (size_t granule = 0; granule <= kMaxSmall / kAlignment; ++granule) {
    if (granule * kAlignment > kStrides[fits]) ++fits;
    made.of_granule[granule] = fits;
  }
  return made;
}
inline constexpr Tables kTables = make_tables();
}  // namespace detail

inline constexpr const SizeClass& size_class(int index) { return detail::kTables.classes[index]; }

// pre: bytes <= kMaxSmall. A request of 0 bytes gets a slot of its own.
inline constexpr int class_of(size_t bytes) {
  return detail::kTables.of_granule[(bytes + kAlignment - 1) / kAlignment];
}

}  // namespace stab::heap
