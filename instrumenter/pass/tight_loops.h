// Loops in which a padded function would miss the frame pointer as a register.
#pragma once

#include <llvm/IR/Function.h>

namespace stab {

// Whether a loop of the function that calls nothing keeps about as many integers and pointers as there are registers.
bool has_tight_loop(llvm::Function& function);

}  // namespace stab
