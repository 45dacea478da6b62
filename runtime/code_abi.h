// The agreement between post-link and the runtime: section stab_code, the metadata of a program's code. docs/reference/abi.md
// says the same for people.
//
// Everything here is on disk: fields are never reordered or reused, and a change bumps kCodeVersion in the same commit; a runtime
// that meets another version runs the program unmoved and says so in the dose report. Plain C++ without the standard library.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::abi {

// stab_code: what post-link knows of the final bytes. Not allocated; the helper reads it from the file.
//
//   CodeHeader | CodeFunction[function_count] | CodeTable[table_count] | u32 targets[target_count]
//   | DirectedFixup[directed_count] | u16 fixed[fixed_count] | 0 to 2 bytes up to a multiple of 4 | u32 loops[loop_words]
//   | 0 to 7 bytes up to a multiple of 8 | u64 identities[function_count] | u32 pads[function_count]
//   | 0 to 7 bytes up to a multiple of 8 | PointerCounts | PointerSlot[slots] | PointerField[fields]
//
// The last but one line is there where flags has kCodeIdentities, the last one where it has kCodePointers, too.
//
// Functions are sorted by start and don't overlap. Immovable ones are listed too, for the dose and for
// szc --stab-info; they own no fix-ups and no tables.
//
// The rule. X[t] is new minus original address of t. A PC-relative field of a moved body becomes
// disp + X[target] - X[body]; an absolute one becomes value + X[target]. X is non-zero only for entries of
// movable functions that are called or jumped to, and for the body's own tables. Whatever materializes a
// function's or a label's address keeps the original one. References inside the body need no fix-up.

// Not ".stab...": binutils take that for debugging information, and strip removes it.
inline constexpr char kCodeSection[] = "stab_code";
inline constexpr char kCodeMagic[8] = {'S', 'T', 'A', 'B', 'C', 'O', 'D', 'E'};
inline constexpr uint32_t kCodeVersion = 3;  // of this section alone; 2: text_hash in four lanes; 3: reasons from kNoFrame on
inline constexpr uint32_t kOldestCodeVersion = 2;  // still read, and written where nothing of 3 occurs

// Do not renumber. Why a function never moves.
enum class Immovable : uint8_t {
  kNo = 0,                // it moves
  kNoSize = 1,            // its symbol has no size
  kTooShort = 2,          // fewer than 5 bytes: no room for the jump of an entry
  kEntryCrosses8 = 3,     // its first 5 bytes cross an aligned 8-byte word: can't be patched by one store
  kEntryIsTarget = 4,     // something jumps to its bytes 1 to 4 that will run in the original body
  kForeign = 5,           // not compiled by our drivers (crt, libc's static parts, assembly), and nobody asked for it to move
  kReturnsTwice = 6,      // calls setjmp, getcontext, vfork or the like
  kUndecodable = 7,       // bytes that the disassembler rejects, or that end in the middle of an instruction
  kCrossShortJump = 8,    // an 8-bit jump leaves or enters it
  kOverlaps = 9,          // another symbol starts inside it with another end
  kRuntime = 10,          // belongs to our own runtime
  kUnresolvedField = 11,  // a PC-relative field whose target can't be told apart
  kFallsThrough = 12,     // assembly that runs off its end into whatever follows
  kColdPart = 13,         // split off and jumped to: flags may be alive at its entry, and the way into an image sets them
  // Of functions that other compilers made, where these may move (szc --stab-move=all); kAssembly of others, too:
  kNoFrame = 14,      // no unwind entry of exactly its extent: assembly, crt files, -fno-asynchronous-unwind-tables
  kAssembly = 15,     // does what no compiler does: flags alive at its entry, jumps to a middle, its places in a table (rseq)
  kLandingPads = 16,  // its exceptions are handled in a way that isn't known to follow a copy
  kWalksCode = 17,    // of a program whose runtime walks code addresses: Go, OCaml, V8 and the like
  kSystem = 18,       // the entry point, IFUNC resolvers, the unwinder; all that is linked statically with libc
  kAsksCaller = 19,   // of a shared library: it calls what looks at its caller's address, as dlopen and dlsym do
};
inline constexpr const char* kImmovableWords[] = {
    "moves",        "no-size",     "too-short",        "entry-crosses-8", "entry-is-target",  "foreign",
    "returns-twice", "undecodable", "cross-short-jump", "overlaps",        "runtime", "unresolved-field",
    "falls-through", "cold-part",  "no-frame",         "assembly",        "landing-pads",     "walks-code",
    "system",       "asks-caller"};

