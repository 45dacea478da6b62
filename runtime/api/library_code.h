// The program's half of how a shared library's code comes to move, and stops: code/moved_library.h.
#pragma once

namespace stab::api {

// The file that `inside` is an address in has been loaded, and its constructor runs. Returns when its code moves, or stays.
// pre: has_helper(), code is to move
void move_library(const void* inside);
// It is about to be unloaded: no change of its images begins from now on. They stay mapped, as its destructors may run in them.
// False: it did not move. pre: has_helper()
bool leave_library(const void* inside);

}  // namespace stab::api
