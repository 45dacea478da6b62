// The agreement between our pass and the runtime: the sections and symbols that the pass emits, and what their bytes mean.
// docs/reference/abi.md says the same for people.
//
// Everything here is on disk: nothing is reordered or reused, and a change bumps kAbiVersion (settings_abi.h). Plain C++ without
// the standard library.
#pragma once

#include <stdint.h>

namespace stab::abi {

// u32 slots, read-only and allocated; __start_stab_pads and __stop_stab_pads bound them. A function's entry
// moves the stack pointer by the lower half of its slot, unless it runs deeper than the thread's budget. The upper half
// holds flags. The helper rewrites the slots through a shared mapping; the program itself can only read them.
// A slot belongs to the one function that refers to it.
inline constexpr char kPadsSection[] = "stab_pads";
inline constexpr uint32_t kPadMask = 4080;     // multiples of 16 up to one page: uniform over 64 L1 sets
inline constexpr uint32_t kPadRecursive = 1u << 16;  // set by post-link in the slot's file content: stays 0 unless
                                                     // STAB_STACK=recursive
inline constexpr uint32_t kPadHeld = 1u << 17;       // set by post-link, too: stays 0 always

// Thread-local, defined by the runtime (and weakly, all zero, by each object, so that objects link without it; in a linked
// library that definition is taken back, as it would make the library's thread-local storage static):
// pads are taken while the stack pointer is from lowest to base. {~0, 0}: nowhere, which the first comparison finds.
inline constexpr char kStackRecordSymbol[] = "stab_stack";
struct StackRecord {
  uint64_t lowest;  // address; `budget` below base
  uint64_t base;    // address; the end of what the thread's start used
};
inline constexpr StackRecord kNowhere = {~uint64_t{0}, 0};

// The addend of a relocation of type none: its word holds the record's distance from the thread pointer, in a library whose link
// hides the record's name. The word is 0 until the runtime writes it (runtime/api/hidden_record.cc). "stabword" in ASCII.
inline constexpr int64_t kRecordWordMark = 0x64726f7762617473;

// Called by a constructor and a destructor of each shared library that has pads: void (u32* start, u32* stop,
// StackRecord* record) and void (u32* start). `record` is the stab_stack that the library reads: another than the program's,
// where its link hides the name. Weak references, so that a library also works without the runtime. Begin is load without the
// record: of older libraries, and what newer ones call in older runtimes.
inline constexpr char kModuleLoadSymbol[] = "stab_rt_module_load";
inline constexpr char kModuleBeginSymbol[] = "stab_rt_module_begin";
inline constexpr char kModuleEndSymbol[] = "stab_rt_module_end";

// The same of each shared library that has code, pads or not: void (const void* place), an address in its file.
inline constexpr char kCodeLoadSymbol[] = "stab_rt_code_load";
inline constexpr char kCodeUnloadSymbol[] = "stab_rt_code_unload";

// One entry for each function that our pass has seen, emitted as !pcsections metadata: i32, the function's
// address minus the entry's own, then u32, its size in bytes. A function that is not listed is foreign and moves
// only where other compilers' code may (szc --stab-move=all). Absent in a binary that none of our compilers made: then
// every well-formed function may move.
inline constexpr char kFunctionsSection[] = "stab_funcs";

// One entry for each computed-goto table whose every use the pass has proven to be an indirect branch of one
// function (no label is stored anywhere): i32, the table's address minus the entry's own. Only these may be
// copied with their function; labels of other tables keep their addresses in the original body.
inline constexpr char kGotosSection[] = "stab_gotos";

// One byte of each object that makes code on the stack at run time. Post-link makes the stack of what is linked executable then.
inline constexpr char kStackCodeSection[] = "stab_stack_code";

// One byte of each object whose code measures the stack, as who copies it must. If the program calls longjmp, too, post-link
// says that it switches stacks.
inline constexpr char kStackCopiesSection[] = "stab_stack_copies";

// One byte of each object with a signal handler that lets the interrupted thread go on with another stack pointer. If the program
// calls sigaction, too, post-link says that it switches stacks.
inline constexpr char kSignalSwitchesSection[] = "stab_signal_switches";

// One byte of each object that saves where it is by setjmp and leaves for another place by longjmp at once, as coroutines do
// that lie below each other on one stack. If the program calls longjmp, post-link says that it switches stacks, and holds all
// of its slots at 0.
inline constexpr char kJumpSwitchesSection[] = "stab_jump_switches";

// One byte of each object, without assembly that switches stacks, that has a function which gives an array of its own away: that
// may be a stack. If other assembly of the program's switches stacks, post-link holds all of its slots at 0.
inline constexpr char kStackArraysSection[] = "stab_stack_arrays";

// Not loaded, for post-link alone: what is in the constants that each function uses, by the functions' names. Entries, at
// multiples of 4: u64 key, hash64 of the function's symbol and, where that is local, a byte 0 and its file's name as STT_FILE has
// it; u32 count; u32 hashes[count], one of each place where the address of data is used. 0: nothing is known of what is there.
inline constexpr char kConstantsSection[] = "stab_constants";

// Not loaded, of a linked file, written by post-link: the same by functions, as stab_code numbers them.
//
//   ConstantsHeader | u32 ends[function_count] | u32 hashes[hash_count]
//
// hashes[ends[i - 1] .. ends[i]) are of function i. One of which nothing is known has a single 0.
inline constexpr char kContentsSection[] = "stab_contents";
inline constexpr uint32_t kContentsVersion = 1;
struct ConstantsHeader {
  uint32_t version;
  uint32_t function_count;
  uint32_t hash_count;
};
static_assert(sizeof(ConstantsHeader) == 12);

}  // namespace stab::abi