// CodeHeader::flags
inline constexpr uint64_t kCodeSwitchesStacks = 1;  // makecontext, swapcontext or code that loads the stack
                                                    // pointer from memory: suspended stacks may hold return addresses
inline constexpr uint64_t kCodeWalked = 2;          // since version 3: a runtime in it walks code addresses; see kWalksCode
inline constexpr uint64_t kCodeIdentities = 4;      // identities and pads follow the loops. Readers from before they were there
                                                    // leave them out
inline constexpr uint64_t kCodePointers = 8;        // pointers follow the pads. Readers from before leave them out, too

struct CodeHeader {
  char magic[8];
  uint32_t version;         // kOldestCodeVersion to kCodeVersion, the oldest that has what occurs
  uint32_t header_bytes;    // sizeof(CodeHeader)
  uint64_t text_start;      // link-time address of the first executable byte covered; page aligned
  uint64_t text_bytes;      // up to the end of the executable segment; not rounded
  uint64_t text_hash;       // hash64 of the file's bytes from the first function's start to the text's end (what
                            // lies before, in a small file the ELF header, strip may change)
  uint64_t flags;
  uint32_t function_count;
  uint32_t table_count;
  uint32_t target_count;
  uint32_t directed_count;
  uint32_t fixed_count;
  uint32_t loop_words;      // of what is told about loops; 0: nothing. Readers from before it was there leave it out
};

// CodeFunction::flags
inline constexpr uint8_t kFrontNop = 1;  // the first instruction is one byte long: the copy gets a 2-byte nop in
                                         // front, so that retiring it overwrites no instruction boundary
inline constexpr uint8_t kLeaves = 2;    // since version 3: a copy may go on in the original, through an array of labels

struct CodeFunction {
  uint32_t start;           // from text_start
  uint32_t bytes;
  uint32_t first_directed;  // DirectedFixup[first_directed .. + directed_count)
  uint32_t directed_count;
  uint32_t first_fixed;     // u16 fixed[first_fixed .. + fixed_count)
  uint32_t fixed_count;
  uint32_t first_table;     // CodeTable[first_table .. + table_count)
  uint16_t table_count;
  Immovable immovable;
  uint8_t flags;
};

// Do not renumber.
enum class TableKind : uint8_t {
  kRelative32 = 0,  // i32 entries: target - table (position independent)
  kAbsolute64 = 1,  // u64 entries: target
};

// A jump table of one function, all of whose targets lie inside that function. It is copied and retargeted
// with each copy of the function.
struct CodeTable {
  uint64_t address;       // link-time address of the table
  uint32_t first_target;  // u32 targets[first_target .. + entry_count): offsets from the function's start
  uint32_t entry_count;
  TableKind kind;
  uint8_t reserved[7];    // 0
};

// Do not renumber.
enum class FixupKind : uint8_t {
  kPcFunction = 0,  // relative, to the entry of function `target` (index): a call or a jump
  kPcTable = 1,     // relative, to table `target` (index into all tables): its address is made
  kAbsTable = 2,    // 32-bit sign-extended absolute address inside table `target`: an entry is read
};

struct DirectedFixup {
  uint32_t at;              // offset of the 4-byte field from the function's start
  uint32_t kind_and_target; // FixupKind in the top 2 bits, target index below
  FixupKind kind() const { return static_cast<FixupKind>(kind_and_target >> 30); }
  uint32_t target() const { return kind_and_target & 0x3fffffff; }
};

// The fixed list of a function holds its relative fields whose target does not move (X[target] = 0): each
// entry is the distance in bytes from the previous field's offset (from the function's start for the first).
// kFixedSkip means: go kFixedSkip bytes ahead, no field there.
inline constexpr uint16_t kFixedSkip = 0xffff;

