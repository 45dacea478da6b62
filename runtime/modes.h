// The factors of a layout: their levels, words and limits. Plans are written in them.
#pragma once

#include <stdint.h>

namespace stab::abi {

// Do not renumber: stored by the lab.
enum class CodeMode : uint8_t { kOff = 0, kCopy = 1, kOnce = 2, kShuffle = 3, kPad = 4, kDesign = 5, kDirect = 6 };
enum class StackMode : uint8_t { kOff = 0, kZero = 1, kOn = 2, kRecursive = 3 };
enum class HeapMode : uint8_t { kOff = 0, kBase = 1, kPage = 2, kShuffle = 3 };

// Words of the readable variables, indexed by the enums; the letters of STAB= likewise.
inline constexpr const char* kCodeWords[] = {"off", "copy", "once", "shuffle", "pad", "design", "direct"};
inline constexpr const char* kStackWords[] = {"off", "zero", "on", "recursive"};
inline constexpr const char* kHeapWords[] = {"off", "base", "page", "shuffle"};
inline constexpr char kCodeLetters[] = "-1ospdr";
inline constexpr char kStackLetters[] = "-zor";
inline constexpr char kHeapLetters[] = "-bps";

// Whether code moves to a new layout with each epoch.
inline constexpr bool has_layouts(CodeMode mode) {
  return mode == CodeMode::kShuffle || mode == CodeMode::kPad || mode == CodeMode::kDesign;
}

// Whether code has one random layout, which lasts for the run.
inline constexpr bool has_one_layout(CodeMode mode) { return mode == CodeMode::kOnce || mode == CodeMode::kDirect; }

// Whether stack pads are drawn anew with each epoch.
inline constexpr bool draws_pads(StackMode mode) { return mode == StackMode::kOn || mode == StackMode::kRecursive; }

inline constexpr uint64_t kDefaultEpochNs = 500'000'000;  // the paper's 500 ms
inline constexpr uint64_t kMinEpochNs = 100'000;          // below 0.1 ms the helper can't keep up
inline constexpr uint64_t kMaxEpochNs = 3'600'000'000'000;
inline constexpr uint64_t kMaxEpochVisits = 999'999'999'999;

// Pads are multiples of 16 below the range.
inline constexpr uint32_t kMinStackRangeBytes = 16;  // no pad but 0: what the random start of a stack does alone
inline constexpr uint32_t kMaxStackRangeBytes = 4096;
inline constexpr bool is_stack_range(uint64_t bytes) {
  return bytes >= kMinStackRangeBytes && bytes <= kMaxStackRangeBytes && (bytes & (bytes - 1)) == 0;
}

}  // namespace stab::abi
