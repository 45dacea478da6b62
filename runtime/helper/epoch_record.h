// What a helper tells its laboratory of each epoch: behind the dose report, where it was asked to (--epochs 1).
//
//   dose report, one line | EpochHeader | EpochRecord[count]
//
// A record is written when a layout has been put in place, and says what had been done by then: the differences between it and
// the next belong to that layout. The last one, kEpochEnd, is of no layout: it is the end of the one before. Numbers of images
// and of refills, with the seed and the binary, are all that there is to know of a layout (runtime/layout). Little-endian.
#pragma once

#include <stdint.h>

namespace stab::helper {

inline constexpr char kEpochMagic[8] = {'S', 'T', 'A', 'B', 'E', 'P', 'O', '1'};
inline constexpr uint32_t kEpochPoints = 4;
// What a helper keeps at most: 16 MiB. An hour of 15 ms.
inline constexpr uint32_t kMostEpochs = 1u << 18;
inline constexpr uint32_t kEpochNameBytes = 112;

struct EpochHeader {
  char magic[8];
  uint32_t record_bytes;  // sizeof(EpochRecord)
  uint32_t count;         // of records, kEpochEnd included
  uint64_t unrecorded;    // layouts that came after kMostEpochs
  // Names of the points whose visits are told: the first four of kind progress that were visited. Ended by 0, printable.
  char points[kEpochPoints][kEpochNameBytes];
};

inline constexpr uint32_t kNoImage = ~0u;

// EpochRecord::flags
inline constexpr uint8_t kEpochEnd = 1;         // of no layout: when the dose was taken
inline constexpr uint8_t kEpochHeld = 2;        // the image stayed, as no slot was free
inline constexpr uint8_t kEpochUnentered = 4;   // the image stayed, as nobody had entered it
inline constexpr uint8_t kEpochOrdered = 8;     // by the program itself (stab_new_layout)
inline constexpr uint8_t kEpochCpuUnknown = 16; // cpu_ns is 0: the kernel would not say
inline constexpr uint8_t kEpochFlags = 31;      // all that there are

struct EpochRecord {
  uint64_t start_ns;             // since the first layout was in place, before main
  uint64_t cpu_ns;               // CPU time that the program, its threads included, has used by then
  uint64_t visits[kEpochPoints]; // by then; 0 where there is no such point yet
  uint32_t epoch;                // from 1
  uint32_t image;                // which is in place, from 0; kNoImage: code stays
  uint32_t refill;               // of the pads that are in place, from 0; kNoImage: none
  uint8_t slot;                  // of the ring, that the image lies in
  uint8_t flags;
  uint16_t reserved;
};
static_assert(sizeof(EpochRecord) == 64);
static_assert(sizeof(EpochHeader) == 24 + kEpochPoints * kEpochNameBytes);

}  // namespace stab::helper
