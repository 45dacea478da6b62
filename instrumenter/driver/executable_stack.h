// Whether a program needs a stack that it may execute code on, as the objects that are linked say.
#pragma once

#include "instrumenter/driver/command_line.h"

namespace stab::driver {

// Whether an object, or a member of an archive, among these files asks for one. What can't be read, or is neither, asks for
// nothing: linkers complain of it better.
bool ask_for_executable_stack(const Arguments& files);

}  // namespace stab::driver
