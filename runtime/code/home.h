// How the program brings its code home: calls run originals from then on.
#pragma once

#include "runtime/control.h"

namespace stab::code {

// Whether it has been asked for.
bool is_at_home();

// Returns when no further call of an original comes into an image; `why` is in the layout report. Functions that run in images go
// on there. A helper that is dead makes no further image, and what is there stays.
void go_home(Degradation why);

}  // namespace stab::code
