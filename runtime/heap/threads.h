// Which heap a thread allocates from, from the first malloc of the process to the last of each thread, across
// fork. All state that is not one heap's own.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "runtime/heap/heap.h"

namespace stab::heap {

// kUndecided until the first call; then settings() have been read, for good. kLibc: calls are handed on to what is
// behind ours (libc_heap.h), libc's heap in most programs.
enum class State : uint8_t { kUndecided, kLibc, kOurs };
extern __attribute__((visibility("hidden"))) std::atomic<State> state;

// kMaxSmall, or 0 if the state is kLibc: one comparison tells malloc that a request is small and ours.
extern __attribute__((visibility("hidden"))) size_t small_limit;

// Decides the state. Safe from a malloc that runs before libc and its constructors are ready.
State decide();
// Makes it kLibc, and the dose say so, where the program or a library of it brings a malloc.
void find_brought();
// Makes it kLibc for good. False: it was decided before.
bool leave_to_libc();

extern __attribute__((visibility("hidden"))) Heap no_heap;  // what a thread starts with: every fast path on it fails

// Initial-exec: one load. The library for LD_PRELOAD is there at program start, so its block fits.
extern __attribute__((visibility("hidden"))) __thread Heap* my_heap __attribute__((tls_model("initial-exec")));

// A slot of the thread's heap, which it gets by its first: that of a thread that ended, or a new one. Null: no memory.
// pre: state is kOurs.
void* allocate_in_thread(int size_class);

// Gives memory back to the system: of this thread, of ended threads, of what is kept. True if there was any.
bool trim();

}  // namespace stab::heap
