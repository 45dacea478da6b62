// Errors on their way to a person, and the exit codes of all commands:
//   0 done; 1 it failed (a build, the preflight, a cell that never passed); 2 the plan or the words are wrong;
//   3 stopped before its end, or unsure. To gate, compare and verdict 1 is "worse", and whatever keeps them from an answer is 2.
#pragma once

#include "base/error.h"

namespace stab::ctl {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnfinished = 3;

// "stabctl: message" on stderr, and the exit code that belongs to the error's code.
int complain(const Error& error);
// The same where 1 is an answer (gate, compare, verdict): what kept the command from one is 2, whatever its code.
int complain_of_no_answer(const Error& error);

}  // namespace stab::ctl
