// Code for the large code model (-mcmodel=large): where it lies.
#pragma once

#include <llvm/IR/Module.h>

namespace stab {

// Such functions go to sections called .ltext. lld 19 puts those into .text, and lld 22 into a section of their own. Post-link
// moves what is in .text. So with an LLVM after 19 functions without a section get one there; their code stays what it is.
// True: some did.
bool keep_in_text(llvm::Module& module);

}  // namespace stab
