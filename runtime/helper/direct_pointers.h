// Leading the program's pointers to functions to its one image (kDirect).
#pragma once

#include "runtime/helper/session.h"

namespace stab::helper {

// Reads which pointers there are. Where they can't be had the report says so, and pointers stay as they are.
// pre: the program's metadata is read from this file
void read_direct_pointers(Session& session, int executable);

// Makes the words of the program's data, then the instructions of the image in `slot`, lead to copies: all of them, or, where the
// program's memory can't be written, none. pre: the image is built and not yet published, and the program waits for it
void lead_pointers(Session& session, int slot);

}  // namespace stab::helper
