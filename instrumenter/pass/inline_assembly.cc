// The problem: assembly is compiled with any 15 registers, or names those that it uses; a padded function has two less.
// The approach: the registers that constraints ask for are added up as if no two operands shared one, and the text is searched
// for registers that it uses beside its constraints, which is allowed as long as it puts them back.
#include "instrumenter/pass/inline_assembly.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalValue.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <bitset>
#include <string>

#include "instrumenter/pass/stack_pads.h"

namespace stab {
namespace {

// Numbers of general registers, as the processor counts them.
enum Register : unsigned { kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi, kR8, kRegisters = 16 };
using Registers = std::bitset<kRegisters>;

// The constraint Q means the first four, R the first eight.
constexpr unsigned kLettered = 4;
constexpr unsigned kLegacy = 8;
// What there is in a padded function: all but rsp, rbp and rbx.
constexpr uint64_t kLetteredLeft = kLettered - 1;
constexpr uint64_t kLegacyLeft = kLegacy - 3;
constexpr uint64_t kAllLeft = kRegisters - 3;
// A base and an index.
constexpr uint64_t kRegistersOfAddress = 2;

// A general register by one of its names, rax, eax, ax, ah, al, r8d, ...; kRegisters: `name` isn't one's.
unsigned register_named(llvm::StringRef name) {
  unsigned number = 0;
  if (llvm::StringRef digits = name; digits.consume_front("r") && !digits.consumeInteger(10, number))
    return number < kRegisters && number >= kR8 && (digits.empty() || digits == "d" || digits == "w" || digits == "b") ? number
                                                                                                                  : kRegisters;
  if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e')) name = name.drop_front();
  return llvm::StringSwitch<unsigned>(name)
      .Case("ax", kRax).Case("al", kRax).Case("ah", kRax)
      .Case("cx", kRcx).Case("cl", kRcx).Case("ch", kRcx)
      .Case("dx", kRdx).Case("dl", kRdx).Case("dh", kRdx)
      .Case("bx", kRbx).Case("bl", kRbx).Case("bh", kRbx)
      .Case("sp", kRsp).Case("spl", kRsp)
      .Case("bp", kRbp).Case("bpl", kRbp)
      .Case("si", kRsi).Case("sil", kRsi)
      .Case("di", kRdi).Case("dil", kRdi)
      .Default(kRegisters);
}

// What a piece of assembly takes, or an operand of it.
struct Taken {
  Registers fixed = {};   // by name
  uint64_t lettered = 0;  // any of these
  uint64_t legacy = 0;
  uint64_t any = 0;

  // Without optimization registers are handed out in the operands' order, so that one which may be anywhere can take the last
  // that another could have.
  bool fits() const {
    const uint64_t chosen = lettered + legacy + any;
    const auto fixed_below = [this](unsigned end) { return (fixed & Registers((1U << end) - 1)).count(); };
    return !fixed[kRbp] && !fixed[kRbx] && (lettered == 0 || fixed_below(kLettered) + chosen <= kLetteredLeft) &&
           (legacy == 0 || fixed_below(kLegacy) + chosen <= kLegacyLeft) && fixed.count() + chosen <= kAllLeft;
  }
};

Taken in_register(unsigned number) {
  Taken taken;
  if (number < kRegisters) taken.fixed.set(number);
  return taken;
}

// How many registers the address of a memory operand takes: none where it is a place in the frame, or one that is known
// when the program is linked; but where nothing is optimized (optnone), an offset is added in a register.
uint64_t registers_of_address(const llvm::Value* operand) {
  if (operand == nullptr || !operand->getType()->isPointerTy()) return kRegistersOfAddress;
  const llvm::Value* base = operand->stripInBoundsConstantOffsets();
  const auto* computed = operand == base ? nullptr : llvm::dyn_cast<llvm::Instruction>(operand);
  const uint64_t offset = computed != nullptr && computed->getFunction()->hasOptNone() ? 1 : 0;
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(base)) return local->isStaticAlloca() ? offset : kRegistersOfAddress;
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(base)) return global->isDSOLocal() ? offset : 1;
  return kRegistersOfAddress;
}

// One code of a constraint, for an operand of so many words of 8 bytes.
Taken taken_by(llvm::StringRef code, uint64_t words, const llvm::Value* operand) {
  if (code.consume_front("{")) return in_register(register_named(code.drop_back().lower()));
  // Immediates, registers of other kinds, conditions. j is a prefix of general registers.
  if (code.size() != 1 && !code.starts_with("j")) return {};
  if (llvm::StringRef("IJKLMNOGCeZEFinsxvykftu").contains(code)) return {};
  switch (code.front()) {
    case 'm': case 'o': case 'V': case 'p': return {.any = registers_of_address(operand)};
    case 'a': return in_register(kRax);
    case 'b': return in_register(kRbx);
    case 'c': return in_register(kRcx);
    case 'd': return in_register(kRdx);
    case 'S': return in_register(kRsi);
    case 'D': return in_register(kRdi);
    case 'A': case 'Q': return {.lettered = std::max<uint64_t>(words, code == "A" ? 2 : 1)};
    case 'R': return {.legacy = words};
    default: return {.any = words};
  }
}

