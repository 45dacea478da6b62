// The control block: what the program and its helper share, writable by both, in a few pages.
//
// It is a static object of the program. Before main the helper's shared memory is mapped over it in place, so
// `control()` is one constant address: counters that were made before stay, and without a helper (LD_PRELOAD,
// nothing switched on) the same code counts into private memory. Forked children keep sharing it with their
// parent, so a counter is added to with add(), in batches, never with a plain +=.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/api/program_orders.h"
#include "runtime/arch/arch.h"
#include "runtime/code/entry_cell.h"
#include "runtime/code/moved_library.h"

namespace stab {

inline constexpr uint32_t kMaxSlots = 64;      // images of a ring; more would only be memory
inline constexpr uint32_t kMaxKin = 256;       // forked children that share the images
inline constexpr size_t kControlBytes = 8192;  // whole pages: shared memory is mapped over them

// Relaxed: a counter orders nothing.
inline void add(uint64_t& counter, uint64_t amount = 1) { __atomic_fetch_add(&counter, amount, __ATOMIC_RELAXED); }
// True if that raised the value.
inline bool raise(uint64_t& value, uint64_t least) {
  uint64_t before = __atomic_load_n(&value, __ATOMIC_RELAXED);
  while (before < least)
    if (__atomic_compare_exchange_n(&value, &before, least, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return true;
  return false;
}
inline uint64_t peek(const uint64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

// What made a run differ from what its settings ask for: bit numbers of Control::degradations. Each has its
// words in kDegradationWords (control.cc); the dose report lists them. Add at the end.
enum class Degradation : uint8_t {
  kNoMetadata,         // the executable carries no stab_code, or not of this version
  kTextDiffers,        // its text is not what the metadata describes, or elsewhere
  kMetadataMalformed,  // stab_code holds something impossible
  kNoHelper,           // the helper could not be started
  kNoMemfd,            // the kernel gave no shared memory
  kMapDenied,          // the program could not map the images
  kNoNearMemory,       // no room for images within 2 GiB of the text
  kTextRelocations,    // the loader changed the text: file and memory differ
  kRingFull,           // no image could be reused: some layouts lasted longer than an epoch
  kThreadsUnreadable,  // a thread could not be read, time after time: no image was reused meanwhile
  kForkUnresolved,     // a forked child could not be followed: moving stopped
  kNoUnwinder,         // exceptions couldn't pass moved functions: the unwinder is LLVM's libunwind
  kReportFailed,       // STAB_REPORT could not be opened
  kNoPads,             // stack is on but neither the executable nor a library has a function with a pad
  kLateTicks,          // the helper missed epochs: it was late by more than one
  kSwitchesStacks,     // suspended stacks may hold return addresses: images are never reused
  kHeapNoMemory,       // the heap could not reserve address space at the start: small requests fail until some can be had
  kModulePads,         // pads of a shared library could not be drawn
  kNoSampling,         // running threads can't be sampled: images are reused only once threads block
  kNoPerfMap,          // STAB_PERF_MAP is set but /tmp/perf-PID.map could not be made
  kModuleStack,        // a shared library's pads read a record of their own, and can't be led to the program's
  kNamesHidden,        // libraries don't find the runtime's names, and use those of libgcc and libc
  kUnwinderReplaced,   // exceptions couldn't pass moved functions: the executable has libgcc_eh's _Unwind_Find_FDE
  kHeapOfLibrary,      // a library of the program brings a malloc: the heap is its
  kDeepBinding,        // a library was loaded without RTLD_DEEPBIND: it would have found libc's heap beside ours
  kForeignNumbers,     // /proc numbers processes differently, so threads can't be found: images are never reused
  kThreadsDenied,      // the kernel refuses the helper to look at threads: no image is reused meanwhile
  kStacksTooLarge,     // a look at the threads took all the time it may: images that may be on those stacks stay
  kTooManyThreads,     // more threads than are followed: no image is reused meanwhile
  kNoBoard,            // there is no board of progress points, and the program visits some: they are not counted
  kPointsDropped,      // progress points found no place on the board
  kThreadsShareCells,  // threads found no row on the board: their visits are counted together
  kSimulatedAlone,     // under valgrind, which lets no program start a helper, and no launcher has started one
  kNoFunctionSamples,  // the laboratory asked for samples by function, and the kernel gives none
  kWalksCode,          // a runtime in the program walks code addresses: what our drivers didn't compile stays
  kNoLoops,            // long loops are to be led, and the metadata tells nothing of any
  kTextReplaced,       // the program mapped something over its own text or made it writable: it goes on there, unmoved
  kUnwinderOther,      // exceptions couldn't pass moved functions: a library brings an unwinder that asks neither of ours
  kUnwinderCame,       // such a library was loaded while code moved: what is called from then on runs originals
  kHeapOfProgram,      // the program brings a malloc: the heap is its
  kNoClock,            // the kernel refuses the helper to look at a clock: there are no epochs
  kNotMatched,         // layouts are to be matched with those of other builds, and for the code the laboratory has no table
  kMatchFailed,        // a function of the program has no place in the match table, or its images would be too large
  kNoIdentities,       // layouts are to be matched, and the executable says no identities of functions
  kWallEpochs,         // the program's CPU time can't be read: epochs end by the time of day
  kLibraryUnread,      // a shared library's file couldn't be read, or describes other code than there is: its code stays
  kLibraryNoMemory,    // there was no memory for a shared library's images: its code stays
  kLibrariesDropped,   // more shared libraries than can move at a time: the code of some stays
  kPointersStay,       // pointers to functions were to lead to copies, and lead to the originals
  kExecutableUnread,   // the executable's file couldn't be opened: what it says of its code is unknown
  kMemoryUnsearched,   // the program makes code while it runs, and its memory couldn't be searched for stacks at rest
  kDynamicWeak,        // libraries don't find the runtime's names, which are weak: LD_DYNAMIC_WEAK is set
  kLibraryOutOfReach,  // within reach of a shared library there was no room for its images: its code stays
  kTextRead,           // the program reads its text as data, from end to end: layouts of code and stack end
  kCount
};
extern const char* const kDegradationWords[static_cast<size_t>(Degradation::kCount)];

struct CodeDose {
  uint64_t layouts_built = 0;     // images that were published
  uint64_t layouts_executed = 0;  // of those, images some function was entered in; filled in by the helper
  uint64_t image_bytes = 0;       // of the newest image
  uint64_t build_ns = 0;          // sum over images
  uint64_t publish_ns = 0;
  uint64_t retire_ns = 0;
  uint64_t scans = 0;             // looks at the threads' stacks in search of images to reuse
  uint64_t scan_ns = 0;
  uint64_t looks = 0;             // at single threads
  uint64_t looks_in_doubt = 0;    // of those, without a result: the thread moved, or did not run in time
  uint64_t ticks_held = 0;        // epochs that kept the layout of the one before: no image could be reused
  uint64_t ticks_unentered = 0;   // epochs that kept it because nobody had entered it yet
  uint64_t searches = 0;          // of all memory for return addresses on stacks at rest, as the program made code
  uint64_t search_ns = 0;         // the helper's CPU time
  uint64_t stayers = 0;           // copies of functions in retired images whose calls were led to the newest
  uint64_t libraries_moved = 0;   // shared libraries of ours whose code moved, each time that one was loaded
  uint64_t libraries_stay = 0;    // and whose code did not
  uint32_t slots_made = 0;        // the ring's size in the end
  uint32_t library_functions = 0;        // in the metadata of shared libraries whose code moves, where it was the most at a time
  uint32_t library_functions_moved = 0;  // of those
  uint32_t functions = 0;         // in the metadata
  uint32_t functions_moved = 0;
  uint32_t not_moved[32] = {};    // by abi::Immovable
};

struct StackDose {
  uint64_t refills = 0;       // times that all slots were drawn anew
  uint32_t slots = 0;         // functions of the executable with a pad
  uint32_t slots_zeroed = 0;  // of those, recursive ones whose pad stays 0
  uint32_t library_slots = 0;         // the same of shared libraries, where it was the most
  uint32_t library_slots_zeroed = 0;
};

// Written by the heap alone; the helper only copies it into the dose report.
struct HeapDose {
  uint64_t mallocs = 0;          // allocations of any kind
  uint64_t bytes = 0;            // of the slots given and the large objects asked for, sum
  uint64_t mallocs_mmapped = 0;  // of those, served by one mmap each
  uint64_t bytes_mmapped = 0;
  uint64_t largest_mmapped = 0;  // bytes of the largest of them: one array that moves as a whole
  uint64_t layouts = 0;          // 1, and one more for each epoch in which an allocation was placed anew
  uint64_t turns = 0;            // times that one class moved because no epoch came
  uint64_t newest_epoch = 0;     // the last one counted in layouts
};

// Values of Control::request and Control::report_state: futex words.
inline constexpr uint32_t kRequestNone = 0;
inline constexpr uint32_t kRequestReport = 1;  // the program is exiting and waits for its dose report
inline constexpr uint32_t kRequestDead = 2;    // the helper's watcher saw it die
inline constexpr uint32_t kRequestOrders = 3;  // the program has orders (api/orders.h); the helper sets it back
inline constexpr uint32_t kReportPending = 0;
inline constexpr uint32_t kReportWritten = 1;
inline constexpr uint32_t kReportNobody = 2;   // no helper, or no report wanted
// What the kernel puts into Control::helper_life when the helper ends: FUTEX_OWNER_DIED.
inline constexpr uint32_t kHelperDied = 0x40000000;

struct Control {
  char magic[8] = {'S', 'T', 'A', 'B', 'C', 'T', 'R', 'L'};
  uint64_t nonce = 0;         // tells this family of processes from any other; 0: no helper
  int32_t program_pid = 0;    // the process whose dose this is; forked children write no report
  int32_t helper_pid = 0;
  uint64_t degradations = 0;  // bit set, see Degradation
  uint32_t request = kRequestNone;
  uint32_t report_state = kReportNobody;

  // Images. Constant once main runs, except epoch.
  uint64_t epoch = 0;         // layouts published so far; anyone may watch it to see time pass
  uint64_t ring_address = 0;  // in the program; 0: no images
  uint64_t ring_bytes = 0;
  uint64_t slot_bytes = 0;
  uint64_t text_address = 0;  // of CodeHeader::text_start in the program
  uint64_t text_bytes = 0;
  // While main runs: an address on its stack above which only libc's frames lie, no moved function's. 0: unknown.
  uint64_t main_base = 0;

  // Forks (runtime/code/fork.cc). The helper reuses no image while forks_pending is not 0 or a member of kin
  // can't be read.
  int32_t forks_pending = 0;    // begun, and the child not yet in kin
  uint32_t kin_count = 0;       // children that were ever put into kin
  uint32_t kin_overflowed = 0;  // more children than kMaxKin at a time: images are never reused from then on
  int32_t kin[kMaxKin] = {};    // pids of forked children (code/kin.h); the helper clears those that are gone

  uint32_t helper_life = 0;  // the helper's thread, as long as it lives (helper/life.h); 0: no helper

  alignas(64) CodeDose code;
  alignas(64) StackDose stack;
  alignas(64) HeapDose heap;
  alignas(64) RegionDose region;
  alignas(64) Orders orders;
  // executed[slot] is set by the first entry into the image there. Read on each entry, so on lines of its own.
  alignas(64) uint8_t executed[kMaxSlots] = {};
  code::EntryCell entries[code::kMostCounted];  // calls of the functions that the layout script counts, in its order

  code::LibraryMove library;
  code::MovedLibrary libraries[code::kMaxLibraries];
  // Why the layout script can't be obeyed in a library that has come; set before `library` is answered. code::ScriptFault
  uint32_t script_fault = 0;
  uint32_t script_line = 0;
  // Entries by way of canonical entries, as calls through pointers make them; some are lost where threads enter at once. Counted
  // in identity copies (mode copy) of sampled runs alone.
  alignas(64) uint64_t pointer_entries = 0;
};
static_assert(sizeof(Control) <= kControlBytes);

union ControlPages {
  constexpr ControlPages() : control() {}
  Control control;
  char bytes[kControlBytes];
};
// Hidden, or each access from position-independent code would go through the global offset table.
alignas(arch::kPage) extern __attribute__((visibility("hidden"))) ControlPages stab_control_pages;

inline Control& control() { return stab_control_pages.control; }

// Whether some code moves, or has moved.
inline bool has_images() {
  return control().ring_address != 0 || __atomic_load_n(&control().code.libraries_moved, __ATOMIC_RELAXED) != 0;
}

// A helper that was killed answers nothing any more.
inline bool is_helper_dead() { return (__atomic_load_n(&control().helper_life, __ATOMIC_ACQUIRE) & kHelperDied) != 0; }

inline void degrade(Control& where, Degradation what) {
  __atomic_fetch_or(&where.degradations, uint64_t{1} << static_cast<unsigned>(what), __ATOMIC_RELAXED);
}

}  // namespace stab