// Loops. An activation that never returns stays in the image that it was entered in. `loops` says where one can be led to
// another image while it runs (runtime/code/long_loops.h): at a lead point, the boundary of an instruction that each turn of
// a loop executes. loops[0] is the number of records, LoopRecord[loops[0]] follow, ascending by function, then the points.
// Do not renumber.
enum class LoopStay : uint8_t {
  kNo = 0,         // its loops have points, all but the `unled` ones
  kHoldsTable = 1, // it may hold an address of its own jump tables, which are others in another image
};
struct LoopRecord {
  uint32_t function;     // index; one that moves
  uint32_t first_point;  // u32 points[first_point .. + point_count), ascending by offset
  uint16_t unled;        // backward branches that no point is on the way of
  uint8_t point_count;
  LoopStay stay;
};
// A point is the offset of an instruction's first byte. A near one takes a near jump there, whose bytes lie in one aligned
// word and in that instruction; a short one a short jump to a word behind the function's end.
inline constexpr uint32_t kShortPoint = 1u << 31;
inline constexpr uint32_t kNearPointBytes = 5, kShortPointBytes = 2;
inline constexpr uint32_t kMostPoints = 64;       // of one function
inline constexpr uint32_t kMostShortPoints = 8;   // of one function: they share what a short jump reaches
inline constexpr uint32_t kFirstPoint = 2;        // the bytes before are what retiring an entry overwrites
// The words behind a function that its short points need are aligned: so many bytes behind its end the first one begins.
inline constexpr uint32_t gap_of(uint32_t start, uint32_t bytes) { return (8 - (start + bytes) % 8) % 8; }
// Whether a short point at `at` reaches the word of that number.
inline constexpr bool reaches_word(uint32_t start, uint32_t bytes, uint32_t at, uint32_t number) {
  return uint64_t{bytes} + gap_of(start, bytes) + 8 * uint64_t{number} <= uint64_t{at} + kShortPointBytes + 127;
}
// Whether the `bytes` at that address lie in one aligned word.
inline constexpr bool in_one_word(uint64_t address, uint32_t bytes) { return address % 8 + bytes <= 8; }
inline constexpr bool is_short_point(uint32_t point) { return (point & kShortPoint) != 0; }
inline constexpr uint32_t point_offset(uint32_t point) { return point & ~kShortPoint; }
// Whether a jump can be stored at a point of that function. `shorts` is the number of its short points before this one, which
// is counted, too.
inline constexpr bool point_fits(const CodeFunction& function, uint32_t point, uint32_t& shorts) {
  const uint32_t at = point_offset(point), bytes = is_short_point(point) ? kShortPointBytes : kNearPointBytes;
  if (at < kFirstPoint || uint64_t{at} + bytes > function.bytes || !in_one_word(function.start + at, bytes)) return false;
  return !is_short_point(point) || (reaches_word(function.start, function.bytes, at, shorts++) && shorts <= kMostShortPoints);
}

// Identities. The same function of another build of the program has the same identity: it is made of its name and, where that
// is local and has namesakes, the name of its source file, not of where it lies or what is in it
// (instrumenter/postlink/identities.cc). No two functions of one binary have the same. pads[i] is the slot of stab_pads that
// function i reads, or kNoPad.
inline constexpr uint32_t kNoPad = ~0u;

// Pointers: all that makes a function's address a value, of those functions whose every such place is known and can be led to a
// copy (instrumenter/postlink/pointers.h). Only kDirect reads them; the rule above leaves such values as they are. A slot is an
// 8-byte word of data, which holds the address when the program starts; a field is the 4-byte field of an instruction that makes
// it.
struct PointerCounts {
  uint32_t slots;
  uint32_t fields;
};
struct PointerSlot {
  uint64_t address;   // link-time; ascending
  uint32_t target;    // function index; it moves
  uint32_t reserved;  // 0
};
struct PointerField {
  uint32_t function;  // index; it moves
  uint32_t at;        // offset of the field from the function's start
  uint32_t target;    // function index; it moves
};

static_assert(sizeof(PointerSlot) == 16);
static_assert(sizeof(PointerField) == 12);
static_assert(sizeof(LoopRecord) == 12);
static_assert(sizeof(CodeHeader) == 72);
static_assert(sizeof(CodeFunction) == 32);
static_assert(sizeof(CodeTable) == 24);
static_assert(sizeof(DirectedFixup) == 8);

// The hash of CodeHeader::text_hash: 8-byte little-endian words, dealt out to four lanes that mix theirs by multiply
// and rotate, the tail padded with zeros; then the lanes one after the other. Four, because each step waits for the
// one before: a program's start waits for this. Detects a changed text; not cryptographic.
inline uint64_t hash64(const void* data, size_t bytes) {
  constexpr size_t kLanes = 4;
  const unsigned char* at = static_cast<const unsigned char*>(data);
  uint64_t lanes[kLanes] = {0x9e3779b97f4a7c15u ^ bytes, 1, 2, 3};
  const auto mix = [](uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    return (hash << 29) | (hash >> 35);
  };
  uint64_t words[kLanes];
  for (; bytes >= sizeof words; bytes -= sizeof words, at += sizeof words) {
    __builtin_memcpy(words, at, sizeof words);
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  __builtin_memset(words, 0, sizeof words);
  __builtin_memcpy(words, at, bytes);
  uint64_t hash = 0;
  for (size_t i = 0; i < kLanes; ++i) hash = mix(hash, mix(lanes[i], words[i]));
  return hash ^ (hash >> 32);
}

}  // namespace stab::abi
