// Toolchain: which compiler a driver stands for, and where our own parts lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "instrumenter/driver/llvm.h"

namespace stab::driver {

enum class Language { kC, kCxx, kFortran };

// What a program's name says, as clang reads its own: szc++, szc-22, g++-12, x86_64-linux-gnu-c++.
struct DriverName {
  Language language;
  std::string target;  // in front of the driver's own name; empty: none
  std::string llvm;    // the version behind a name of ours, as in szc-22; empty: none

  static DriverName read(std::string_view name);
};

struct Toolchain {
  Language language;
  std::string target;          // that its name gives; empty: the machine's
  Llvm llvm;
  std::string compiler;        // clang-19, clang++-19 or flang-19, found on PATH or in the LLVM's own folder
  std::string pass_plugin;     // <root>/lib/stab/llvm-19/libstabpass.so
  std::string runtime;         // <root>/lib/stab/stabrt.o
  std::string static_runtime;  // <root>/lib/stab/libstabrt-static.a, for programs without a dynamic linker
  std::string operators;       // <root>/lib/stab/stabnew.o, operator new and delete of both kinds of programs
  std::string library_entry;   // <root>/lib/stab/stablib.o, of shared libraries that other compilers made
  std::string include;         // <root>/include, for <stab/stab.h>
  std::string post_linker;     // <root>/bin/stab-postlink

  // Finds everything from the driver's own name and place. `llvm`: as Llvm::find has it; empty: what the name says. Fails when a
  // part is missing.
  static Result<Toolchain> find(std::string_view program_name, std::string_view llvm);
};

// Every file whose change may change what szc, szc++ or szflang make: our own parts, the compilers and linkers of every LLVM that
// Stab is built for, and the libraries that LLVM's tools share. Absolute, symbolic links resolved, in a fixed order; what isn't
// installed is left out. System headers, libc and the compilers' runtime libraries are not among them.
Result<std::vector<std::string>> parts_of_builds();

}  // namespace stab::driver
