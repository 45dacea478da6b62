// Where our passes run. Visits are calls as any other and are inserted first. Everything else is inserted last, on the code
// that the optimizer has finished: an earlier pad would stop inlining, an earlier list would name functions that disappear.
//
// With link-time optimization "last" is at link time. clang calls the OptimizerLast callback in the compile step
// of LTO as well; a module that is going to be optimized again carries LTO's own flags, so there we only leave
// the mark kDeferredFlag in it and insert nothing. At link time full LTO has a callback of its own, and the
// backends of thin LTO call OptimizerLast again, on a module with the mark. At -O0 those backends run no callback;
// but nothing is inlined or cloned then either, so -O0 modules are instrumented at once. The linker may optimize them all
// the same, as it does unless -O0 is said to it, too: keep_padded() says what must not happen then.
//
// A module for another target than ours is left as clang makes it: drivers build parts for other machines, too (BIOS code,
// bytecode, GPU kernels), and our pads are x86-64 instructions and our lists sections of ELF.
#include <llvm-c/Target.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>  // since LLVM 22
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "instrumenter/pass/code_as_data.h"
#include "instrumenter/pass/constant_hashes.h"
#include "instrumenter/pass/function_list.h"
#include "instrumenter/pass/goto_tables.h"
#include "instrumenter/pass/jump_switches.h"
#include "instrumenter/pass/large_code.h"
#include "instrumenter/pass/module_registration.h"
#include "instrumenter/pass/own_addresses.h"
#include "instrumenter/pass/places.h"
#include "instrumenter/pass/signal_switches.h"
#include "instrumenter/pass/stack_code.h"
#include "instrumenter/pass/stack_copies.h"
#include "instrumenter/pass/stack_pads.h"
#include "instrumenter/pass/stacks_in_frames.h"
#include "instrumenter/pass/told_calls.h"
#include "instrumenter/pass/visits.h"

namespace stab {
namespace {

constexpr llvm::StringRef kDeferredFlag = "stab-deferred";

// x86-64 Linux with pointers of 64 bits and glibc. Code for no system at all is left alone, too: pads read thread-local storage.
bool is_for_our_target(const llvm::Module& module) {
  const llvm::Triple target(module.getTargetTriple());
  const bool is_for_glibc = target.isGNUEnvironment() || target.getEnvironment() == llvm::Triple::UnknownEnvironment;
  return target.getArch() == llvm::Triple::x86_64 && target.isOSLinux() && target.isOSBinFormatELF() && !target.isX32() &&
         is_for_glibc;
}

// EnableSplitLTOUnit is in every bitcode file that clang writes for full, thin and fat LTO.
bool is_for_link_time_optimization(const llvm::Module& module) {
  return module.getModuleFlag("EnableSplitLTOUnit") != nullptr;
}

// Whether the module goes to a link-time optimizer and this is the compile step. Sets the mark then.
bool deferred_to_link(llvm::Module& module) {
  if (!is_for_link_time_optimization(module)) return false;
  if (module.getModuleFlag(kDeferredFlag) != nullptr) return false;
  module.addModuleFlag(llvm::Module::Max, kDeferredFlag, 1);
  return true;
}

// Before the list of functions, which has its constructors, too.
struct Registration : llvm::PassInfoMixin<Registration> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    return register_module_code(module) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

llvm::PreservedAnalyses instrument(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
  if (!is_for_our_target(module)) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved = ConstantHashes().run(module, analyses);  // first, as the others use data of their own
  if (keep_in_text(module)) preserved = llvm::PreservedAnalyses::none();
  preserved.intersect(CodeAsData().run(module, analyses));
  preserved.intersect(StackCopies().run(module, analyses));
  preserved.intersect(SignalSwitches().run(module, analyses));
  preserved.intersect(JumpSwitches().run(module, analyses));
  preserved.intersect(Registration().run(module, analyses));
  preserved.intersect(GotoTables().run(module, analyses));
  preserved.intersect(StackPads().run(module, analyses));
  preserved.intersect(OwnAddresses().run(module, analyses));  // behind the pads: its calls need none
  preserved.intersect(StacksInFrames().run(module, analyses));
  preserved.intersect(ToldCalls().run(module, analyses));
  preserved.intersect(FunctionList().run(module, analyses));
  preserved.intersect(Places().run(module, analyses));
  preserved.intersect(StackCode().run(module, analyses));
  return preserved;
}

// To an optimizer the alloca of nothing beside a pad is one of a fixed frame, and a padded function may be inlined: either way
// nothing gives the pad back. Without optimization a function stays what it is.
bool has_pads_to_lose(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) {
    return !function.isDeclaration() && function.hasFnAttribute(kPaddedAttribute) && !function.hasOptNone();
  });
}

