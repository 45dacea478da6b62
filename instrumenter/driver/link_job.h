// LinkJob: what a compiler command links, as the compiler itself says.
#pragma once

#include <optional>
#include <string>

#include "instrumenter/driver/command_line.h"

namespace stab::driver {

struct LinkJob {
  std::string output;
  Arguments files;           // what is linked, in order: objects, archives, libraries where -l finds them
  bool relocatable = false;  // -r
  bool shared = false;
  bool is_static = false;    // no dynamic linker: -static, -static-pie
  bool with_libc = false;    // without -nostdlib and the like
  bool with_cxx_archive = false;  // the C++ library, linked statically
  bool lld = false;
  bool keeps_relocations = false;  // the user's own --emit-relocs
  bool gold_discards = false;  // gold, with --gc-sections or --icf
  bool executable_stack = false;  // an object asks for one, and the linker doesn't look: filled in by who reads the objects
  bool wraps_operators = false;  // --wrap of operator new or delete, or of what those of a statically linked C++ library call
};

// Reads what `compiler -### arguments` printed; empty when the command doesn't link.
std::optional<LinkJob> find_link_job(const std::string& steps);

}  // namespace stab::driver
