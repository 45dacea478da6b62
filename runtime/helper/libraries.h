// Shared libraries whose code moves, from the helper's side (code/moved_library.h).
#pragma once

#include <stdint.h>

#include "runtime/code/moved_library.h"
#include "runtime/helper/dose_report.h"
#include "runtime/helper/handshake_messages.h"
#include "runtime/helper/module.h"

namespace stab::helper {

struct Session;

// Which file was read, and in which state. Another with the same text may differ in jump tables, frames and names.
struct FileStamp {
  uint64_t device = 0, inode = 0, bytes = 0;
  uint64_t modified_ns = 0, changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

// A place of Control::libraries. What was read of a library stays when it is gone, for when it comes again.
struct Library {
  Module module;
  ModuleMemory memory;
  uint64_t offset = 0;  // of its part of the libraries' memory: text, then slots
  uint64_t bytes = 0;
  uint64_t slots = 0;   // that the program has mapped
  bool is_read = false;
  FileStamp stamp;      // of what was read
  uint32_t sampled_file = ~0u;  // of SampledFiles; kNone: its samples are not told
  bool has_moved = false;       // where the module says, since it was loaded last
  uint32_t first_image = 0;     // number of the image in place when it came
};

// invariant: the parts of the memory don't overlap and end at `used`
struct Libraries {
  int memory_fd = -1;         // -1: no library can move
  uint8_t* shared = nullptr;  // our writable view
  uint64_t room = 0;          // bytes
  uint64_t used = 0;
  uint32_t count = 0;         // places that were ever taken
  uint32_t planned = code::kMaxLibraries;  // the place whose memory the program is to map now
  Library* all = nullptr;     // kMaxLibraries of them, in memory of zeros, which is what a new one is: most programs have none
};

// Makes the memory; the plan says how much it may become. What can't be had leaves the plan without any.
void make_library_memory(Session& session, Plan& plan);

// Obeys what the program asks in Control::library. pre: `advancing` is set
void serve_library(Session& session);

// Those that moved, for the dose report; `to` has room for kMaxLibraries. Returns how many. What is still mapped has a path, and
// so has what may be sampled.
uint32_t tell_libraries(const Session& session, MovedFile* to);

// Nothing of a library that is leaving is changed any more. pre: `advancing` is set
void let_libraries_go(Session& session);

}  // namespace stab::helper
