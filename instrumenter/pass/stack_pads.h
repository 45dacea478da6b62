// StackPads: moves the stack pointer of every function that calls something by a random amount.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

namespace stab {

// A function that carries this attribute has its pad already: a module that goes through a second pipeline gets no second one.
// Only one that doesn't optimize may follow (plugin.cc), so what szc makes with -emit-llvm has none yet.
inline constexpr llvm::StringRef kPaddedAttribute = "stab-padded";

// The one instruction in assembly by which a function takes its pad.
inline constexpr llvm::StringRef kTakePad = "$(subq $0, %rsp$|sub rsp, $0$)";
// The driver gives it to all functions that are compiled with -ffreestanding: they get no pad.
inline constexpr llvm::StringRef kNoPadAttribute = "stab-no-pad";
// Likewise with --stab-pads=all: short functions get one, too.
inline constexpr llvm::StringRef kPadShortAttribute = "stab-pad-short";

// The thread's abi::StackRecord, which pads read.
llvm::GlobalVariable* stack_record(llvm::Module& module);

class StackPads : public llvm::PassInfoMixin<StackPads> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }  // -O0 and optnone functions are padded, too
};

}  // namespace stab
