// What program and helper say to each other before main, over a SOCK_SEQPACKET pair. One message each way in
// turn; after kReady the program closes its end, and from then on only shared memory and the kernel's knowledge
// of the process connect the two.
//
//   helper                                     program
//   Greeting                            ->     is this descriptor a helper's? (peeked at before anything is sent)
//                                       <-     Hello, with the descriptors of Handed
//   makes, fills and seals the memory
//   Plan, with the descriptors of Made  ->     maps what Plan says
//                                       <-     Mapped
//   builds and publishes the first image
//   Ready                               ->     closes the socket, goes on to main
//
// Either side treats anything unexpected, and a silence of kPatienceMs, as the end of it: the program then runs
// unmoved. kProtocolMagic, which ends with the protocol's version, guards mixtures: a program that finds another greeting
// starts the helper that it was linked with.
//
// The helper makes the shared memory, so that the program never has what could take it away again: the images' memory can
// be mapped writable by the helper alone, and neither shrinks under it. What is believed of Hello and Mapped: handshake.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/settings_abi.h"

namespace stab::helper {

inline constexpr uint64_t kProtocolMagic = 0x37524550'4c454853u;  // "SHELPER7"
inline constexpr int kGreetingPatienceMs = 2000;  // a helper that our launcher started is there within 10 ms
inline constexpr int kPatienceMs = 10'000;        // hashing and copying 100 MB of text takes well below 1 s

struct Greeting {
  uint64_t magic = kProtocolMagic;
  uint32_t version = abi::kAbiVersion;
  int32_t helper_pid = 0;
};

// Descriptors that travel with Hello, in this order; `handed` has a bit for each that is there.
enum class Handed : uint32_t {
  kMemory,      // /proc/self/mem, opened for reading and writing
  kMaps,        // /proc/self/maps
  kDirectory,   // /proc/self as /proc/PID
  kPidfd,       // of the program
  kExecutable,  // the program's file
  kReport,      // where the dose report goes; a launcher's helper has its own
  kScript,      // the layout script (STAB_LAYOUT); a launcher's helper has its own
  kCount
};

// Whether exceptions could pass moved functions, and if not, why.
enum class Unwinder : uint32_t {
  kFollows,
  kLlvm,         // the executable's is LLVM's libunwind
  kNamesHidden,  // libraries don't find the runtime's names
  kReplaced,     // the executable has libgcc_eh's _Unwind_Find_FDE
  kOther,        // a library brings one that asks neither of ours
  kDynamicWeak,  // libraries don't find the runtime's names, by LD_DYNAMIC_WEAK
  kCount
};

// Of an executable that szc hasn't linked, and of which nothing is to move.
inline constexpr uint32_t kHost = 1;
inline constexpr uint32_t kHostOfStacks = 2;  // it switches stacks, as the symbols say that it takes

struct Hello {
  uint64_t magic = kProtocolMagic;
  uint32_t version = abi::kAbiVersion;
  uint32_t handed = 0;
  abi::Settings settings;
  int32_t pid = 0;
  uint32_t text_relocations = 0;  // 1: the loader has changed the text
  uint64_t nonce = 0;
  uint64_t bias = 0;              // address minus link-time address
  uint64_t pads_address = 0;      // page of the first slot, 0: no pads
  uint64_t pads_bytes = 0;        // whole pages
  uint64_t slots_address = 0;     // of the first slot
  uint32_t slot_count = 0;
  uint32_t unwinder = 0;          // Unwinder
  uint64_t control_address = 0;
  uint64_t signal_return = 0;     // libc's sigreturn trampoline, 0: unknown
  uint64_t degradations = 0;      // what went wrong before this message
  uint32_t may_load = 0;          // 1: shared libraries may come
  uint32_t of_host = 0;           // 0: szc has linked the executable; else kHost or kHostOfStacks
  uint32_t stacks_switch = 0;     // 1: a library that is there switches stacks
};

// Descriptors that travel with Plan, in this order. None at all: the helper could get no shared memory, and ends.
enum class Made : uint32_t {
  kControl,  // the control block
  kBoard,    // of progress points; only where the plan has its bytes
  kImages,   // text, pads and images; only where the plan has any
  kLibraries,  // the libraries' memory; only where the plan has its bytes
  kCount
};

struct Plan {
  uint64_t magic = kProtocolMagic;
  uint64_t text_address = 0;  // 0: code stays
  uint64_t text_bytes = 0;    // whole pages
  uint64_t text_offset = 0;   // in the images' memfd
  uint64_t pads_bytes = 0;    // whole pages to map at Hello::pads_address, 0: none
  uint64_t pads_offset = 0;
  uint64_t ring_offset = 0;
  uint64_t slot_bytes = 0;
  uint64_t slot_limit = 0;
  uint64_t board_bytes = 0;   // 0: there is no board
  uint64_t library_bytes = 0; // how large the libraries' memory may grow; 0: there is none
  // code::ScriptFault: why the layout script can't be obeyed; the program then says so and ends. Its line from 1, 0: none.
  uint32_t script_fault = 0;
  uint32_t script_line = 0;
};

struct Mapped {
  uint64_t magic = kProtocolMagic;
  uint32_t text = 0;     // 1: done
  uint32_t pads = 0;
  uint32_t control = 0;
  uint32_t slots = 0;    // how many slots the ring has room for
  uint32_t board = 0;
  uint32_t libraries = 0;
  uint64_t ring_address = 0;
  uint64_t degradations = 0;
};

struct Ready {
  uint64_t magic = kProtocolMagic;
  uint32_t moving = 0;   // 1: the canonical entries lead to an image
  uint32_t reserved = 0;
};

}  // namespace stab::helper
