// TrialLayout: where the functions of a trial's program lay in one of its epochs, and those of its shared libraries that moved,
// computed again from binaries and seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/results/layout_tool.h"
#include "store/store.h"

namespace stab::engine {

struct PlacedFunction {
  std::string name;                 // of a library's with its file: "libfoo.so.1!inflate"
  uint64_t linked = 0;              // where the linker has put it
  uint32_t bytes = 0;
  std::optional<uint64_t> address;  // where it ran; absent: it stayed, and where the program was loaded is not known
  bool moved = false;
  std::optional<uint32_t> pad;      // of its frames, in bytes; absent: it has none, it never moves, or it is a library's
};

// A file whose functions can't be told, and why.
struct UntoldFile {
  std::string name, why;
};

struct TrialLayout {
  uint32_t epoch = 0;
  std::optional<uint32_t> image, refill;  // their numbers; absent: code stays, no pads
  std::string code, stack;                // in the words of the runtime
  uint64_t seed = 0;
  std::string binary;
  std::vector<PlacedFunction> functions;  // by linked; those of the executable
  std::vector<PlacedFunction> in_libraries;  // of shared libraries that moved, one library after the other
  std::vector<UntoldFile> untold;
  int64_t libraries_moved = 0;            // shared libraries whose code did, each time that one was loaded
};

// Without an epoch the first. Where the epochs of a trial were not kept, only its first layout is known. Libraries' functions are
// told where they lay when the library was loaded last, and not in epochs before that.
Result<TrialLayout> layout_of(store::Store& store, store::Id trial, std::optional<uint32_t> epoch, const LayoutTool& tool,
                              const Archive& archive);
// Its executable's functions alone, without addresses.
Result<std::vector<PlacedFunction>> program_functions(store::Store& store, store::Id trial, const LayoutTool& tool,
                                                      const Archive& archive);

}  // namespace stab::engine
