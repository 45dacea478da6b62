// Loops in which a padded function would miss the frame pointer as a register.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

namespace stab {

// Whether one of a function's loops that calls nothing keeps about as many integers and pointers as there are registers.
bool has_tight_loop(const llvm::LoopInfo& loops);

}  // namespace stab
