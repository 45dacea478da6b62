// Makes a shared library tell the runtime that it has been loaded, and that it is about to be unloaded.
#pragma once

#include <llvm/IR/Module.h>

namespace stab {

// To be called on a module that has slots. Does nothing for code that can only end up in an executable, whose slots
// the runtime finds by itself. True if something was added.
bool register_module_pads(llvm::Module& module);

// The same of its code, on any module: true where it has some.
bool register_module_code(llvm::Module& module);

}  // namespace stab
