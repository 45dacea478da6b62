// Marks of an object that are linked with it: a byte in a section that post-link looks for.
#pragma once

#include <llvm/IR/Module.h>

namespace stab {

void mark_object(llvm::Module& module, const char* section);

}  // namespace stab
