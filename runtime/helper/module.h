// A file of the program whose functions move: the executable, or a shared library.
#pragma once

#include <stdint.h>

#include "runtime/code/image.h"
#include "runtime/code/pointers.h"
#include "runtime/code/ring.h"
#include "runtime/code/stayers.h"
#include "runtime/control.h"
#include "runtime/helper/function_names.h"

namespace stab::helper {

// invariant: where `moves` holds, the newest slot of the ring holds an image of it, and everything here is set
struct Module {
  bool moves = false;
  bool text_replaced = false;         // by the program: no further image would be entered, and there is none
  bool is_library = false;            // else it is the executable
  uint64_t name = 0;                  // of a library, as the program says: what its layouts are drawn by
  uint8_t* text = nullptr;            // our writable view of what the program executes
  uint8_t* ring = nullptr;            // of its slots
  uint64_t text_bytes = 0;            // whole pages
  uint64_t ring_address = 0;          // in the program
  uint64_t slot_bytes = 0;            // from one slot to the next
  uint64_t used_bytes = 0;            // of a slot, at most
  uint64_t executed_address = 0;      // of Control::executed, in reach of the images
  uint32_t image_bytes = 0;           // of the newest image

  code::Metadata code;
  uint8_t* original = nullptr;        // a copy of the text's bytes in the file, with what is led (kDirect); whole pages
  code::ImagePlace place;             // slot and executed are set for each image
  code::ImageScratch scratch;
  FunctionNames names;
  code::Stayers stayers;

  uint8_t* slot_memory(int slot) { return ring + static_cast<uint64_t>(slot) * slot_bytes; }
  uint64_t slot_address(int slot) const { return ring_address + static_cast<uint64_t>(slot) * slot_bytes; }
};

// Where a module's bytes are kept; what it holds is given back at once.
class ModuleMemory {
 public:
  // Zeros. nullptr: there is no memory, or no more parts are noted.
  uint8_t* allocate(uint64_t bytes);
  // The same for memory that is filled at once: its pages are made by one call, large ones where the kernel has them.
  uint8_t* allocate_to_fill(uint64_t bytes);
  void release();

 private:
  static constexpr uint32_t kMostParts = 12;
  struct Part {
    void* at;
    uint64_t bytes;
  };
  Part parts_[kMostParts] = {};
  uint32_t count_ = 0;
};

// Reads and checks the metadata, the text and the frame descriptions of a file: code, original, text_bytes and the frames of the
// scratch. kCount: done; else why not. kNoMetadata: nothing says that its code may move.
Degradation read_module(int file, ModuleMemory& memory, Module& out);
// Its metadata alone.
code::MetadataFault read_module_metadata(int file, ModuleMemory& memory, code::Metadata& out);
// What its metadata say of pointers to functions. False: nothing, or something impossible. pre: read_module() has read them
bool read_module_pointers(int file, ModuleMemory& memory, const code::Metadata& code, code::Pointers& out);
// Then binds working memory for images that obey the script, if there is one: slot_bytes, used_bytes and scratch. False: an
// image would be too large, or there is no memory.
bool bind_module(const code::LayoutScript* script, ModuleMemory& memory, Module& module);

// For code::ReadAt, with a pointer to the descriptor.
bool read_file_at(void* file, void* to, size_t size, uint64_t offset);

}  // namespace stab::helper
