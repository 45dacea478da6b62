// The problem: `goto *table[op]` of an interpreter reads label addresses from a constant array. A moved copy of
// the function would jump back into the original body unless the array is copied and retargeted with it. That is
// wrong as soon as a label is visible as a value: stored, compared or returned, it may be used in another copy.
// The approach: prove, where the use is still IR, that every element loaded from the array is a label of one
// function and only ever a target of that function's indirect branches; list those arrays, leave the rest alone.
//
// Without optimization the value goes through a stack slot, so nothing is listed at -O0. Nor is it where branches
// through registers are mitigated (-mretpoline, -mlvi-cfi): code generation then makes switches of computed gotos
// and numbers of the labels.
#include "instrumenter/pass/goto_tables.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "instrumenter/pass/gnu_assembler.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

// Whether code generation makes a switch of each indirectbr, and so an array of numbers of each array of labels. The
// linker would merge it with others, and nothing can be tied to a merged section.
bool labels_become_numbers(const llvm::Function& function) {
  llvm::SmallVector<llvm::StringRef, 64> features;
  function.getFnAttribute("target-features").getValueAsString().split(features, ',');
  for (llvm::StringRef feature : {"+retpoline", "+retpoline-indirect-branches", "+lvi-cfi"})
    if (llvm::is_contained(features, feature)) return true;
  return false;
}

// The function whose labels the array holds, or null unless it holds nothing else.
const llvm::Function* owner_of_labels(const llvm::GlobalVariable& table) {
  if (!table.isConstant() || !table.hasLocalLinkage()) return nullptr;
  if (!table.hasDefinitiveInitializer() || table.isThreadLocal()) return nullptr;
  const auto* array = llvm::dyn_cast<llvm::ConstantArray>(table.getInitializer());
  if (array == nullptr) return nullptr;
  const llvm::Function* owner = nullptr;
  for (const llvm::Use& element : array->operands()) {
    const auto* label = llvm::dyn_cast<llvm::BlockAddress>(element);
    if (label == nullptr) return nullptr;
    if (owner != nullptr && owner != label->getFunction()) return nullptr;
    owner = label->getFunction();
  }
  return owner;
}

// Whether `label`, loaded from a table, ends in indirect branches and nowhere else.
bool only_branched_to(const llvm::Value& label) {
  llvm::SmallPtrSet<const llvm::Value*, 16> seen{&label};
  llvm::SmallVector<const llvm::Value*, 16> open{&label};
  while (!open.empty()) {
    for (const llvm::User* user : open.pop_back_val()->users()) {
      if (llvm::isa<llvm::IndirectBrInst>(user)) continue;
      if (!llvm::isa<llvm::PHINode>(user) && !llvm::isa<llvm::SelectInst>(user) &&
          !llvm::isa<llvm::FreezeInst>(user))
        return false;
      if (seen.insert(user).second) open.push_back(user);
    }
  }
  return true;
}

// Whether every use of the table's address is an element's address, in `owner`, and every use of that a load
// whose value is only branched to.
bool only_read_for_branches(const llvm::GlobalVariable& table, const llvm::Function& owner) {
  llvm::SmallVector<const llvm::Value*, 16> open{&table};
  bool any = false;
  while (!open.empty()) {
    const llvm::Value* address = open.pop_back_val();
    for (const llvm::Use& use : address->uses()) {
      const llvm::User* user = use.getUser();
      if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(user)) {
        if (element->getPointerOperand() != address) return false;
        open.push_back(element);
        continue;
      }
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
      if (load == nullptr || load->getFunction() != &owner) return false;
      if (!load->getType()->isPointerTy() || !only_branched_to(*load)) return false;
      any = true;
    }
  }
  return any;
}

// One i32: the table's address minus the entry's own. Tied to the table's section, so that it lives exactly as
// long; llvm.compiler.used keeps it in this module only.
llvm::GlobalVariable* make_entry(llvm::Module& module, llvm::GlobalVariable& table) {
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::Type::getInt32Ty(context);
  auto* word = llvm::Type::getInt64Ty(context);
  auto* entry = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                         nullptr, "stab_goto");
  entry->setInitializer(llvm::ConstantExpr::getTrunc(
      llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(&table, word),
                                 llvm::ConstantExpr::getPtrToInt(entry, word)),
      type));
  entry->setSection(abi::kGotosSection);
  entry->setAlignment(llvm::Align(4));
  entry->setComdat(table.getComdat());
  entry->setMetadata(llvm::LLVMContext::MD_associated,
                     llvm::MDNode::get(context, llvm::ValueAsMetadata::get(&table)));
  return entry;
}

}  // namespace

llvm::PreservedAnalyses GotoTables::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::SmallVector<llvm::GlobalVariable*, 4> tables;
  for (llvm::GlobalVariable& table : module.globals()) {
    if (table.hasSection() && table.getSection() == abi::kGotosSection) return llvm::PreservedAnalyses::all();
    const llvm::Function* owner = owner_of_labels(table);
    if (owner == nullptr || labels_become_numbers(*owner) || !may_be_tied_to(table)) continue;
    if (only_read_for_branches(table, *owner)) tables.push_back(&table);
  }
  llvm::SmallVector<llvm::GlobalValue*, 4> entries;
  for (llvm::GlobalVariable* table : tables) entries.push_back(make_entry(module, *table));
  llvm::appendToCompilerUsed(module, entries);
  return entries.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace stab
