// Llvm: one of those that Stab is built for. Each has a folder, <root>/lib/stab/llvm-VERSION, with our pass for it and a link
// `bin` to its compilers. The link <root>/lib/stab/llvm leads to the folder of the one that is taken where nobody names another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::driver {

struct Llvm {
  std::string version;  // 19 where it is Debian's, all of it where it is somebody's own: 23.0.0git
  std::string folder;   // <root>/lib/stab/llvm-VERSION
  std::string bin;      // where its compilers are, behind all links; empty: nowhere

  std::string pass_plugin() const { return folder + "/libstabpass.so"; }

  // `named`: a version, the folder of an LLVM that has a bin/clang, or empty for the default. Fails for one that Stab isn't built
  // for.
  static Result<Llvm> find(const std::string& root, std::string_view named);

  // All that Stab is built for, sorted by version.
  static std::vector<Llvm> all(const std::string& root);
};

}  // namespace stab::driver
