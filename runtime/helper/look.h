// The parts of a look at a thread that blocked and running threads share: finding a stack's end, scanning it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/helper/watched_process.h"

namespace stab::helper {

// What a scan of a stack comes across besides images: addresses of words that equal the sigreturn trampoline, and the
// descriptor of its thread, which libc puts at the upper end of each stack but main's.
struct SignalFrames {
  static constexpr uint32_t kMost = 64;
  uint32_t count = 0;
  bool met_descriptor = false;
  uint64_t at[kMost];
};

struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file = 0;  // its inode; 0: memory of no file
  bool writable = false;
};

// Of the file that a mapping is of.
struct MappedFile {
  uint64_t offset = 0;   // of the mapping's first byte
  uint64_t device = 0;   // as stat has it
  char path[4096] = {};  // as /proc/PID/maps has it, " (deleted)" included; empty: memory without a name
};

// As stat numbers devices; libc's makedev is a function, and the helper may be without libc.
uint64_t device_number(uint64_t major, uint64_t minor);

// The mapping that holds `address`, and the file that it is of, where that is asked. False: none. `buffer` holds
// kLookBufferBytes.
bool find_mapping(const Process& process, uint64_t address, uint8_t* buffer, Mapping& out, MappedFile* file = nullptr);

// Where the part of a stack ends that may hold return addresses into images: with its mapping, or, below main's
// frame, with that.
uint64_t end_of_frames(const Looker& looker, const Mapping& stack, uint64_t sp);

// On its way back from a handler a thread is in the trampoline, with the frame's first word just popped: no scan from sp
// upwards sees it.
void note_return_from_handler(const Looker& looker, uint64_t pc, uint64_t sp, SignalFrames& frames);

// Adds to `live` the slots that the words at `bytes` point into. `address` is where they lie in the process.
// False: more signal frames than can be followed.
bool scan_words(const Looker& looker, const uint8_t* bytes, size_t size, uint64_t address, SlotSet& live,
                SignalFrames& frames);

// kFailed: it isn't there, or not any more. kTooMuch: more of it, or more signal frames, than we follow.
enum class Reading : uint8_t { kDone, kFailed, kTooMuch };

// The same for memory of the process.
Reading scan_memory(const Looker& looker, const Process& process, uint64_t from, uint64_t to, SlotSet& live,
                    SignalFrames& frames);

// Whether a stack of which `stack` has been scanned up to `end` may go on behind it; then it is in `stack`, too. The kernel
// shows a stack in parts where pages of it were locked, or left out of forks or dumps.
bool goes_on(const Looker& looker, const Process& process, uint64_t end, const SignalFrames& frames, Mapping& stack);

// Scans a stack from sp to the end of its frames. pre: `stack` is the mapping that holds sp.
Reading scan_stack(const Looker& looker, const Process& process, uint64_t sp, Mapping& stack, SlotSet& live,
                   SignalFrames& frames);

// Follows signal frames to interrupted stacks outside [scanned_from, scanned_to), and those found there.
Reading scan_interrupted(const Looker& looker, const Process& process, uint64_t scanned_from, uint64_t scanned_to,
                         SlotSet& live, SignalFrames& frames);

}  // namespace stab::helper
