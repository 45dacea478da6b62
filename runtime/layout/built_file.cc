#include "runtime/layout/built_file.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/code_abi.h"
#include "runtime/sections_abi.h"
#include "runtime/sys.h"

namespace stab::layout {
namespace {

constexpr uint64_t kMostBytes = 512u << 20;
constexpr uint64_t kZeros = 1;  // the hash of contents that are all 0, whether or not the file has bytes for them

// By their addresses. Shell's sort: libc's qsort asks the system how much memory there is, which the sandbox forbids.
template <typename T>
void sort(T* all, size_t count) {
  size_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3)
    for (size_t i = gap; i < count; ++i) {
      const T one = all[i];
      size_t at = i;
      for (; at >= gap && all[at - gap].address > one.address; at -= gap) all[at] = all[at - gap];
      all[at] = one;
    }
}

// How many of them, ascending by address, lie at `address` or before it.
template <typename T>
size_t count_up_to(const T* all, size_t count, uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (all[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

// pre: `all` is what this table of relocations has
void add_imports(BuiltFile& of, const Elf64_Shdr& relocations, const Elf64_Rela* all, size_t count) {
  if (relocations.sh_link == 0 || relocations.sh_link >= of.header.e_shnum) return;
  const Elf64_Shdr& table = of.sections[relocations.sh_link];
  if (table.sh_type != SHT_DYNSYM || table.sh_link >= of.header.e_shnum) return;
  const Elf64_Shdr& text = of.sections[table.sh_link];
  const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(of.part(table));
  const char* const strings = of.part(text);
  if (symbols == nullptr || strings == nullptr) return;
  const size_t most = table.sh_size / sizeof(Elf64_Sym);
  void* const more = realloc(of.imports, (of.import_count + count) * sizeof(Import));
  if (more == nullptr) return;
  of.imports = static_cast<Import*>(more);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t symbol = ELF64_R_SYM(all[i].r_info);
    if (symbol == 0 || symbol >= most || symbols[symbol].st_name >= text.sh_size) continue;
    const char* const name = strings + symbols[symbol].st_name;
    of.imports[of.import_count++] = {all[i].r_offset, abi::hash64(name, strlen(name))};
  }
}

// A table of relocations that the loader obeys. False: it can't be read.
bool add_relocations(BuiltFile& of, const Elf64_Shdr& relocations) {
  auto* const all = reinterpret_cast<Elf64_Rela*>(of.part(relocations));
  if (all == nullptr) return false;
  const size_t count = relocations.sh_size / sizeof *all;
  void* const more = realloc(of.words, (of.word_count + count) * sizeof *of.words + 1);
  if (more == nullptr) return false;
  of.words = static_cast<uint64_t*>(more);
  for (size_t i = 0; i < count; ++i) of.words[of.word_count++] = all[i].r_offset;
  add_imports(of, relocations, all, count);
  free(all);
  return true;
}

// Of the first table of symbols, if there is one.
void add_symbols(BuiltFile& of) {
  for (uint32_t i = 0; i < of.header.e_shnum; ++i) {
    const Elf64_Shdr& table = of.sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= of.header.e_shnum) continue;
    const Elf64_Shdr& text = of.sections[table.sh_link];
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(of.part(table));
    const char* const strings = of.part(text);
    if (symbols == nullptr || strings == nullptr) return;
    of.symbols = symbols;
    of.symbol_count = table.sh_size / sizeof *symbols;
    of.local_count = table.sh_info < of.symbol_count ? table.sh_info : of.symbol_count;
    of.strings = strings;
    of.string_bytes = text.sh_size;
    return;
  }
}

// False: there is no memory for it.
bool add_names(BuiltFile& of) {
  of.named = static_cast<Named*>(malloc(of.symbol_count * sizeof *of.named + 1));
  if (of.named == nullptr) return false;
  for (size_t i = 0; i < of.symbol_count; ++i)
    if (of.is_object(of.symbols[i]))
      of.named[of.named_count++] = {of.symbols[i].st_value, of.symbols[i].st_value + of.symbols[i].st_size};
  sort(of.named, of.named_count);
  return true;
}

// nullptr: there is none that is not loaded.
const Elf64_Shdr* unloaded_section(const BuiltFile& of, const char* name) {
  if (of.header.e_shstrndx >= of.header.e_shnum) return nullptr;
  const Elf64_Shdr& table = of.sections[of.header.e_shstrndx];
  char* const names = of.part(table);
  const Elf64_Shdr* found = nullptr;
  for (uint32_t i = 0; names != nullptr && found == nullptr && i < of.header.e_shnum; ++i) {
    const Elf64_Shdr& one = of.sections[i];
    if (one.sh_type == SHT_PROGBITS && (one.sh_flags & SHF_ALLOC) == 0 && one.sh_name < table.sh_size &&
        strcmp(names + one.sh_name, name) == 0)
      found = &one;
  }
  free(names);
  return found;
}

void add_constants(BuiltFile& of) {
  const Elf64_Shdr* const section = unloaded_section(of, abi::kContentsSection);
  abi::ConstantsHeader header;
  if (section == nullptr || section->sh_size < sizeof header) return;
  const char* const bytes = of.part(*section);
  if (bytes == nullptr) return;
  memcpy(&header, bytes, sizeof header);
  const uint64_t wanted = sizeof header + (uint64_t{header.function_count} + header.hash_count) * sizeof(uint32_t);
  if (header.version != abi::kContentsVersion || section->sh_size != wanted) return;
  const auto* const ends = reinterpret_cast<const uint32_t*>(bytes + sizeof header);
  uint32_t last = 0;
  for (uint32_t i = 0; i < header.function_count; ++i) {
    if (ends[i] < last || ends[i] > header.hash_count) return;
    last = ends[i];
  }
  of.constants = {ends, ends + header.function_count, header.function_count};
}

// pre: bytes > 0
bool is_zero(const uint8_t* at, uint64_t bytes) { return *at == 0 && memcmp(at, at + 1, bytes - 1) == 0; }

}  // namespace

char* BuiltFile::part(uint64_t offset, uint64_t bytes) const {
  if (bytes > kMostBytes) return nullptr;
  char* const memory = static_cast<char*>(calloc(1, bytes + 1));
  if (memory == nullptr || sys::pread_full(file, memory, bytes, offset) != static_cast<long>(bytes)) return nullptr;
  return memory;
}

char* BuiltFile::part(const Elf64_Shdr& section) const {
  return section.sh_type == SHT_NOBITS ? nullptr : part(section.sh_offset, section.sh_size);
}

uint64_t BuiltFile::import_at(uint64_t address) const {
  const size_t behind = count_up_to(imports, import_count, address);
  return behind > 0 && imports[behind - 1].address == address ? imports[behind - 1].name : 0;
}

bool BuiltFile::has_name_at(uint64_t address) const {
  const size_t behind = count_up_to(named, named_count, address);
  return behind > 0 && address < named[behind - 1].end;
}

bool BuiltFile::is_object(const Elf64_Sym& symbol) const {
  if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 || symbol.st_name >= string_bytes) return false;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= header.e_shnum) return false;
  return (sections[symbol.st_shndx].sh_flags & SHF_ALLOC) != 0;
}

