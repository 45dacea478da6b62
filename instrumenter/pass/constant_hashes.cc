// The problem: two builds of a function may have the same instructions and other constants: a string, a table that a switch
// became, an array that is passed by its address. In a linked program such a constant has neither a name nor an end, it may share
// its bytes with others, and an address behind its end is one of its neighbour.
//
// The approach: here each constant is still an object by itself. For each place in a function where the address of data is used,
// in their order, a hash of what is there goes into a list. It is a hash of contents alone: no name of data, number or address
// counts, as builds and linkers choose these. A pointer to a function counts by that function's name, one to a constant by what
// it leads to, one to a variable as such. Of what may be written, or is in another file, nothing is known: its place in the list
// is 0, which is like anything.
//
// The list is made by a directive for the assembler, in a section that is not loaded. It names functions by a hash of their
// names, and refers to none, so no code and no layout differs for it.
#include "instrumenter/pass/constant_hashes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Path.h>

#include <cstdint>
#include <string>
#include <utility>

#include "instrumenter/postlink/lasting_name.h"
#include "runtime/code_abi.h"
#include "runtime/sections_abi.h"

namespace stab {
namespace {

using llvm::Constant;
using llvm::GlobalVariable;

// How far pointers in constants are followed, and what stands for what lies beyond, and for what has no contents.
constexpr unsigned kMostSteps = 8;
constexpr uint64_t kBeyond = 1, kData = 2, kLabel = 3, kNothing = 4, kOther = 5;

uint64_t mixed(uint64_t hash, uint64_t word) {
  const uint64_t both[] = {hash, word};
  return abi::hash64(both, sizeof both);
}

uint64_t hash_of_text(llvm::StringRef text) {
  return abi::hash64(text.data(), text.size());
}

// Of a source file.
bool is_path(llvm::StringRef word) {
  constexpr llvm::StringRef kEnds[] = {".c",   ".cc",  ".cpp", ".cxx", ".C", ".h", ".hh", ".hpp", ".hxx",
                                       ".inc", ".ipp", ".inl", ".tcc", ".y", ".l", ".f",  ".f90", ".def"};
  return word.contains('/') && llvm::any_of(kEnds, [word](llvm::StringRef end) { return word.ends_with(end); });
}

// The text without the folders of source files in it, which assertions name: they tell where the build was made.
std::string without_folders(llvm::StringRef text) {
  if (text.starts_with("/") && is_path(text)) return llvm::sys::path::filename(text).str();  // in folders of any name
  const auto is_of_path = [](char letter) { return llvm::isAlnum(letter) || llvm::StringRef("/._+-@~").contains(letter); };
  std::string out;
  while (!text.empty()) {
    const llvm::StringRef word = text.take_while(is_of_path);
    out += is_path(word) ? llvm::sys::path::filename(word) : word;
    text = text.drop_front(word.size());
    const llvm::StringRef between = text.take_until(is_of_path);
    out += between;
    text = text.drop_front(between.size());
  }
  return out;
}

// Of lambdas and other nameless things, which are numbered in their order.
bool is_numbered(llvm::StringRef name) {
  return name.contains("$_") || (name.starts_with("_Z") && (name.contains("Ul") || name.contains("Ut")));
}

uint64_t hash_of_symbol(const llvm::GlobalValue& symbol) {
  if (!symbol.getValueType()->isFunctionTy() || is_numbered(symbol.getName())) return kData;
  return hash_of_text(postlink::lasting_name(symbol.getName().str()));
}

bool has_known_contents(const GlobalVariable& data) {
  return data.isConstant() && data.hasDefinitiveInitializer() && !data.isThreadLocal() && !data.getName().starts_with("llvm.");
}

class Hashes {
 public:
  explicit Hashes(const llvm::Module& module) : layout_(module.getDataLayout()) {}

  // Of each use of data's address in the operands, in their order; 0: nothing is known of what is there.
  void add_uses(const llvm::Instruction& instruction, llvm::SmallVectorImpl<uint32_t>& out) {
    const size_t before = out.size();
    for (const llvm::Use& operand : instruction.operands())
      if (const auto* constant = llvm::dyn_cast<Constant>(operand.get())) add_uses(*constant, out);
    // What comes from which block is told by jumps, in no order.
    if (llvm::isa<llvm::PHINode>(instruction)) llvm::sort(out.begin() + static_cast<ptrdiff_t>(before), out.end());
  }

 private:
  void add_uses(const Constant& constant, llvm::SmallVectorImpl<uint32_t>& out) {
    if (llvm::isa<llvm::ConstantData, llvm::Function, llvm::GlobalAlias, llvm::GlobalIFunc, llvm::BlockAddress>(constant)) return;
    llvm::APInt offset(64, 0);
    if (const GlobalVariable* data = data_at(constant, offset)) {
      is_known_ = has_known_contents(*data);
      const uint64_t hash = is_known_ ? mixed(hash_of_contents(*data, kMostSteps), offset.getZExtValue()) : 0;
      out.push_back(is_known_ ? short_of(hash) : 0);
      return;
    }
    for (const llvm::Use& operand : constant.operands())
      if (const auto* part = llvm::dyn_cast<Constant>(operand.get())) add_uses(*part, out);
  }

