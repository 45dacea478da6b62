// What the loader says of a file that it has loaded.
#pragma once

#include <elf.h>
#include <stdint.h>

#include "runtime/mapping.h"

namespace stab::api {

struct LoadedFile {
  explicit LoadedFile(uint64_t in) : address(in) {}
  uint64_t address;  // in it
  bool found = false;
  bool is_executable = false;
  const char* name = nullptr;
  Extent extent;
  const Elf64_Phdr* segments = nullptr;  // there while it is loaded
  int segment_count = 0;
};

// The file that has this address in one of its pages; `found` says whether there is one.
LoadedFile file_holding(uint64_t address);

}  // namespace stab::api
