// Linkers: which of them a link is done by, since not all can do the same.
#pragma once

#include <string_view>

#include "instrumenter/driver/llvm.h"

namespace stab::driver {

enum class LinkerKind {
  kUnknown,   // its name says nothing
  kOurLld,    // of the LLVM that szc takes: loads our pass where it optimizes
  kOtherLld,  // of another LLVM
  kGold,
  kMold,
  kOther,     // GNU ld, and whatever else takes its options
};

inline bool is_lld(LinkerKind kind) { return kind == LinkerKind::kOurLld || kind == LinkerKind::kOtherLld; }

// By the path that the compiler calls it by. kUnknown for a name that any linker may have, such as ld.
LinkerKind kind_by_path(std::string_view path, const Llvm& llvm);

// By what `linker --version` printed. Never kUnknown.
LinkerKind kind_by_version(std::string_view text, const Llvm& llvm);

}  // namespace stab::driver
