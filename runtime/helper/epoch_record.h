// What a helper tells its laboratory of each epoch and of each function: behind the dose report, where it was asked to
// (--epochs 1, --samples 1). Each part is there or not, and says its own length. With --epochs 1 it also tells what the program
// has done so far, in front of the report and while the program runs.
//
//   ProgressFrame...
//   | dose report, one line
//   | EpochHeader | EpochRecord[count]
//   | SampleHeader | FunctionSamples[count] | StayedFunction[stayed_count]
//   | LibraryHeader | LibraryFunction[count] | names ...
//
// The last line once for each file other than the executable that samples lay in; then, where anything was sampled, a
// LibraryHeader without a file, so that a helper that was ended meanwhile is not taken for one of fewer files.
//
// A record is written when a layout has been put in place, and says what had been done by then: the differences between it and
// the next belong to that layout. The last one, kEpochEnd, is of no layout: it is the end of the one before. Numbers of images
// and of refills, with the seed and the binary, are all that there is to know of a layout (runtime/layout). Little-endian.
#pragma once

#include <stdint.h>

namespace stab::helper {

inline constexpr char kEpochMagic[8] = {'S', 'T', 'A', 'B', 'E', 'P', 'O', '2'};
inline constexpr uint32_t kEpochPoints = 8;
// What a helper keeps at most: 28 MiB. An hour of 15 ms.
inline constexpr uint32_t kMostEpochs = 1u << 18;
inline constexpr uint32_t kEpochNameBytes = 112;

struct EpochHeader {
  char magic[8];
  uint32_t record_bytes;  // sizeof(EpochRecord)
  uint32_t count;         // of records, kEpochEnd included
  uint64_t unrecorded;    // layouts that came after kMostEpochs
  // Names of the points whose visits are told: first the functions that the layout script counts, as function:NAME, then as many
  // as there is room for of kind progress, as they were visited first. Ended by 0, printable.
  char points[kEpochPoints][kEpochNameBytes];
};

// How often points were visited so far. One write of a pipe, which is whole or not there; a frame that the pipe has no room for
// is left out. There is none before a point was visited.
inline constexpr char kProgressMagic[8] = {'S', 'T', 'A', 'B', 'P', 'R', 'G', '1'};
inline constexpr uint64_t kProgressPeriodNs = 2'000'000'000;

struct ProgressFrame {
  char magic[8];
  uint64_t elapsed_ns;              // since the first layout was in place, before main
  uint64_t visits[kEpochPoints];
  uint32_t count;                   // of points, at most kEpochPoints
  uint32_t reserved;
  char points[kEpochPoints][kEpochNameBytes];  // as EpochHeader has them
};
static_assert(sizeof(ProgressFrame) == 24 + kEpochPoints * (8 + kEpochNameBytes) && sizeof(ProgressFrame) < 4096);

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
  // Samples of the program's CPU time by then (see SampleHeader); 0 where none were asked for.
  uint32_t samples_newest;       // in the images that were the newest, of libraries, too
  uint32_t samples_older;        // in images before it
  uint32_t samples_elsewhere;    // in functions that stay, in libraries that don't move, in the kernel
  uint32_t reserved2;
};
static_assert(sizeof(EpochRecord) == 8 * (2 + kEpochPoints) + 28 + 4);
static_assert(sizeof(EpochHeader) == 24 + kEpochPoints * kEpochNameBytes);

// Samples: where the program was, its threads and children included, once in each kSamplePeriodNs of CPU time that they used.
inline constexpr char kSampleMagic[8] = {'S', 'T', 'A', 'B', 'S', 'M', 'P', '1'};
// Somewhat less than a millisecond: epochs and what programs do periodically are whole milliseconds, and samples that come in
// time with them would see the same part of each.
inline constexpr uint64_t kSamplePeriodNs = 997'000;

struct SampleHeader {
  char magic[8];
  uint32_t record_bytes;    // sizeof(FunctionSamples)
  uint32_t count;           // of them, by ascending function; functions without a sample are left out
  uint32_t stayed_bytes;    // sizeof(StayedFunction)
  uint32_t stayed_count;
  uint32_t function_count;  // of the metadata
  uint32_t looks;           // at threads, that could have seen who stays
  uint64_t text_hash;       // CodeHeader::text_hash
  uint64_t period_ns;       // 0: nothing was sampled, and the dose's degradations say why
  uint64_t newest;          // in the image that was the newest then, of the executable or of a library that moves
  uint64_t older;           // in images before it
  uint64_t original;        // in functions of these files that stay, where they were linked
  uint64_t elsewhere;       // in none of these functions: other libraries, linkage, memory that the program made executable
  uint64_t kernel;          // in the kernel; 0 where it may not be looked at
  uint64_t lost;            // that the kernel had no room for
};

// By the original function, whatever image its copy was in.
struct FunctionSamples {
  uint32_t function;        // index in the metadata, as stab-layout lists them
  uint32_t newest, older, original;
};

// A frame of this function's copy in this image was seen by a look at the threads in from_epoch and in to_epoch. One that reaches
// from the first epochs to the last never left: it doesn't vary within the run.
struct StayedFunction {
  uint32_t function;
  uint32_t image;
  uint32_t from_epoch, to_epoch;
};
inline constexpr uint32_t kMostStayed = 4096;
static_assert(sizeof(SampleHeader) == 96 && sizeof(FunctionSamples) == 16 && sizeof(StayedFunction) == 16);

// Samples in one file other than the executable. Behind it its functions, by ascending address, and then their names.
inline constexpr char kLibraryMagic[8] = {'S', 'T', 'A', 'B', 'L', 'I', 'B', '2'};
inline constexpr uint32_t kMostSampledFiles = 64;
inline constexpr uint32_t kMostLibraryFunctions = 1u << 14;  // of all files together
inline constexpr uint32_t kMostFunctionName = 1024;          // with the 0 behind it; a longer one is cut
inline constexpr uint32_t kMostNameBytes = 1u << 22;         // of all names together
// LibraryHeader::flags
inline constexpr uint32_t kLibraryMoved = 1;  // its code moved: its samples are in SampleHeader's sums; of others in `elsewhere`

struct LibraryHeader {
  char magic[8];
  uint32_t record_bytes;  // sizeof(LibraryFunction)
  uint32_t count;
  uint32_t name_bytes;  // of all names behind them
  uint32_t flags;
  uint64_t text_hash;                // CodeHeader::text_hash of one that moved; of another, of all its code; 0: unread
  uint64_t newest, older, original;  // all of its samples, those in no function that is known by name included
  uint64_t drawn_by;                 // of one that moved: what its layouts are drawn by, with seed and image; else 0
  char file[256];                    // its DT_SONAME, or else the last part of its path; ended by 0
  char path[1024];                   // of one that moved, as it was mapped; ended by 0, empty where it is longer
};

// Where a file has no symbols, one that moved tells its functions without names, and another one none.
struct LibraryFunction {
  uint64_t linked;  // link-time address
  uint32_t bytes;
  uint32_t newest, older, original;
  uint32_t name;  // where it begins among the names; each is ended by 0, and an empty one means that there is none
  uint32_t reserved;
};
static_assert(sizeof(LibraryHeader) == 1344 && sizeof(LibraryFunction) == 32);

}  // namespace stab::helper
