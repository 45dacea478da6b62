// Looking at a process from outside, without it noticing: no signal, no ptrace, no stop.
//
// A blocked thread shows its sp and pc in /proc/PID/task/TID/syscall; the look is valid when that line and the
// thread's schedstat are the same before and after its stack was read. A running one is sampled (sampler.h).
// Everything else is doubt, and doubt means "may be anywhere".
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/ring.h"
#include "runtime/code/stayers.h"

namespace stab::helper {

using code::SlotSet;

// Where images are, in the watched processes.
struct RingPlace {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t slot_bytes = 0;

  SlotSet slot_of(uint64_t pc) const {
    const uint64_t at = pc - address;
    return at < bytes ? SlotSet{1} << (at / slot_bytes) : 0;
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

// Calls `each` for every thread. kGone: no such process. kUnreadable: the list may be incomplete.
enum class Listing : uint8_t { kComplete, kGone, kUnreadable };
Listing list_threads(const Process& process, void (*each)(void* context, int tid), void* context);

enum class Look : uint8_t {
  kSeen,        // `live` is true of one moment
  kRunning,     // it runs: sample it
  kSeenRunning, // `live` was read while it ran: needs a second look that agrees
  kGone,
  kBusy,        // it moved while we looked, or is inside vfork: try again another time
  kUnreadable,  // permission, an unknown stack: nothing can be said of this thread
};

// A page-sized working buffer and the signal trampoline, shared by all looks.
struct Looker {
  RingPlace ring;
  uint64_t signal_return = 0;  // libc's sigreturn trampoline in the program: marks signal frames; 0: unknown
  const uint64_t* main_base = nullptr;  // Control::main_base
  uint8_t* buffer = nullptr;   // kLookBufferBytes
  code::SeenCode* seen = nullptr;  // all that looks find in images

  // The slot that `word` points into, if it does; it is noted then.
  SlotSet slot_of(uint64_t word) const {
    const SlotSet slot = ring.slot_of(word);
    if (slot != 0) seen->note(word);
    return slot;
  }
};
inline constexpr size_t kLookBufferBytes = 256 * 1024;

Look look_at_blocked(const Looker& looker, const Process& process, int tid, SlotSet& live);

}  // namespace stab::helper
