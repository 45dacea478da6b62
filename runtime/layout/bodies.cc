// The file is somebody's: sections and symbols are taken as far as they lie in it, and what doesn't fit is left out.
#include "runtime/layout/bodies.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/arch/stubs.h"
#include "runtime/helper/function_names.h"
#include "runtime/layout/layout_sandbox.h"
#include "runtime/layout/regular_file.h"
#include "runtime/layout/replay.h"
#include "runtime/sys.h"

namespace stab::layout {
namespace {

constexpr uint64_t kMostBytes = 512u << 20;
constexpr uint64_t kZeros = 1;  // the hash of contents that are all 0, whether or not the file has bytes for them

// A word that a call or a read of data goes through, by its address, and the name of what the loader puts there.
struct Import {
  uint64_t slot;
  uint64_t name;  // its hash
};

struct File {
  int file = -1;
  Elf64_Ehdr header{};
  const Elf64_Shdr* sections = nullptr;
  Import* imports = nullptr;  // ascending by slot
  size_t import_count = 0;
  uint64_t* words = nullptr;  // that the loader makes addresses of, by their own
  size_t word_count = 0;

  // With a byte 0 behind it; nullptr: it isn't there, or too large.
  char* part(uint64_t offset, uint64_t bytes) const {
    if (bytes > kMostBytes) return nullptr;
    char* const memory = static_cast<char*>(calloc(1, bytes + 1));
    if (memory == nullptr || sys::pread_full(file, memory, bytes, offset) != static_cast<long>(bytes)) return nullptr;
    return memory;
  }
  char* part(const Elf64_Shdr& section) const {
    return section.sh_type == SHT_NOBITS ? nullptr : part(section.sh_offset, section.sh_size);
  }
};

uint64_t mixed(uint64_t hash, uint64_t word) {
  const uint64_t both[] = {hash, word};
  return abi::hash64(both, sizeof both);
}

// Shell's sort: libc's qsort asks the system how much memory there is, which the sandbox forbids.
void sort(Import* all, size_t count) {
  size_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3)
    for (size_t i = gap; i < count; ++i) {
      const Import one = all[i];
      size_t at = i;
      for (; at >= gap && all[at - gap].slot > one.slot; at -= gap) all[at] = all[at - gap];
      all[at] = one;
    }
}

// pre: `all` is what this table of relocations has
void add_imports(File& of, const Elf64_Shdr& relocations, const Elf64_Rela* all, size_t count) {
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
bool add_relocations(File& of, const Elf64_Shdr& relocations) {
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

bool read_file(int file, File& out) {
  out.file = file;
  if (sys::pread_full(file, &out.header, sizeof out.header, 0) != sizeof out.header) return false;
  if (out.header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  out.sections = reinterpret_cast<const Elf64_Shdr*>(out.part(out.header.e_shoff, out.header.e_shnum * sizeof(Elf64_Shdr)));
  if (out.sections == nullptr) return false;
  for (uint32_t i = 0; i < out.header.e_shnum; ++i)
    if (out.sections[i].sh_type == SHT_RELA && (out.sections[i].sh_flags & SHF_ALLOC) != 0 &&
        !add_relocations(out, out.sections[i]))
      return false;
  return true;
}

// 0: it is no such word.
uint64_t import_at(const File& of, uint64_t slot) {
  size_t low = 0, high = of.import_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (of.imports[middle].slot < slot) low = middle + 1;
    else high = middle;
  }
  return low < of.import_count && of.imports[low].slot == slot ? of.imports[low].name : 0;
}

int32_t distance_at(const uint8_t* field) {
  int32_t distance;
  memcpy(&distance, field, sizeof distance);
  return distance;
}

// What the field leads to, so far as it has a name that lasts from build to build. 0: data, or it is not known.
uint64_t meaning_of(const File& of, const Binary& binary, uint64_t at) {
  const abi::CodeHeader& header = *binary.code.header;
  // As if it ended its instruction, as fields of calls and of what reads the global offset table do.
  const uint64_t target = header.text_start + at + 4 + static_cast<uint64_t>(int64_t{distance_at(binary.text + at)});
  if (target < header.text_start || target - header.text_start >= header.text_bytes) return import_at(of, target);
  const uint32_t function = code::function_at(binary.code, target - header.text_start);
  if (function < header.function_count) return binary.code.identities[function];
  const uint64_t into = target - header.text_start;
  const uint64_t slot = arch::slot_of_stub(binary.text + into, header.text_bytes - into, target);
  return slot == 0 ? 0 : import_at(of, slot);
}

// pre: `copy` has room for the function
uint64_t hash_of(const File& of, const Binary& binary, uint32_t number, uint8_t* copy) {
  const code::Metadata& code = binary.code;
  const abi::CodeFunction& f = code.functions[number];
  memcpy(copy, binary.text + f.start, f.bytes);
  uint64_t meanings = 0;
  uint64_t at = 0;
  for (uint32_t k = 0; k < f.fixed_count; ++k) {
    const uint16_t step = code.fixed[f.first_fixed + k];
    at += step;
    if (step == abi::kFixedSkip || at + 4 > f.bytes) continue;
    meanings = mixed(meanings, meaning_of(of, binary, f.start + at));
    memset(copy + at, 0, 4);
  }
  for (uint32_t k = 0; k < f.directed_count; ++k) {
    const abi::DirectedFixup& fixup = code.directed[f.first_directed + k];
    if (fixup.kind() == abi::FixupKind::kPcFunction) meanings = mixed(meanings, code.identities[fixup.target()]);
    memset(copy + fixup.at, 0, 4);
  }
  for (uint32_t k = 0; k < f.table_count; ++k) {
    const abi::CodeTable& table = code.tables[f.first_table + k];
    meanings = mixed(meanings, abi::hash64(code.targets + table.first_target, table.entry_count * sizeof(uint32_t)));
  }
  return mixed(abi::hash64(copy, f.bytes), meanings);
}

void print_functions(const File& of, const Binary& binary, const helper::FunctionNames& names, uint8_t* copy) {
  for (uint32_t i = 0; i < binary.code.header->function_count; ++i) {
    const abi::CodeFunction& f = binary.code.functions[i];
    if (f.immovable != abi::Immovable::kNo) continue;
    const unsigned long long start = binary.code.header->text_start + f.start;
    printf("f\t%llx\t%llx\t%llx\t", start, static_cast<unsigned long long>(binary.code.identities[i]),
           static_cast<unsigned long long>(hash_of(of, binary, i, copy)));
    if (const char* const name = names.name_of(i)) print_name(name);
    else printf("fn_%llx", start);
    putchar('\n');
  }
}

// Objects of the runtime's own are alike in all programs: "stab_control", "_ZL10stab_start",
// "_ZZN4stab6helper5serveERKNS0_4TaskEE4text".
bool is_runtimes(const char* name) {
  if (strstr(name, "N4stab") != nullptr) return true;
  if (strncmp(name, "_ZL", 3) == 0) {
    name += 3;
    while (*name >= '0' && *name <= '9') ++name;
  }
  return strncmp(name, "stab_", 5) == 0;
}

// Whether the local symbols from `first` on, up to those of the next source file, are of a file of the runtime's.
bool is_runtimes_file(const Elf64_Sym* symbols, uint64_t first, uint64_t locals, const char* strings, uint64_t bytes) {
  for (uint64_t k = first; k < locals && ELF64_ST_TYPE(symbols[k].st_info) != STT_FILE; ++k)
    if (symbols[k].st_name < bytes && is_runtimes(strings + symbols[k].st_name)) return true;
  return false;
}

// The contents of sections that hold data, without the words that the loader makes addresses of. At a fixed address the linker
// has made them, and what may be one is taken for one: a number that is as large as an address of the program.
class Contents {
 public:
  explicit Contents(const File& of) : of_(of), is_fixed_(of.header.e_type == ET_EXEC) {
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

  // 0: not known.
  uint64_t hash_of(const Elf64_Sym& one) {
    if (sections_ == nullptr) return 0;
    const Elf64_Shdr& section = of_.sections[one.st_shndx];
    const uint64_t into = one.st_value - section.sh_addr;
    if (into > section.sh_size || one.st_size > section.sh_size - into) return 0;
    // An import there is a library's object, which the loader copies.
    if (section.sh_type == SHT_NOBITS) return import_at(of_, one.st_value) == 0 ? kZeros : 0;
    uint8_t*& bytes = sections_[one.st_shndx];
    if (bytes == nullptr) bytes = load(section);
    if (bytes == nullptr) return 0;
    return is_zero(bytes + into, one.st_size) ? kZeros : abi::hash64(bytes + into, one.st_size);
  }

 private:
  // pre: bytes > 0
  static bool is_zero(const uint8_t* at, uint64_t bytes) { return *at == 0 && memcmp(at, at + 1, bytes - 1) == 0; }

  uint8_t* load(const Elf64_Shdr& section) const {
    auto* const bytes = reinterpret_cast<uint8_t*>(of_.part(section));
    if (bytes == nullptr) return nullptr;
    for (size_t i = 0; i < of_.word_count; ++i) {
      const uint64_t into = of_.words[i] - section.sh_addr;
      if (into < section.sh_size && section.sh_size - into >= sizeof(uint64_t)) memset(bytes + into, 0, sizeof(uint64_t));
    }
    if (is_fixed_) clear_addresses(bytes, section.sh_size);
    return bytes;
  }

  // Also those of four bytes, which address all of a program at a fixed address.
  void clear_addresses(uint8_t* bytes, uint64_t count) const {
    for (uint64_t at = 0; at + sizeof(uint32_t) <= count; at += sizeof(uint32_t)) {
      uint32_t word;
      memcpy(&word, bytes + at, sizeof word);
      if (word >= lowest_ && word < end_) memset(bytes + at, 0, sizeof word);
    }
  }

  const File& of_;
  const bool is_fixed_;
  uint64_t lowest_ = UINT64_MAX, end_ = 0;  // of the program's addresses
  uint8_t** sections_ = nullptr;
};

void print_data(const File& of) {
  Contents contents(of);
  for (uint32_t i = 0; i < of.header.e_shnum; ++i) {
    const Elf64_Shdr& table = of.sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= of.header.e_shnum) continue;
    const Elf64_Shdr& text = of.sections[table.sh_link];
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(of.part(table));
    const char* const strings = of.part(text);
    if (symbols == nullptr || strings == nullptr) return;
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym), locals = table.sh_info < count ? table.sh_info : count;
    bool is_ours = false;
    for (uint64_t k = 0; k < count; ++k) {
      const Elf64_Sym& one = symbols[k];
      if (k >= locals) is_ours = false;
      else if (ELF64_ST_TYPE(one.st_info) == STT_FILE)
        is_ours = is_runtimes_file(symbols, k + 1, locals, strings, text.sh_size);
      if (is_ours) continue;
      if (ELF64_ST_TYPE(one.st_info) != STT_OBJECT || one.st_size == 0 || one.st_name >= text.sh_size) continue;
      if (one.st_shndx == SHN_UNDEF || one.st_shndx >= of.header.e_shnum) continue;
      if ((of.sections[one.st_shndx].sh_flags & SHF_ALLOC) == 0 || is_runtimes(strings + one.st_name)) continue;
      printf("d\t%llx\t%llu\t%llx\t", static_cast<unsigned long long>(one.st_value),
             static_cast<unsigned long long>(one.st_size), static_cast<unsigned long long>(contents.hash_of(one)));
      print_name(strings + one.st_name);
      putchar('\n');
    }
    return;
  }
}

}  // namespace

void print_name(const char* name) {
  for (; *name != 0; ++name) putchar(*name > ' ' && *name <= '~' ? *name : '?');
}

bool print_bodies(char* executable) {
  const int file = open_regular(executable);
  if (file < 0) return false;
  if (const char* failed = confine()) return refuse(executable, failed), false;
  static Binary binary;
  static File of;
  static helper::FunctionNames names;
  if (const char* lacks = read_binary(file, binary)) return refuse(executable, lacks), false;
  if (binary.code.identities == nullptr)
    return refuse(executable, "it says no identities of its functions; link it again with szc"), false;
  if (!read_file(file, of) || !names.read(file, binary.code)) return refuse(executable, "its symbols can't be read"), false;
  uint8_t* const copy = static_cast<uint8_t*>(malloc(binary.code.header->text_bytes + 1));
  if (copy == nullptr) return refuse(executable, "not enough memory"), false;
  sort(of.imports, of.import_count);
  fputs("stab-bodies 1\n", stdout);
  print_functions(of, binary, names, copy);
  print_data(of);
  return true;
}

}  // namespace stab::layout
