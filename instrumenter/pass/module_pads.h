// ModulePads: makes a shared library register its pads when it is loaded, and take them back when it is unloaded.
#pragma once

#include <llvm/IR/Module.h>

namespace stab {

// To be called on a module that has slots. Does nothing for code that can only end up in an executable, whose slots
// the runtime finds by itself. True if something was added.
bool register_module_pads(llvm::Module& module);

}  // namespace stab