  static uint32_t short_of(uint64_t hash) {
    const auto half = static_cast<uint32_t>(hash ^ (hash >> 32));
    return half == 0 ? 1 : half;
  }

  // The data that the constant is an address of. pre: offset is 0, of 64 bits
  const GlobalVariable* data_at(const Constant& constant, llvm::APInt& offset) const {
    if (!constant.getType()->isPointerTy() || layout_.getIndexTypeSizeInBits(constant.getType()) != offset.getBitWidth())
      return nullptr;
    return llvm::dyn_cast<GlobalVariable>(constant.stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true));
  }

  // Of what a pointer in a constant leads to. By steps alone, so that it is the same wherever one begins, in circles of pointers,
  // too.
  uint64_t hash_of_pointed(const GlobalVariable& data, unsigned steps) {
    if (!data.isConstant()) return kData;
    // Another file may have it in one build and not in the other, where less is known of it.
    if (!data.hasLocalLinkage() || !has_known_contents(data)) return is_known_ = false, kData;
    if (steps == 0) return kBeyond;
    return hash_of_contents(data, steps - 1);
  }

  // Made once: a large table may be used in many places.
  uint64_t hash_of_contents(const GlobalVariable& data, unsigned steps) {
    const std::pair<const GlobalVariable*, unsigned> key(&data, steps);
    if (const auto known = known_.find(key); known != known_.end()) {
      is_known_ &= known->second.second;
      return known->second.first;
    }
    const bool was_known = std::exchange(is_known_, true);
    const uint64_t hash = hash_of(*data.getInitializer(), steps);
    known_[key] = {hash, is_known_};
    is_known_ &= was_known;
    return hash;
  }

  uint64_t hash_of(const Constant& constant, unsigned steps) {
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&constant)) return hash_of_number(number->getValue());
    if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&constant))
      return hash_of_number(number->getValueAPF().bitcastToAPInt());
    if (const auto* all = llvm::dyn_cast<llvm::ConstantDataSequential>(&constant)) return hash_of_bytes(*all);
    if (llvm::isa<llvm::ConstantData>(constant)) return hash_of_nothing(*constant.getType());
    if (llvm::isa<llvm::BlockAddress>(constant)) return kLabel;
    llvm::APInt offset(64, 0);
    if (const GlobalVariable* data = data_at(constant, offset))
      return mixed(hash_of_pointed(*data, steps), offset.getZExtValue());
    if (const auto* symbol = llvm::dyn_cast<llvm::GlobalValue>(&constant)) return hash_of_symbol(*symbol);
    uint64_t hash = kOther;
    if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant)) hash = mixed(hash, expression->getOpcode());
    for (const llvm::Use& operand : constant.operands())
      if (const auto* part = llvm::dyn_cast<Constant>(operand.get())) hash = mixed(hash, hash_of(*part, steps));
    return hash;
  }

  uint64_t hash_of_nothing(llvm::Type& type) const {
    return mixed(kNothing, type.isSized() ? layout_.getTypeAllocSize(&type).getKnownMinValue() : 0);
  }

  static uint64_t hash_of_number(const llvm::APInt& value) {
    return mixed(value.getBitWidth(), abi::hash64(value.getRawData(), value.getNumWords() * sizeof(uint64_t)));
  }

  static uint64_t hash_of_bytes(const llvm::ConstantDataSequential& all) {
    const llvm::StringRef bytes = all.getRawDataValues();
    if (!all.isCString()) return hash_of_text(bytes);
    return hash_of_text(without_folders(all.getAsCString()));
  }

  const llvm::DataLayout& layout_;
  bool is_known_ = true;  // all that the hash that is made depends on
  llvm::DenseMap<std::pair<const GlobalVariable*, unsigned>, std::pair<uint64_t, bool>> known_;
};

// As the file's symbols name it.
uint64_t key_of(const llvm::Function& function) {
  std::string text = llvm::GlobalValue::dropLLVMManglingEscape(function.getName()).str();
  if (function.hasLocalLinkage()) {
    text += '\0';
    text += llvm::sys::path::filename(function.getParent()->getSourceFileName());
  }
  return hash_of_text(text);
}

void write_list(const llvm::Function& function, Hashes& hashes, std::string& out) {
  llvm::SmallVector<uint32_t, 32> list;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (!llvm::isa<llvm::AssumeInst>(instruction)) hashes.add_uses(instruction, list);
  out += ".quad 0x" + llvm::utohexstr(key_of(function)) + "\n.long " + llvm::utostr(list.size()) + "\n";
  for (const uint32_t hash : list) out += ".long 0x" + llvm::utohexstr(hash) + "\n";
}

}  // namespace

llvm::PreservedAnalyses ConstantHashes::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  Hashes hashes(module);
  std::string lists;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasAvailableExternallyLinkage() || function.hasPrivateLinkage()) continue;
    write_list(function, hashes, lists);
  }
  if (lists.empty()) return llvm::PreservedAnalyses::all();
  module.appendModuleInlineAsm(std::string(".pushsection ") + abi::kConstantsSection + ",\"\",@progbits\n.p2align 2\n" + lists +
                               ".popsection");
  return llvm::PreservedAnalyses::all();  // no analysis reads the module's assembly
}

}  // namespace stab
