// Telling what stands behind a PLT entry. Linkers lay PLTs out in many ways (lazy, .plt.sec with endbr64,
// .plt.got, iplt); common to all is that a stub soon jumps through a GOT slot, and that a dynamic relocation
// names that slot's symbol.
#include "instrumenter/postlink/callees.h"

#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

// endbr64; bnd jmp *slot(%rip): the jump is the second instruction at most.
constexpr int kMaxStubInstructions = 2;

}  // namespace

Callees::Callees(const ElfImage& image) : image_(image) {
  for (const Relocation& relocation : image.dynamic_relocations()) {
    if (relocation.type != R_X86_64_JUMP_SLOT && relocation.type != R_X86_64_GLOB_DAT) continue;
    if (relocation.symbol < image.dynamic_symbols().size())
      slots_[relocation.place] = image.dynamic_symbols()[relocation.symbol].name;
  }
  for (const Symbol& symbol : image.dynamic_symbols())
    if (symbol.section != SHN_UNDEF && symbol.type == STT_FUNC) definitions_[symbol.name] = symbol.value;
}

std::string_view Callees::imported_in_slot(uint64_t slot) const {
  const auto found = slots_.find(slot);
  return found == slots_.end() ? std::string_view() : found->second;
}

std::string_view Callees::imported_through_plt(uint64_t address) const {
  if (!image_.in_text(address) || slots_.empty()) return {};
  Instruction instruction;
  for (int i = 0; i < kMaxStubInstructions && image_.in_text(address); ++i) {
    const auto code = image_.text_at(address, image_.text_end() - address);
    if (!decode(code, instruction)) return {};
    address += instruction.length;
    if (instruction.is_indirect_jump() && instruction.rip_relative) {
      const auto distance = int64_t{read_as<int32_t>(code.data() + instruction.displacement_at)};
      return imported_in_slot(address + static_cast<uint64_t>(distance));
    }
    const bool endbr64 = !instruction.is_vector && instruction.map == 1 && instruction.opcode == 0x1e;
    if (!endbr64) return {};
  }
  return {};
}

std::optional<uint32_t> Callees::function_entered(const FunctionTable& functions, uint64_t address) const {
  if (const auto direct = functions.starting_at(address)) return direct;
  return defined(functions, imported_through_plt(address));
}

std::optional<uint32_t> Callees::function_in_slot(const FunctionTable& functions, uint64_t slot) const {
  return defined(functions, imported_in_slot(slot));
}

std::optional<uint32_t> Callees::defined(const FunctionTable& functions, std::string_view name) const {
  const auto definition = definitions_.find(name);
  return definition == definitions_.end() ? std::nullopt : functions.starting_at(definition->second);
}

}  // namespace stab::postlink
