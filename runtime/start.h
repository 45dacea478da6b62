// The beginning and the end of a measured program, for whoever is called at those moments: an executable's arrays
// (executable_entry.cc), or the preloaded heap's constructor (heap/preloaded.cc).
#pragma once

#include <stdint.h>

#include "runtime/helper/own_program.h"

namespace stab {

// A program that nobody launched makes a helper of its own. nullptr: it makes none, as a preloaded library is in every child of a
// script. Becoming that helper is part of the executable, too.
struct OwnHelper {
  helper::OwnProgram program;
  void (*become)(helper::OwnProgram program, int socket);
  uint32_t of_host = 0;  // the runtime is a library in a program that szc hasn't linked: Hello::of_host
};

// pre: the main thread is alone, at least with the text where code is to move.
void start(const OwnHelper* own);

// Ends the program before it runs by something else than its experimenter wants, and says why: a code::ScriptFault.
[[noreturn]] void refuse_layout_script(uint32_t fault, uint32_t line);

// The last thing that exit() runs of whoever started: its dose is complete but for what libraries do later.
void finish();

}  // namespace stab
