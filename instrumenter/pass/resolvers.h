// Resolvers of IFUNCs.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Module.h>

namespace stab {

// They, and what they call in this module: it runs before anything is set up, thread-local storage of static programs included.
llvm::SmallPtrSet<const llvm::Function*, 4> reached_from_resolvers(const llvm::Module& module);

}  // namespace stab
