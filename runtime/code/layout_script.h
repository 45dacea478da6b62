// A layout script: what an experimenter wants of single functions of one binary, as text.
//
//   stab-script 1 0x8f3c09d2b1a45e77    the binary's text_hash, as stab-layout and dose reports say it, or `any`
//   # a comment
//   rest still
//   place luaV_execute mod 64 0 16 32 48
//   place 0x4011a0 mod 4096 0 2048
//   place libwork.so.1!inflate mod 4096 0 64
//   count luaV_execute
//
// place  In image i the function's copy starts where `start mod MODULUS` is one of the levels, plus the original's start mod 16,
//        which a copy always keeps. Each run of as many images as there are levels has every level once, in an order drawn from
//        (seed, function, number of the run): randomized complete blocks, the functions independent of each other. One level
//        fixes it. MODULUS is a power of two from 32 to 4096, levels are distinct multiples of 16 below it, at most 16 of them.
//        For STAB_CODE=design alone.
// rest   What the functions that are not placed do: `shuffled` as ever, if nothing is said, or `still`: they lie in their
//        original order at the same offsets in every image, and the placed ones, shuffled, behind them.
// count  Each call of the function, from wherever, adds one to the progress point `function:NAME`, with NAME as it is written
//        here. For every level but `off`. At most 8.
//
// A function is named as stab-layout names it, or by its link-time address, 0x and hexadecimal. One of a shared library is named
// as samples name it: behind what its file calls itself (DT_SONAME, else the file's name) and a `!`. It can be placed, not
// counted. A line that can't be obeyed, for whatever reason, is a fault: a program whose script has one doesn't run, or ends
// when the library comes. Lines end with a new line; words are parted by single or more spaces or tabs.
//
// Two steps. parse() knows text alone, so that a plan can be checked before there is a binary; bind() finds the functions in the
// metadata of one. Neither allocates. All lines of a script are checked at once; kept are those about one file, the executable or
// a library.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/entry_cell.h"
#include "runtime/code/metadata.h"
#include "runtime/modes.h"

namespace stab::code {

inline constexpr size_t kMostScriptBytes = 64 * 1024;
inline constexpr uint32_t kMostPlaced = 128;
inline constexpr uint32_t kMostLevels = 16;
inline constexpr uint32_t kLeastModulus = 32, kMostModulus = 4096, kLevelGrain = 16;
inline constexpr size_t kMostCountedName = 102;  // "function:NAME" is the name of a progress point

// Do not renumber: helper and program say them to each other. Words in kScriptFaultWords.
enum class ScriptFault : uint32_t {
  kNone = 0,
  kTooLong = 1,
  kNoHeader = 2,
  kUnknownLine = 3,
  kBadModulus = 4,
  kBadLevel = 5,
  kTooManyLevels = 6,
  kTooMany = 7,
  kTwice = 8,
  kBadName = 9,
  kOtherBinary = 10,
  kNotThere = 11,
  kAmbiguous = 12,
  kStays = 13,
  kNotDesign = 14,
  kNoImage = 15,
  kUnreadable = 16,
  kMissing = 17,
  kTooLarge = 18,
  kBadMatch = 19,
  kNoTable = 20,
  kMatchAlone = 21,
  kNotCounted = 22,
  kCount
};
extern const char* const kScriptFaultWords[static_cast<size_t>(ScriptFault::kCount)];

struct ScriptName {
  const char* text = nullptr;  // into the script's text, without a library's name; not ended by 0
  uint32_t bytes = 0;
  uint32_t line = 0;           // from 1
};

struct PlacedFunction {
  ScriptName name;
  uint32_t number = 0;         // of its line among those of its kind, whichever file they are about
  uint32_t function = 0;       // index in the metadata; set by bind()
  uint64_t name_hash = 0;      // of a library's function, with its library's name: its levels are drawn by that; 0: by the index
  uint32_t modulus = 0;
  uint32_t level_count = 0;
  uint16_t levels[kMostLevels] = {};
};

struct CountedFunction {
  ScriptName name;
  uint32_t function = 0;
};

struct LayoutScript {
  bool any_binary = false;
  uint64_t text_hash = 0;      // unless any_binary
  uint64_t script_hash = 0;    // abi::hash64 of the text, for dose reports
  bool rest_still = false;
  uint32_t rest_line = 0;      // that says so
  // Layouts are matched with those of other builds (match_table.h): pads are drawn by identity, functions of libraries begin
  // where it says, and those of the executable are placed by a table of so many rows. Without a table code is drawn alone.
  uint32_t match_line = 0;     // that says so; 0: they are not
  bool has_match_table = false;
  uint32_t match_rows = 0;     // 0: nothing of the executable moves, in any build
  uint64_t match_hash = 0;     // of the rows
  uint32_t library_count = 0;  // functions of libraries, in the whole text
  uint32_t library_line = 0;   // the first of them
  uint32_t placed_count = 0;
  uint32_t counted_count = 0;
  PlacedFunction placed[kMostPlaced];
  CountedFunction counted[kMostCounted];
};

// Where the first fault is. line 0: in none of them.
struct ScriptVerdict {
  ScriptFault fault = ScriptFault::kNone;
  uint32_t line = 0;
};

// What the text says of the executable, or of the library of this name; lines about other files' functions are not kept. For a
// library `any_binary` holds, as the hash is the executable's. The script points into `text`, which must outlive it.
ScriptVerdict parse_script(const char* text, size_t bytes, LayoutScript& out, const char* library = nullptr);

// Whether it can't be obeyed where code stays: it says more than that layouts are matched.
bool needs_images(const LayoutScript& script);

// Whether a program whose code is at this level can obey it; what it counts needs any level but off.
ScriptVerdict suits_mode(const LayoutScript& script, abi::CodeMode mode);

// The name of a function by its index; nullptr: it has none.
using NameOf = const char* (*)(const void* context, uint32_t function);
// The first line that can't be obeyed in the code of this binary.
ScriptVerdict bind_script(const Metadata& code, NameOf name_of, const void* context, LayoutScript& script);

// "function:NAME", ended by 0: what the calls of a counted function are called where visits of progress points are told.
inline constexpr size_t kPointNameBytes = 112;  // progress::kNameBytes
void write_point_name(const CountedFunction& counted, char (&to)[kPointNameBytes]);

// The level of a placed function in image number `image` of a run with this seed.
uint32_t level_of(const PlacedFunction& placed, uint64_t seed, uint32_t image);

}  // namespace stab::code
