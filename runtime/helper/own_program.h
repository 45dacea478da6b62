// The helper of a program that nobody launched, as an executable that is part of that program's own (own_program.cc): a clone of
// the program would keep its file from being written or unmounted for as long as it lives.
#pragma once

#include <stdint.h>

namespace stab::helper {

struct OwnProgram {
  const uint8_t* begin;
  const uint8_t* end;
};

// Embedded in executables (embedded.cc).
OwnProgram own_program();

// The one descriptor that it begins with.
inline constexpr int kOwnProgramSocket = 3;

// Becomes that program. Returns only where that can't be: no memory for files, a limit on files, a kernel that executes none from
// memory. `socket` is as before then.
// pre: detached, and nobody's child, since who waits for children sees those that execute.
void become(OwnProgram program, int socket);

}  // namespace stab::helper
