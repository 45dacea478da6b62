// Limits of the shell that stabctl was started in, where they are too low for Stab's own programs. What such a limit breaks says
// something else: a program ends without a word, or a descriptor is missing in another process.
#pragma once

#include "base/result.h"

namespace stab::ctl {

// ulimit -s: each of our programs has its stack within it.
Status check_stack_limit();
// ulimit -n: launchers put what they hand over behind the numbers that programs use.
Status check_open_files_limit();

}  // namespace stab::ctl
