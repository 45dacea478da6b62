// Calls of the runtime's in code of the program's. What is called is a weak symbol, since a library may run in a program without
// our runtime.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace stab {

// Resolvers of IFUNCs run before the runtime's function can be called, and interrupts' functions can call none. Of resolvers,
// `reached_from_resolvers` tells what they call.
bool may_call_runtime(const llvm::Function& function);

// Null: the module has something else of that name.
llvm::Function* runtime_function(llvm::Module& module, llvm::StringRef name, llvm::FunctionType* type);

// Whether it is a local that is fixed as long as it is in the entry block.
bool is_fixed_local(const llvm::Instruction& instruction);

// What comes behind a call that returns, and behind locals. That of an invoke is in a block of its own. Such a call isn't the
// last thing that a function does.
llvm::Instruction* behind(llvm::CallBase& call);

// Splits there, for code that runs if there is a runtime, and returns that code's end.
llvm::Instruction* if_there(llvm::Function* asked, llvm::Instruction* place);

}  // namespace stab
