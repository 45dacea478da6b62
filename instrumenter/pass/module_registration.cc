// The problem: the runtime knows the code and the slots of the executable it is linked into, and nothing of those of shared
// libraries, which come and go. The approach: constructors and destructors in each position-independent object, one pair for its
// code, another where it has slots. They are in comdats, so that one of each pair is left in each linked library (or executable,
// which the runtime ignores), and they call weak symbols, so that the library also works in a program without our runtime.
#include "instrumenter/pass/module_registration.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "instrumenter/pass/stack_pads.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

constexpr int kFirst = 1;  // before the library's own constructors, after its own destructors

// Bounds of the linked module's section, made by the linker. Weak: --gc-sections may have left no slot.
llvm::Constant* section_bound(llvm::Module& module, llvm::StringRef prefix) {
  const std::string name = (prefix + abi::kPadsSection).str();
  if (auto* known = module.getGlobalVariable(name)) return known;
  auto* bound = new llvm::GlobalVariable(module, llvm::Type::getInt32Ty(module.getContext()), /*isConstant=*/false,
                                         llvm::GlobalValue::ExternalWeakLinkage, nullptr, name);
  bound->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return bound;
}

// What the runtime may have, and what it is called with.
struct Callee {
  llvm::StringRef name;
  llvm::SmallVector<llvm::Value*, 3> arguments;
};

// void NAME() { if (first) first(arguments...); else if (second) second(arguments...); ... }, one for each linked module.
llvm::Function* make_caller(llvm::Module& module, llvm::StringRef name, llvm::ArrayRef<Callee> callees) {
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* caller = llvm::Function::Create(type, llvm::GlobalValue::LinkOnceODRLinkage, name, module);
  caller->setVisibility(llvm::GlobalValue::HiddenVisibility);
  caller->setComdat(module.getOrInsertComdat(name));
  caller->addFnAttr(llvm::Attribute::NoUnwind);
  caller->addFnAttr(kNoPadAttribute);  // runs before its slot is known

  llvm::IRBuilder<> build(llvm::BasicBlock::Create(context, "", caller));
  for (const Callee& callee : callees) {
    const llvm::SmallVector<llvm::Type*, 3> pointers(callee.arguments.size(), llvm::PointerType::getUnqual(context));
    auto* function = llvm::Function::Create(llvm::FunctionType::get(build.getVoidTy(), pointers, false),
                                            llvm::GlobalValue::ExternalWeakLinkage, callee.name, module);
    auto* call = llvm::BasicBlock::Create(context, "", caller);
    auto* next = llvm::BasicBlock::Create(context, "", caller);
    build.CreateCondBr(build.CreateIsNotNull(function), call, next);
    build.SetInsertPoint(call);
    build.CreateCall(function, callee.arguments);
    build.CreateRetVoid();
    build.SetInsertPoint(next);
  }
  build.CreateRetVoid();
  return caller;
}

// A word of an array of functions that the loader calls; it stays and goes with its function.
void add_to_array(llvm::Module& module, llvm::Function* function, const llvm::Twine& array) {
  auto* entry = new llvm::GlobalVariable(module, function->getType(), /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                                         function, function->getName() + ".entry");
  entry->setSection((array + "." + llvm::Twine(kFirst)).str());
  entry->setAlignment(module.getDataLayout().getPointerABIAlignment(0));
  entry->setComdat(function->getComdat());
  llvm::appendToCompilerUsed(module, {entry});
}

// Not by llvm.global_ctors: flang would put them into .ctors, which no loader of today reads.
void run_at_load_and_unload(llvm::Module& module, llvm::Function* begin, llvm::Function* end) {
  add_to_array(module, begin, ".init_array");
  add_to_array(module, end, ".fini_array");
}

bool may_be_shared(const llvm::Module& module) {
  return module.getPICLevel() != llvm::PICLevel::NotPIC && module.getPIELevel() == llvm::PIELevel::Default;
}

// Not of a kernel's, nor where there is no system at all (-ffreestanding).
bool has_code(const llvm::Module& module) {
  return module.getCodeModel() != llvm::CodeModel::Kernel && llvm::any_of(module, [](const llvm::Function& function) {
           return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
                  !function.hasFnAttribute(kNoPadAttribute);
         });
}

// Of the linked library, whichever module's it is: hidden in a comdat.
llvm::Constant* place_in_library(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::Type::getInt8Ty(context);
  auto* place = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::LinkOnceODRLinkage,
                                         llvm::ConstantInt::get(type, 0), "stab.place");
  place->setVisibility(llvm::GlobalValue::HiddenVisibility);
  place->setComdat(module.getOrInsertComdat("stab.place"));
  return place;
}

}  // namespace

bool register_module_pads(llvm::Module& module) {
  if (!may_be_shared(module) || module.getFunction("stab.module_begin") != nullptr) return false;
  llvm::Constant* start = section_bound(module, "__start_");
  llvm::Constant* stop = section_bound(module, "__stop_");
  // A runtime of before kModuleLoadSymbol has the older name only.
  llvm::Function* begin = make_caller(module, "stab.module_begin",
                                      {{abi::kModuleLoadSymbol, {start, stop, stack_record(module)}},
                                       {abi::kModuleBeginSymbol, {start, stop}}});
  run_at_load_and_unload(module, begin, make_caller(module, "stab.module_end", {{abi::kModuleEndSymbol, {start}}}));
  return true;
}

bool register_module_code(llvm::Module& module) {
  if (!may_be_shared(module) || module.getFunction("stab.code_begin") != nullptr || !has_code(module)) return false;
  llvm::Constant* place = place_in_library(module);
  llvm::Function* begin = make_caller(module, "stab.code_begin", {{abi::kCodeLoadSymbol, {place}}});
  run_at_load_and_unload(module, begin, make_caller(module, "stab.code_end", {{abi::kCodeUnloadSymbol, {place}}}));
  return true;
}

}  // namespace stab
