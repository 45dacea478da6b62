// The end of standard output: what was printed has arrived, or the program says that it has not.
#pragma once

#include "base/result.h"

namespace stab {

// At a program's start. A closed standard output or error would be the number of the next file that is opened, which then takes
// what is printed; it is held by a descriptor that can't be written to.
void hold_standard_descriptors();

// At a program's end: nothing may be printed on standard output after it. "can't write standard output: No space left on device"
// where something that was printed did not arrive. Not where nothing was printed, nor where a reader has gone (`| head`): it has
// seen enough.
Status finish_standard_output();

}  // namespace stab
