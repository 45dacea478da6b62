// The problem: each object defines the record of its thread's stack, weakly, so that it links without the runtime, and reads it
// where the executable has it, in static thread-local storage. A library that is loaded by a program without the runtime is its
// own definer. Then all of its thread-local storage has to be static, of which a process has less than 2 KiB left for libraries
// that come later: one with a buffer for each thread, or the 108th of those that have nothing but the record, is refused.
//
// The approach: a linked library has no need of a definition. Undefined and weak, the record is the program's where it has one.
// Where it has none the dynamic linker leaves the distance from the thread pointer 0, so that what is read is the thread's
// descriptor, and whatever the comparisons with it say, no pad is taken: the slots of such a library are never drawn.
//
// Where the library's link has bound the name to its own definition (-Bsymbolic, a version script with `local: *`) no name is
// left by which the dynamic linker could find the program's. The runtime finds the word by a mark in the relocation
// (runtime/api/hidden_record.h).
#include "instrumenter/postlink/stack_record.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

bool is_own_record(const Symbol& symbol) {
  return symbol.name == abi::kStackRecordSymbol && symbol.type == STT_TLS && symbol.section != SHN_UNDEF;
}

// Where the library's own record is in its thread-local storage; nullopt: it has none, or nobody tells any more.
std::optional<uint64_t> place_of_record(const ElfImage& image) {
  for (const std::vector<Symbol>* symbols : {&image.dynamic_symbols(), &image.symbols()})
    if (const auto found = std::find_if(symbols->begin(), symbols->end(), is_own_record); found != symbols->end())
      return found->value;
  return std::nullopt;
}

void clear(ElfImage& image, uint64_t offset, uint64_t bytes) {
  for (uint64_t at = offset; at < offset + bytes; at += sizeof(uint32_t)) image.set_word(at, 0);
}

// To linkers a symbol without a definition has no version of the library's own.
void make_unversioned(ElfImage& image, size_t symbol) {
  for (const Section& section : image.sections()) {
    const uint64_t word = symbol / 2 * sizeof(uint32_t);
    if (section.header.sh_type != SHT_GNU_versym || word + sizeof(uint32_t) > section.bytes.size()) continue;
    const unsigned shift = symbol % 2 * 16;
    const uint32_t others = read_as<uint32_t>(section.bytes.data() + word) & ~(uint32_t{0xffff} << shift);
    image.set_word(section.header.sh_offset + word, others | uint32_t{VER_NDX_GLOBAL} << shift);
  }
}

void take_definition_back(ElfImage& image, size_t symbol) {
  for (const Section& section : image.sections()) {
    if (section.header.sh_type != SHT_DYNSYM) continue;
    const uint64_t at = section.header.sh_offset + symbol * sizeof(Elf64_Sym);
    const auto raw = read_as<Elf64_Sym>(image.bytes().data() + at);
    image.set_word(at + offsetof(Elf64_Sym, st_info), uint32_t{raw.st_info} | uint32_t{raw.st_other} << 8 | SHN_UNDEF);
    clear(image, at + offsetof(Elf64_Sym, st_value), sizeof raw.st_value + sizeof raw.st_size);
  }
  make_unversioned(image, symbol);
}

// The distance from the thread pointer that a relocation leaves as it is when it finds no record.
void clear_distance(ElfImage& image, uint64_t address) {
  const Section* section = image.section_at(address);
  if (section == nullptr || section->header.sh_type == SHT_NOBITS) return;
  const uint64_t at = address - section->header.sh_addr;
  if (at + sizeof(uint64_t) <= section->bytes.size()) clear(image, section->header.sh_offset + at, sizeof(uint64_t));
}

enum class Reference : uint8_t { kOther, kToName, kToOwn };

// By name, or, where the library's link bound it to its own (-Bsymbolic, `local: *`), by its place or a local symbol.
Reference reference_of(const ElfImage& image, const Elf64_Rela& relocation, uint64_t place) {
  const uint64_t symbol = ELF64_R_SYM(relocation.r_info);
  if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_TPOFF64) return Reference::kOther;
  if (symbol == 0) return static_cast<uint64_t>(relocation.r_addend) == place ? Reference::kToOwn : Reference::kOther;
  if (symbol >= image.dynamic_symbols().size() || !is_own_record(image.dynamic_symbols()[symbol])) return Reference::kOther;
  return image.dynamic_symbols()[symbol].binding == STB_LOCAL ? Reference::kToOwn : Reference::kToName;
}

// Makes it one that does nothing, and that the runtime knows: no dynamic linker looks for the program's record by its name there.
void mark(ElfImage& image, uint64_t relocation) {
  clear(image, relocation + offsetof(Elf64_Rela, r_info), sizeof(Elf64_Rela::r_info));  // R_X86_64_NONE
  const uint64_t addend = relocation + offsetof(Elf64_Rela, r_addend);
  image.set_word(addend, static_cast<uint32_t>(abi::kRecordWordMark));
  image.set_word(addend + sizeof(uint32_t), static_cast<uint32_t>(abi::kRecordWordMark >> 32));
}

void empty_references(ElfImage& image, uint64_t place) {
  for (const Section& table : image.sections()) {
    if (table.header.sh_type != SHT_RELA || !table.allocated()) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.bytes.size(); at += sizeof(Elf64_Rela)) {
      const auto raw = read_as<Elf64_Rela>(table.bytes.data() + at);
      const Reference reference = reference_of(image, raw, place);
      if (reference == Reference::kOther) continue;
      clear_distance(image, raw.r_offset);
      if (reference == Reference::kToOwn) mark(image, table.header.sh_offset + at);
    }
  }
}

}  // namespace

void leave_record_to_program(ElfImage& image) {
  const std::optional<uint64_t> place = place_of_record(image);
  if (!place) return;
  empty_references(image, *place);
  for (size_t symbol = 0; symbol < image.dynamic_symbols().size(); ++symbol)
    if (is_own_record(image.dynamic_symbols()[symbol]) && image.dynamic_symbols()[symbol].binding != STB_LOCAL)
      take_definition_back(image, symbol);
}

}  // namespace stab::postlink