// A linker's optimizer leaves the code of functions that were compiled without optimization as it is. What they take and return
// it changes, by another function in their place, and the slot that is tied to the one that is gone makes the module invalid.
// It does that only to functions all of whose callers it knows.
void keep_padded(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalValue*, 16> padded;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && function.hasFnAttribute(kPaddedAttribute)) padded.push_back(&function);
  if (!padded.empty()) llvm::appendToCompilerUsed(module, padded);
}

// Before the optimizer.
class AtStart : public llvm::PassInfoMixin<AtStart> {
 public:
  explicit AtStart(llvm::OptimizationLevel level) : level_(level) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
    if (!is_for_our_target(module)) return llvm::PreservedAnalyses::all();
    if (level_ != llvm::OptimizationLevel::O0 && has_pads_to_lose(module))
      module.getContext().emitError("'" + module.getModuleIdentifier() + "' has stack pads already, which an optimizer breaks; "
                                    "make it again with 'szc -emit-llvm'");
    return Visits().run(module, analyses);
  }
  static bool isRequired() { return true; }

 private:
  llvm::OptimizationLevel level_;
};

// At the end of a compilation, or of a thin LTO backend's.
class AtOptimizerLast : public llvm::PassInfoMixin<AtOptimizerLast> {
 public:
  explicit AtOptimizerLast(llvm::OptimizationLevel level) : level_(level) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
    if (!is_for_our_target(module)) return llvm::PreservedAnalyses::all();
    if (level_ != llvm::OptimizationLevel::O0 && deferred_to_link(module)) return llvm::PreservedAnalyses::all();
    const llvm::PreservedAnalyses preserved = instrument(module, analyses);
    if (level_ == llvm::OptimizationLevel::O0 && is_for_link_time_optimization(module)) keep_padded(module);
    return preserved;
  }
  static bool isRequired() { return true; }

 private:
  llvm::OptimizationLevel level_;
};

// At the end of full LTO, on the whole program.
struct AtLinkLast : llvm::PassInfoMixin<AtLinkLast> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
    return instrument(module, analyses);
  }
  static bool isRequired() { return true; }
};

// As the driver does with --stab-pads=all.
struct MarkAll : llvm::PassInfoMixin<MarkAll> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) function.addFnAttr(kPadShortAttribute);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

// Names for opt-19 -passes=..., used by the tests.
bool add_by_name(llvm::StringRef name, llvm::ModulePassManager& passes) {
  if (name == "stab-pads") return passes.addPass(StackPads()), true;
  if (name == "stab-pads<all>") return passes.addPass(MarkAll()), passes.addPass(StackPads()), true;
  if (name == "stab-stacks-in-frames") return passes.addPass(StacksInFrames()), true;
  if (name == "stab-told-calls") return passes.addPass(ToldCalls()), true;
  if (name == "stab-code-as-data") return passes.addPass(CodeAsData()), passes.addPass(FunctionList()), true;
  if (name == "stab-own-addresses") return passes.addPass(OwnAddresses()), true;
  if (name == "stab-registration") return passes.addPass(Registration()), true;
  if (name == "stab-visits") return passes.addPass(Visits()), true;
  if (name == "stab-constants") return passes.addPass(ConstantHashes()), true;
  if (name == "stab-functions") return passes.addPass(FunctionList()), true;
  if (name == "stab-places") return passes.addPass(Places()), true;
  if (name == "stab-stack-code") return passes.addPass(StackCode()), true;
  if (name == "stab-stack-copies") return passes.addPass(StackCopies()), true;
  if (name == "stab-jump-switches") return passes.addPass(JumpSwitches()), true;
  if (name == "stab-signal-switches") return passes.addPass(SignalSwitches()), true;
  if (name == "stab-gotos") return passes.addPass(GotoTables()), true;
  if (name == "stab-start") return passes.addPass(AtStart(llvm::OptimizationLevel::O2)), true;
  if (name == "stab-optimizer-last") return passes.addPass(AtOptimizerLast(llvm::OptimizationLevel::O2)), true;
  if (name == "stab-link-last") return passes.addPass(AtLinkLast()), true;
  return false;
}

// `auto...`: since LLVM 20 the optimizer's callback is told a phase of link-time optimization, too.
void register_callbacks(llvm::PassBuilder& builder) {
  LLVMInitializeX86AsmParser();  // pads are taken by inline assembly, and flang initializes no parser for it
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) { passes.addPass(AtStart(level)); });
  builder.registerOptimizerLastEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel level, auto...) { passes.addPass(AtOptimizerLast(level)); });
  builder.registerFullLinkTimeOptimizationLastEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) { passes.addPass(AtLinkLast()); });
  builder.registerPipelineParsingCallback(
      [](llvm::StringRef name, llvm::ModulePassManager& passes,
         llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) { return add_by_name(name, passes); });
}

}  // namespace
}  // namespace stab

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "stab", "1", stab::register_callbacks};
}
