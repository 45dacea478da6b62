// LayoutOutput: whether a wrong output comes from the layout, told from the trial that gave it, the same trial once more,
// and a run of it with code, stack and heap off.
#pragma once

#include <string>

#include "store/records.h"

namespace stab::engine {

// Kind of the event that says that a program's output depends on its layout; reports repeat it.
inline constexpr char kLayoutOutput[] = "layout-output";

enum class OutputCause {
  kLayout,    // the seed gives it again, and without randomization the output is another
  kElsewhere, // without randomization it is the same
  kVaries,    // the same seed gave another output: time, addresses that the kernel draws, or epochs that end by time
};

// The trial's output is as expected: it failed by its dose, which isn't looked at in runs beside.
bool is_right_output(const store::Outcome& failed, const store::Outcome& repeated);

OutputCause cause_of_output(const store::Outcome& failed, const store::Outcome& repeated, const store::Outcome& neutral);

// That in words, with what the runs gave. `seed`: of the failed trial.
std::string words_of_output(OutputCause cause, const store::Outcome& failed, const store::Outcome& neutral, uint64_t seed);

}  // namespace stab::engine
