// SampledFiles: samples that lie in other files than the executable, by file and function: in libraries that move, and in
// whatever else is mapped.
//
// While the program runs a sample is counted by the place that it has in its file. Names are looked up when all is over, as the
// symbols of a large library take a while to read. So each file stays open from when it was seen first.
#pragma once

#include <stdint.h>

#include "runtime/helper/epoch_record.h"
#include "runtime/helper/module.h"
#include "runtime/helper/watched_process.h"

namespace stab::helper {

// In which copy of its function a sample lay.
enum class SampledIn : uint8_t { kNewest, kOlder, kOriginal };

class SampledFiles {
 public:
  static constexpr uint32_t kNone = ~0u;

  // False: there is no memory, and nothing is counted.
  bool begin();

  // A library that is about to move, whose text is still the file's; `descriptor` is the file, and stays the caller's. kNone:
  // there is no room for one more.
  uint32_t note_library(const Process& process, const Module& module, int descriptor);
  // Of a library that was noted; nullptr: of none.
  const char* path_of(uint32_t file) const { return file < file_count_ ? files_[file].header.path : nullptr; }
  // A sample in a function of such a library, by its link-time address; function_bytes 0: in none of its functions.
  void count_in_library(uint32_t file, uint64_t linked, uint32_t function_bytes, SampledIn in);
  // A sample in nothing that moves now; what is known of mappings may be somewhat older than `now_ns`. True: in the text of a
  // library before it moved, or after that.
  bool count_elsewhere(const Process& process, uint64_t pc, uint64_t now_ns);

  // A part for each file and an end (epoch_record.h), behind what was written there before; closes the files.
  void write_to(int fd);

 private:
  struct File {
    LibraryHeader header;
    uint64_t device, inode;  // of one that doesn't move
    int descriptor;
  };
  // invariant: ascending by file and place
  struct Place {
    uint32_t file;
    uint32_t bytes;   // of the function that begins there; 0: a single address
    uint64_t at;      // of a library that moves the function's link-time address, of another file the sample's offset in it
    uint64_t linked;  // the function's
    uint32_t newest, older, original;
    uint32_t name;  // in names_; 0: none
  };
  // A mapping that was asked for.
  struct Known {
    int pid;
    uint32_t file;  // kNone: of no file
    uint64_t start, end, offset;
  };

  uint32_t add_file(const char* path, bool moves);
  void count_at(uint32_t file, uint64_t at, uint32_t bytes, SampledIn in);
  const Known* find_known(const Process& process, uint64_t pc, uint64_t now_ns);
  uint32_t first_of(uint32_t file) const;
  void read_names(uint32_t file);
  bool write_file(int fd, uint32_t file);

  static constexpr uint32_t kMostKnown = 64;
  File* files_ = nullptr;
  Place* places_ = nullptr;
  Known* known_ = nullptr;
  char* names_ = nullptr;  // each ended by 0; the first one is empty
  uint8_t* buffer_ = nullptr;
  uint32_t file_count_ = 0, place_count_ = 0, known_count_ = 0, next_known_ = 0, name_bytes_ = 0;
  uint64_t known_since_ns_ = 0;
};

}  // namespace stab::helper
