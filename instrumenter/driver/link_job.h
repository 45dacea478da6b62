// LinkJob: what a compiler command links, as the compiler itself says.
#pragma once

#include <optional>
#include <string>

#include "instrumenter/driver/command_line.h"
#include "instrumenter/driver/linker.h"

namespace stab::driver {

// Whose C library a program is linked with. The runtime is for glibc.
enum class Libc { kNone, kGlibc, kOther };

struct LinkJob {
  std::string linker;        // as the compiler calls it
  LinkerKind kind = LinkerKind::kUnknown;  // by its name; who runs commands asks the linker where that says nothing
  std::string output;
  Arguments files;           // what is linked, in order: objects, archives, libraries where -l finds them
  bool relocatable = false;  // -r
  bool shared = false;
  bool is_static = false;    // no dynamic linker: -static, -static-pie
  Libc libc = Libc::kNone;   // kNone: -nostdlib and the like
  bool libc_by_file = false;  // its library alone, without what -lc is a script for: the dynamic linker, libc_nonshared.a
  std::string other_libc{};  // with kOther: what showed it, a file or the dynamic linker
  bool with_cxx_archive = false;  // the C++ library, linked statically
  bool archive_takes_posix_memalign = false;  // and it takes aligned memory from there, not from aligned_alloc
  bool collects = false;     // --gc-sections
  bool folds = false;        // --icf
  bool keeps_relocations = false;  // the user's own --emit-relocs
  bool executable_stack = false;  // an object asks for one, and the linker doesn't look: filled in by who reads the objects
  bool wraps_operators = false;  // --wrap of operator new or delete, or of what those of a statically linked C++ library call
};

// Whether a configuration file that the compiler has read chooses a linker, by the same answer. Ours would come behind that
// choice and win over it.
bool is_linker_configured(const std::string& steps);

// Reads what `compiler -### arguments` printed; empty when the command doesn't link. A step is a link by what it is told, not
// by the name of who does it: a wrapper may have any.
// `llvm`: whose linker is ours.
std::optional<LinkJob> find_link_job(const std::string& steps, const Llvm& llvm);

}  // namespace stab::driver
