// The names of a file's functions, from its symbols.
#pragma once

#include <stdint.h>

#include "runtime/code/metadata.h"

namespace stab::helper {

class FunctionNames {
 public:
  // A stripped file has none. False: it has symbols, and they can't be read, for want of memory or because it is damaged.
  bool read(int file, const code::Metadata& code);
  // nullptr: it has none.
  const char* name_of(uint32_t function) const {
    return name_ != nullptr && name_[function] != 0 ? strings_ + name_[function] : nullptr;
  }

 private:
  const char* strings_ = nullptr;
  uint32_t* name_ = nullptr;  // by function: offset into strings_; 0: unknown
};

// For code::NameOf, with a pointer to the names. Not inline: of two copies one is discarded, and mold can't keep its relocations.
const char* name_in(const void* names, uint32_t function);

}  // namespace stab::helper