// Of several codes code generation chooses one, nobody knows which.
Taken worst_of(const llvm::InlineAsm::ConstraintInfo& constraint, uint64_t words, const llvm::Value* operand) {
  Taken worst;
  const auto consider = [&](const llvm::InlineAsm::ConstraintCodeVector& codes) {
    for (const std::string& code : codes) {
      const Taken taken = taken_by(code, words, operand);
      worst.fixed |= taken.fixed;
      worst.lettered = std::max(worst.lettered, taken.lettered);
      worst.legacy = std::max(worst.legacy, taken.legacy);
      worst.any = std::max(worst.any, taken.any);
    }
  };
  consider(constraint.Codes);
  for (const auto& alternative : constraint.multipleAlternatives) consider(alternative.Codes);
  return worst;
}

bool is_tied(const llvm::InlineAsm::ConstraintInfo& constraint) {
  return constraint.Type == llvm::InlineAsm::isInput && !constraint.Codes.empty() && llvm::isDigit(constraint.Codes[0][0]);
}

llvm::Type* type_of_output(const llvm::CallBase& call, unsigned output) {
  auto* several = llvm::dyn_cast<llvm::StructType>(call.getType());
  return several == nullptr ? call.getType() : several->getElementType(output);
}

Taken taken_by(const llvm::CallBase& call, const llvm::InlineAsm& assembly) {
  const llvm::DataLayout& layout = call.getModule()->getDataLayout();
  Taken all;
  unsigned argument = 0;
  unsigned output = 0;
  for (const llvm::InlineAsm::ConstraintInfo& constraint : assembly.ParseConstraints()) {
    const llvm::Value* operand = constraint.hasArg() ? call.getArgOperand(argument) : nullptr;
    llvm::Type* type = nullptr;
    if (operand != nullptr) type = constraint.isIndirect ? call.getParamElementType(argument) : operand->getType();
    if (constraint.hasArg()) ++argument;
    if (constraint.Type == llvm::InlineAsm::isOutput && operand == nullptr) type = type_of_output(call, output++);
    if (is_tied(constraint)) continue;  // the output that it is tied to has been counted
    const uint64_t words = type == nullptr || !type->isSized() ? 1 : llvm::divideCeil(layout.getTypeSizeInBits(type), 64);
    const Taken taken = worst_of(constraint, words, constraint.isIndirect ? operand : nullptr);
    all.fixed |= taken.fixed;
    all.lettered += taken.lettered;
    all.legacy += taken.legacy;
    all.any += taken.any;
  }
  return all;
}

// Whether a word of the text, in lower case, is what `is_meant` means. Words that start with a dot are directives and labels.
template <typename IsMeant>
bool has_word(const llvm::InlineAsm& assembly, IsMeant is_meant) {
  const std::string text = llvm::StringRef(assembly.getAsmString()).lower();
  const auto in_word = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  for (llvm::StringRef rest = text; !rest.empty();) {
    const llvm::StringRef word = rest.take_while(in_word);
    if (!word.empty() && is_meant(word)) return true;
    rest = rest.drop_front(std::max<size_t>(word.size(), 1));
  }
  return false;
}

bool is_frame_register(llvm::StringRef word) {
  const unsigned number = register_named(word);
  return number == kRbp || number == kRbx;
}

bool names_stack(llvm::StringRef word) {
  return register_named(word) == kRsp || word.starts_with("push") || word == "enter" || word == "leave" ||
         (word.starts_with("pop") && !word.starts_with("popcnt"));
}

// What loads the stack pointer without naming it goes by the frame pointer, or by what lies on the stack.
bool loads_stack(llvm::StringRef word) {
  return register_named(word) == kRsp || word == "leave" || word == "leaveq" || word.starts_with("iret");
}

// movq %rsp, $0, and nothing else: an operand gets the address that the stack ends at.
bool copies_stack_pointer(const llvm::InlineAsm& assembly) {
  if (assembly.getDialect() != llvm::InlineAsm::AD_ATT) return false;
  const std::string lowered = llvm::StringRef(assembly.getAsmString()).lower();
  llvm::StringRef text = llvm::StringRef(lowered).trim(" \t\n;");
  if (!text.consume_front("movq") && !text.consume_front("mov")) return false;
  text = text.ltrim();
  if (!text.consume_front("%rsp")) return false;
  text = text.ltrim();
  if (!text.consume_front(",")) return false;
  text = text.ltrim();
  return text.consume_front("$") && !text.empty() && llvm::all_of(text, llvm::isDigit);
}

}  // namespace

const llvm::InlineAsm* assembly_of(const llvm::CallBase& call) {
  return llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
}

bool spares_frame_registers(const llvm::CallBase& call) {
  const llvm::InlineAsm& assembly = *assembly_of(call);
  return !has_word(assembly, is_frame_register) && taken_by(call, assembly).fits();
}

bool uses_stack_pointer(const llvm::CallBase& call) {
  const llvm::InlineAsm& assembly = *assembly_of(call);
  return has_word(assembly, names_stack) || taken_by(call, assembly).fixed[kRsp];
}

bool may_load_stack_pointer(const llvm::CallBase& call) {
  const llvm::InlineAsm* const assembly = assembly_of(call);
  if (assembly == nullptr || assembly->getAsmString() == kTakePad) return false;
  if (taken_by(call, *assembly).fixed[kRsp]) return true;
  return has_word(*assembly, loads_stack) && !copies_stack_pointer(*assembly);
}

}  // namespace stab
