// How a program learns that its helper is dead, from the kernel: a robust futex.
#pragma once

#include <stdint.h>

namespace stab::helper {

// From here on `word`, in memory shared with the program, holds this thread's number, and from its end on, by whatever
// signal, kHelperDied instead. Once a process; called by its first thread.
void show_life(uint32_t& word);

}  // namespace stab::helper
