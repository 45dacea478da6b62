// Looking at a process from outside, without it noticing: no signal, no ptrace, no stop.
//
// A blocked thread shows its sp and pc in /proc/PID/task/TID/syscall; the look is valid when that line and the
// thread's schedstat are the same before and after its stack was read. A running one is sampled (sampler.h).
// Everything else is doubt, and doubt means "may be anywhere".
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "runtime/code/moved_library.h"
#include "runtime/code/partition_point.h"
#include "runtime/code/ring.h"
#include "runtime/code/stayers.h"

namespace stab::helper {

using code::SlotSet;

// linux/fs.h of 6.11 and later; older headers lack it.
struct MapQuery {
  uint64_t size, query_flags, query_addr;
  uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
  uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
  uint64_t vma_name_addr, build_id_addr;
};
static_assert(sizeof(MapQuery) == 104);
inline constexpr unsigned long kProcmapQuery = _IOWR('f', 17, MapQuery);

// Where the images of a module are, in the watched processes.
struct RingPlace {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t slot_bytes = 0;

  SlotSet slot_of(uint64_t pc) const {
    const uint64_t at = pc - address;
    return at < bytes ? SlotSet{1} << (at / slot_bytes) : 0;
  }
};

// Of all modules. Each word of a stack is looked up here, so libraries' rings are in order; most words lie before or behind all.
struct RingPlaces {
  RingPlace program;
  RingPlace libraries[code::kMaxLibraries];
  uint32_t count = 0;

  SlotSet slot_of(uint64_t pc) const {
    if (const SlotSet slot = program.slot_of(pc); slot != 0 || count == 0) return slot;
    if (pc < libraries[0].address || pc >= libraries[count - 1].address + libraries[count - 1].bytes) return 0;
    const uint32_t behind = code::partition_point(count, [&](uint32_t i) { return libraries[i].address <= pc; });
    return libraries[behind - 1].slot_of(pc);
  }
  void clear_libraries() { count = 0; }
  // pre: fewer than kMaxLibraries
  void add_library(const RingPlace& place) {
    uint32_t at = count++;
    for (; at > 0 && libraries[at - 1].address > place.address; --at) libraries[at] = libraries[at - 1];
    libraries[at] = place;
  }
};

// A process of the family, seen through descriptors that were opened while it was certainly ours.
// Plain handles: whoever owns the array of them closes them.
struct Process {
  int pid = 0;
  int memory = -1;     // /proc/PID/mem: pins the address space, so reading 0 bytes means that it is gone (or exec)
  int maps = -1;       // /proc/PID/maps
  int directory = -1;  // /proc/PID
};

// Whether /proc numbers the process as the kernel does for the process and for its helper: not in a PID namespace that has
// no /proc of its own, nor where the helper is outside of the namespace. pre: its directory is open.
bool is_numbered(const Process& process);

// Opens what is missing in `process`; false: it can't be read (or is gone).
bool open_process(Process& process);
void close_process(Process& process);

// True while the address space still exists: false after exit, death and exec.
bool is_alive(const Process& process, uint64_t readable_address);

// True once the process is on its way out of exit or death, which begins before its address space goes, while its
// pidfd tells of the end only after that. False for one that has just exec'd.
bool is_ending(const Process& process);

// True while it runs, readable or not, in the address space that it was forked with: false after exec, and once gone.
bool is_unexeced_fork(const Process& process);

// True after exec, also while the memory that was opened before lives on in another process, and once it is gone.
bool has_left_its_memory(const Process& process);

// Whether a thread waits for a child that uses its stack until it execs; false for one that can't be read.
bool waits_in_vfork(const Process& process, int tid);

// Calls `each` for every thread, at least once. kGone: no such process. kTorn: threads ended so fast that some may be missing;
// another time none will. kUnreadable: the list can't be had now; kDenied: the kernel refuses it.
enum class Listing : uint8_t { kComplete, kGone, kTorn, kUnreadable, kDenied };
Listing list_threads(const Process& process, void (*each)(void* context, int tid), void* context);

enum class Look : uint8_t {
  kSeen,        // `live` is true of one moment
  kRunning,     // it runs: sample it
  kSeenRunning, // `live` was read while it ran: needs a second look that agrees
  kGone,        // it has ended, or is on its way and never comes back to its program's code
  kBusy,        // it moved while we looked, is inside vfork, or its address space just went: try again another time
  kUnreadable,  // its stack is not there, or we are short of something: it may pass
  kDenied,      // the kernel refuses us to look at it
  kTooLarge,    // what is to be read of it took all the time that there is
};

// Whether an error of a file of /proc says that its process or thread is no more.
inline bool means_gone(long error) { return error == -ENOENT || error == -ESRCH; }
inline bool means_denied(long error) { return error == -EACCES || error == -EPERM; }

// True once a thread has ended or is ending: it never runs its program's code again, and from some moment on can't be read. Also
// of those that the kernel has among the program's threads to work for io_uring: they never run its code at all.
bool has_ended(const Process& process, int tid);

// A page-sized working buffer and the signal trampoline, shared by all looks.
struct Looker {
  RingPlaces rings;
  uint64_t signal_return = 0;  // libc's sigreturn trampoline in the program: marks signal frames; 0: unknown
  const uint64_t* main_base = nullptr;  // Control::main_base
  uint8_t* buffer = nullptr;   // kLookBufferBytes
  uint64_t give_up_cpu_ns = 0;  // of our own time, when reading stacks ends, whatever is left of them
  uint64_t readable = 0;       // an address that is readable as long as the address space is there
  code::SeenCode* seen = nullptr;  // all that looks find in images

  // The slot that `word` points into, if it does; it is noted then.
  SlotSet slot_of(uint64_t word) const {
    const SlotSet slot = rings.slot_of(word);
    if (slot != 0) seen->note(word);
    return slot;
  }
};
inline constexpr size_t kLookBufferBytes = 256 * 1024;

Look look_at_blocked(const Looker& looker, const Process& process, int tid, SlotSet& live);

}  // namespace stab::helper
