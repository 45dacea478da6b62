// What szc has left in a program: which of its layout can be randomized when it runs.
#pragma once

#include <string>

namespace stab::engine {

struct SzcProgram {
  bool code = false;   // post-link has told what of its code may move; szc links the heap into such a program, too
  bool stack = false;  // its functions take pads
  bool is_szc() const { return code || stack; }
};

// All false: it is no ELF program of 64 bits, it can't be read, or another compiler made it. Reads section names alone.
SzcProgram szc_program(const std::string& path);

}  // namespace stab::engine