bool read_built_file(int file, BuiltFile& out) {
  out.file = file;
  if (sys::pread_full(file, &out.header, sizeof out.header, 0) != sizeof out.header) return false;
  if (out.header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  out.sections = reinterpret_cast<const Elf64_Shdr*>(out.part(out.header.e_shoff, out.header.e_shnum * sizeof(Elf64_Shdr)));
  if (out.sections == nullptr) return false;
  for (uint32_t i = 0; i < out.header.e_shnum; ++i)
    if (out.sections[i].sh_type == SHT_RELA && (out.sections[i].sh_flags & SHF_ALLOC) != 0 &&
        !add_relocations(out, out.sections[i]))
      return false;
  sort(out.imports, out.import_count);
  add_symbols(out);
  add_constants(out);
  return add_names(out);
}

Contents::Contents(const BuiltFile& of) : of_(of), is_fixed_(of.header.e_type == ET_EXEC) {
  bool knows_addresses = is_fixed_ || of.header.e_type == ET_DYN;
  for (uint32_t i = 0; i < of.header.e_shnum; ++i) {
    const Elf64_Shdr& one = of.sections[i];
    knows_addresses &= one.sh_type != SHT_RELR;
    if ((one.sh_flags & SHF_ALLOC) == 0 || one.sh_addr == 0) continue;
    if (one.sh_addr < lowest_) lowest_ = one.sh_addr;
    if (one.sh_addr + one.sh_size > end_) end_ = one.sh_addr + one.sh_size;
  }
  // Of two builds the same number must be an address in both: they end at about the same address.
  uint64_t round = 1;
  while (round < end_ && round <= UINT64_MAX / 2) round *= 2;
  end_ = round;
  if (knows_addresses) sections_ = static_cast<uint8_t**>(calloc(of.header.e_shnum, sizeof *sections_));
}

const uint8_t* Contents::bytes_of(uint32_t section) {
  uint8_t*& bytes = sections_[section];
  if (bytes == nullptr) bytes = load(of_.sections[section]);
  return bytes;
}

uint64_t Contents::hash_of(const Elf64_Sym& one) {
  if (sections_ == nullptr) return 0;
  const Elf64_Shdr& section = of_.sections[one.st_shndx];
  const uint64_t into = one.st_value - section.sh_addr;
  if (into > section.sh_size || one.st_size > section.sh_size - into) return 0;
  // An import there is a library's object, which the loader copies.
  if (section.sh_type == SHT_NOBITS) return of_.import_at(one.st_value) == 0 ? kZeros : 0;
  const uint8_t* const bytes = bytes_of(one.st_shndx);
  if (bytes == nullptr) return 0;
  return is_zero(bytes + into, one.st_size) ? kZeros : abi::hash64(bytes + into, one.st_size);
}

uint64_t Contents::hash_of_constant(uint64_t address, uint64_t bytes) {
  if (sections_ == nullptr || of_.has_name_at(address)) return 0;
  for (uint32_t i = 0; i < of_.header.e_shnum; ++i) {
    const Elf64_Shdr& section = of_.sections[i];
    if ((section.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) != SHF_ALLOC || section.sh_type != SHT_PROGBITS) continue;
    const uint64_t into = address - section.sh_addr;
    if (address < section.sh_addr || into >= section.sh_size || bytes > section.sh_size - into) continue;
    const uint8_t* const held = bytes_of(i);
    return held == nullptr ? 0 : abi::hash64(held + into, bytes);
  }
  return 0;
}

uint8_t* Contents::load(const Elf64_Shdr& section) const {
  auto* const bytes = reinterpret_cast<uint8_t*>(of_.part(section));
  if (bytes == nullptr) return nullptr;
  for (size_t i = 0; i < of_.word_count; ++i) {
    const uint64_t into = of_.words[i] - section.sh_addr;
    if (into < section.sh_size && section.sh_size - into >= sizeof(uint64_t)) memset(bytes + into, 0, sizeof(uint64_t));
  }
  if (is_fixed_) clear_addresses(bytes, section.sh_size);
  return bytes;
}

void Contents::clear_addresses(uint8_t* bytes, uint64_t count) const {
  for (uint64_t at = 0; at + sizeof(uint32_t) <= count; at += sizeof(uint32_t)) {
    uint32_t word;
    memcpy(&word, bytes + at, sizeof word);
    if (may_be_address(word)) memset(bytes + at, 0, sizeof word);
  }
}

}  // namespace stab::layout
