// TrialSamples: where the CPU time of a trial was spent, by function: of its program, and of the other files that were mapped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/results/layout_tool.h"
#include "store/store.h"

namespace stab::engine {

struct FunctionSampled {
  std::string
      name;  // of another file than the program "libfoo.so.1!inflate", or the file's name for what is in no function of it
  uint64_t linked = 0;  // link-time address in its file; 0: of no function
  uint64_t newest = 0, older = 0, original = 0;
  uint64_t samples() const { return newest + older + original; }
};

struct TrialSamples {
  uint64_t period_ns = 0;  // CPU time that a sample stands for
  uint64_t all = 0;        // samples
  uint64_t kernel = 0;     // of them
  uint64_t elsewhere = 0;  // of them, in no function and no file: linkage, memory that the program made executable
  uint64_t lost = 0;       // that the kernel had no room for, and are not in `all`
  std::vector<FunctionSampled> functions;  // the most sampled first
};

// kNotFound: the trial has kept none. kBadInput: the kernel gave none.
Result<TrialSamples> samples_of(store::Store& store, store::Id trial, const LayoutTool& tool, const Archive& archive);

}  // namespace stab::engine
