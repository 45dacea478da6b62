// What a simulator says of the two questions of an explanation, and whether that agrees with what was measured.
#pragma once

#include <string>
#include <string_view>

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// Of one cause, the code or the place.
enum class Agreement {
  kAgree,      // the intervals meet, to half of the margin
  kOtherSize,  // both find it, in one direction, and of another size
  kDisagree,
  kOpen,       // they meet, and one of them leaves the cause open
};
std::string_view word_of(Agreement agreement);  // "other size"

// `margin`: as a share.
Agreement agreement_of(const statistics::CauseEffect& measured, const statistics::CauseEffect& simulated, double margin);

// Whether both agree, as one sentence; of what they don't agree on it says what the simulator lacks. pre: both have an answer
std::string agreement_sentence(const Explanation& all);

// The simulator's answer as a table, with that sentence below; empty where it was not asked. pre: there is a measured answer
std::string simulated_text(const Explanation& all, int width);

}  // namespace stab::commands
