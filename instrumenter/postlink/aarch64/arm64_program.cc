// Reading a linked arm64 executable; arm64_program.h says what for.
#include "instrumenter/postlink/aarch64/arm64_program.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "runtime/arch/aarch64/instruction.h"

namespace stab::postlink {
namespace {

namespace arm = arch::aarch64;
using abi::Immovable;

Error unusable(const std::string& why) {
  return bad_input("not usable: " + why);
}

// FileBytes of a file, never beyond its end.
class FileBytes {
 public:
  explicit FileBytes(std::string_view file) : file_(file) {}

  template <typename T>
  bool read(uint64_t offset, T& out) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, file_.data() + offset, sizeof(T));
    return true;
  }
  bool holds(uint64_t offset, uint64_t size) const { return offset <= file_.size() && file_.size() - offset >= size; }
  std::string text(uint64_t offset) const {
    if (offset >= file_.size()) return {};
    const std::string_view rest = file_.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }
  const uint8_t* at(uint64_t offset) const { return reinterpret_cast<const uint8_t*>(file_.data()) + offset; }

 private:
  std::string_view file_;
};

struct Arm64Relocation {
  uint64_t place = 0;
  uint32_t type = 0;
  uint64_t target = 0;  // S + A
};

struct Arm64Symbol {
  std::string name;
  uint64_t value = 0, size = 0;
  uint8_t type = 0;
  uint16_t section = 0;
};

class Arm64Reader {
 public:
  Arm64Reader(std::string_view file, bool is_far) : file_(file), is_far_(is_far) {}

  Result<Arm64Program> read() {
    if (Status status = read_header(); !status) return status.error();
    if (Status status = read_sections(); !status) return status.error();
    read_symbols();
    read_relocations();
    list_functions();
    for (uint32_t i = 0; i < out_.functions.size(); ++i) judge(i);
    settle_entries();
    settle_islands();
    list_fields();
    finish();
    return std::move(out_);
  }

 private:
  Status read_header() {
    if (!file_.read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return unusable("no ELF file");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB || header_.e_machine != EM_AARCH64)
      return unusable("not a little-endian arm64 ELF file");
    if (header_.e_type != ET_EXEC) return unusable("not an executable at a fixed address; link with -no-pie");
    if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_shentsize != sizeof(Elf64_Shdr))
      return unusable("headers of another size");
    int executable = 0;
    for (uint16_t i = 0; i < header_.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!file_.read(header_.e_phoff + i * sizeof segment, segment)) return unusable("program headers beyond its end");
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      if (!file_.holds(segment.p_offset, segment.p_filesz)) return unusable("a segment beyond its end");
      // As it is mapped: from the first byte of a page on.
      constexpr uint64_t kPage = 4096;
      const uint64_t before = segment.p_vaddr % kPage;
      if (segment.p_offset < before) return unusable("a segment that isn't mapped from its file");
      out_.text_start = segment.p_vaddr - before;
      out_.text_bytes = segment.p_filesz + before;
      out_.text_offset = segment.p_offset - before;
      ++executable;
    }
    if (executable != 1) return unusable("it has " + std::to_string(executable) + " executable segments, not one");
    if (out_.text_bytes > uint32_t{1} << 30) return unusable("more than 1 GiB of code");
    return {};
  }

  Status read_sections() {
    Elf64_Shdr names;
    if (!file_.read(header_.e_shoff + header_.e_shstrndx * sizeof names, names)) return unusable("no section headers");
    for (uint16_t i = 0; i < header_.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!file_.read(header_.e_shoff + i * sizeof section, section)) return unusable("section headers beyond its end");
      if (section.sh_type != SHT_NOBITS && !file_.holds(section.sh_offset, section.sh_size))
        return unusable("a section beyond its end");
      sections_.push_back({file_.text(names.sh_offset + section.sh_name), section.sh_type, section.sh_link, section.sh_info,
                           section.sh_flags, section.sh_addr, section.sh_offset, section.sh_size});
      has_relocations_ |= section.sh_type == SHT_RELA && (section.sh_flags & SHF_ALLOC) == 0;
    }
    if (!has_relocations_) return unusable("no relocations; link with --emit-relocs");
    return {};
  }

  void read_symbols() {
    for (const Arm64Section& table : sections_) {
      if (table.type != SHT_SYMTAB || table.link >= sections_.size()) continue;
      for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        if (!file_.read(table.offset + at, symbol)) break;
        symbols_.push_back({file_.text(sections_[table.link].offset + symbol.st_name), symbol.st_value, symbol.st_size,
                            static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)), symbol.st_shndx});
      }
    }
    // AAELF64 5.5.5: $d begins data within code, $x instructions.
    std::map<uint64_t, bool> marks;
    for (const Arm64Symbol& symbol : symbols_) {
      const bool is_data = symbol.name == "$d" || symbol.name.starts_with("$d.");
      const bool is_code = symbol.name == "$x" || symbol.name.starts_with("$x.");
      if ((is_data || is_code) && is_code_section(symbol.section)) marks[symbol.value] = is_data;
    }
    for (auto mark = marks.begin(); mark != marks.end(); ++mark) {
      const auto next = std::next(mark);
      if (mark->second) data_.push_back({mark->first, next == marks.end() ? out_.text_start + out_.text_bytes : next->first});
    }
  }

  bool is_code_section(uint16_t index) const { return index < sections_.size() && (sections_[index].flags & SHF_EXECINSTR) != 0; }

  bool is_data(uint64_t address) const {
    const auto behind = std::ranges::upper_bound(data_, address, {}, [](const auto& range) { return range.first; });
    return behind != data_.begin() && address < std::prev(behind)->second;
  }

  void read_relocations() {
    for (const Arm64Section& table : sections_) {
      if (table.type != SHT_RELA || (table.flags & SHF_ALLOC) != 0 || table.info >= sections_.size()) continue;
      if ((sections_[table.info].flags & SHF_ALLOC) == 0) continue;
      for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        if (!file_.read(table.offset + at, entry)) break;
        const uint64_t symbol = ELF64_R_SYM(entry.r_info);
        if (symbol >= symbols_.size()) continue;
        relocations_[entry.r_offset] = {entry.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)),
                                        symbols_[symbol].value + static_cast<uint64_t>(entry.r_addend)};
      }
    }
  }

  const Arm64Relocation* relocation_at(uint64_t place) const {
    const auto found = relocations_.find(place);
    return found == relocations_.end() ? nullptr : &found->second;
  }

  uint64_t address_of(const abi::CodeFunction& f) const { return out_.text_start + f.start; }
  uint32_t word_at(uint64_t address) const { return arm::get_word(file_.at(out_.text_offset + (address - out_.text_start))); }

  // Functions by their place; of several names for one the first is kept.
  void list_functions() {
    std::vector<const Arm64Symbol*> found;
    for (const Arm64Symbol& symbol : symbols_) {
      if (symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC) continue;
      if (!is_code_section(symbol.section) || symbol.value < out_.text_start) continue;
      const uint64_t start = symbol.value - out_.text_start;
      if (start < out_.text_bytes && symbol.size <= out_.text_bytes - start) found.push_back(&symbol);
    }
    std::ranges::stable_sort(found, {}, [](const Arm64Symbol* symbol) { return std::pair(symbol->value, ~symbol->size); });
    for (const Arm64Symbol* symbol : found) {
      const auto start = static_cast<uint32_t>(symbol->value - out_.text_start);
      if (!out_.functions.empty()) {
        abi::CodeFunction& last = out_.functions.back();
        if (last.start == start && last.bytes >= symbol->size) {
          if (symbol->type == STT_GNU_IFUNC) last.immovable = Immovable::kSystem;
          continue;
        }
        if (start < last.start + last.bytes) {
          // A label with another end: who comes in there may leave where the outer function doesn't.
          last.immovable = Immovable::kOverlaps;
          continue;
        }
      }
      abi::CodeFunction f{};
      f.start = start;
      f.bytes = static_cast<uint32_t>(symbol->size);
      if (symbol->type == STT_GNU_IFUNC) f.immovable = Immovable::kSystem;
      out_.functions.push_back(f);
      out_.names.push_back(symbol->name);
    }
  }

  const abi::CodeFunction* function_over(uint64_t address) const {
    if (address < out_.text_start) return nullptr;
    const uint64_t at = address - out_.text_start;
    const auto behind =
        std::ranges::upper_bound(out_.functions, at, {}, [](const abi::CodeFunction& f) { return uint64_t{f.start}; });
    if (behind == out_.functions.begin()) return nullptr;
    const abi::CodeFunction& f = *std::prev(behind);
    return at < uint64_t{f.start} + f.bytes ? &f : nullptr;
  }

  bool is_inside(const abi::CodeFunction& f, uint64_t address) const {
    return address >= address_of(f) && address - address_of(f) < f.bytes;
  }

  template <typename Visit>
  void each_instruction(const abi::CodeFunction& f, const Visit& visit) const {
    for (uint64_t address = address_of(f); address + 4 <= address_of(f) + f.bytes; address += 4)
      if (!is_data(address)) visit(address, word_at(address));
  }

  // Whether it can be copied elsewhere at all.
  void judge(uint32_t index) {
    abi::CodeFunction& f = out_.functions[index];
    if (f.immovable != Immovable::kNo) return;
    if (f.bytes == 0) {
      f.immovable = Immovable::kNoSize;
    } else if (f.start % 4 != 0 || f.bytes % 4 != 0) {
      f.immovable = Immovable::kUndecodable;
    } else if (f.bytes < arm::entry_bytes(file_.at(out_.text_offset), f, is_far_)) {
      f.immovable = Immovable::kTooShort;
    } else if (falls_through(f)) {
      f.immovable = Immovable::kFallsThrough;
    } else {
      f.immovable = judge_fields(f);
    }
  }

  bool falls_through(const abi::CodeFunction& f) const {
    uint64_t last = address_of(f) + f.bytes - 4;
    while (last > address_of(f) && !is_data(last) && word_at(last) == arm::kNop) last -= 4;
    return !is_data(last) && !arm::ends_flow(word_at(last));
  }

  Immovable judge_fields(const abi::CodeFunction& f) const {
    Immovable why = Immovable::kNo;
    uint32_t conditional = 0;
    each_instruction(f, [&](uint64_t address, uint32_t word) {
      const arm::Relative relative = arm::relative_of(word);
      if (relative == arm::Relative::kNone) return;
      if (relative == arm::Relative::kUnknown) {
        why = Immovable::kUndecodable;
        return;
      }
      const uint64_t target = arm::target_of(word, address);
      const bool inside = is_inside(f, target);
      // adr of the own start makes a pointer to the function, which stays the original's; of a label, it goes with the copy.
      if (relative == arm::Relative::kAddress && (!inside || target == address_of(f))) why = Immovable::kUnresolvedField;
      if (relative == arm::Relative::kLiteral && !inside) why = Immovable::kUnresolvedField;
      conditional += arm::is_conditional(relative) && !inside;
    });
    // What a byte counts of islands.
    if (conditional * arm::kInstructionBytes > 255) why = Immovable::kCrossShortJump;
    // Words between the instructions that are relative to their own place and lead out of the function.
    for (auto at = relocations_.lower_bound(address_of(f)); at != relocations_.end() && is_inside(f, at->first); ++at) {
      const bool is_relative =
          at->second.type == R_AARCH64_PREL64 || at->second.type == R_AARCH64_PREL32 || at->second.type == R_AARCH64_PREL16;
      if (is_data(at->first) && is_relative && !is_inside(f, at->second.target)) why = Immovable::kUnresolvedField;
      // A table of distances from itself, which no compiler writes: its labels are the original's, and may lie in its entry.
      const Arm64Relocation* const entry = relocation_at(at->second.target);
      if (!is_data(at->first) && entry != nullptr && entry->type == R_AARCH64_PREL32) why = Immovable::kUnresolvedField;
    }
    return why;
  }

  // Nothing may arrive in the middle of a canonical entry.
  void settle_entries() {
    std::vector<bool> is_entered(out_.functions.size());
    const auto note = [&](uint64_t target) {
      const abi::CodeFunction* const hit = function_over(target);
      if (hit == nullptr || target == address_of(*hit)) return;
      const size_t index = static_cast<size_t>(hit - out_.functions.data());
      is_entered[index] = true;
      if (hit->immovable == Immovable::kNo && is_in_entry(*hit, target))
        out_.functions[index].immovable = Immovable::kEntryIsTarget;
    };
    for (const abi::CodeFunction& f : out_.functions)
      each_branch(f, [&](uint64_t target) {
        if (!is_inside(f, target)) note(target);
      });
    for (const auto& [place, relocation] : relocations_)
      if (relocation.type == R_AARCH64_ABS64 || relocation.type == R_AARCH64_ADD_ABS_LO12_NC) note(relocation.target);
    // A moved function's own branches go with it, unless the original may run from its middle on.
    for (size_t i = 0; i < out_.functions.size(); ++i) {
      abi::CodeFunction& f = out_.functions[i];
      if (f.immovable != Immovable::kNo || !(is_entered[i] || jumps_indirectly(f))) continue;
      bool hits = false;
      each_branch(f, [&](uint64_t target) { hits |= target != address_of(f) && is_inside(f, target) && is_in_entry(f, target); });
      if (hits) f.immovable = Immovable::kEntryIsTarget;
    }
  }

  // An island's branch reaches 128 MiB: from a far image only what is in it, too.
  void settle_islands() {
    for (bool changed = is_far_; changed;) {
      changed = false;
      for (abi::CodeFunction& f : out_.functions) {
        if (f.immovable != Immovable::kNo) continue;
        each_instruction(f, [&](uint64_t address, uint32_t word) {
          if (!arm::is_conditional(arm::relative_of(word))) return;
          const uint64_t target = arm::target_of(word, address);
          const abi::CodeFunction* const other = function_over(target);
          const bool moves = other != nullptr && other->immovable == Immovable::kNo && target == address_of(*other);
          if (!is_inside(f, target) && !moves) f.immovable = Immovable::kCrossShortJump;
        });
        changed |= f.immovable != Immovable::kNo;
      }
    }
  }

  bool is_in_entry(const abi::CodeFunction& f, uint64_t address) const {
    return address - address_of(f) < arm::entry_bytes(file_.at(out_.text_offset), f, is_far_);
  }

  bool jumps_indirectly(const abi::CodeFunction& f) const {
    bool jumps = false;
    each_instruction(f, [&](uint64_t, uint32_t word) { jumps |= arm::is_indirect_jump(word); });
    return jumps;
  }

  // Where what is relative, but for pages, leads.
  template <typename Visit>
  void each_branch(const abi::CodeFunction& f, const Visit& visit) const {
    each_instruction(f, [&](uint64_t address, uint32_t word) {
      const arm::Relative relative = arm::relative_of(word);
      if (relative == arm::Relative::kNone || relative == arm::Relative::kUnknown || relative == arm::Relative::kPage) return;
      visit(arm::target_of(word, address));
    });
  }

  void list_fields() {
    for (abi::CodeFunction& f : out_.functions) {
      f.first_directed = static_cast<uint32_t>(out_.fields.size());
      if (f.immovable != Immovable::kNo) continue;
      each_instruction(f, [&](uint64_t address, uint32_t word) { list_field(f, address, word); });
      f.directed_count = static_cast<uint32_t>(out_.fields.size()) - f.first_directed;
    }
  }

  void list_field(const abi::CodeFunction& f, uint64_t address, uint32_t word) {
    const auto at = static_cast<uint32_t>(address - address_of(f));
    const arm::Relative relative = arm::relative_of(word);
    if (relative == arm::Relative::kNone) return;
    const uint64_t target = arm::target_of(word, address);
    if (relative == arm::Relative::kPage) {
      out_.fields.push_back({target, at, arm::FieldKind::kFixed});
      return;
    }
    // The own start is an entry as any other's: a call of itself goes to the copy all the same.
    if (is_inside(f, target)) return;
    const abi::CodeFunction* const other = function_over(target);
    if (other != nullptr && target == address_of(*other))
      out_.fields.push_back({static_cast<uint64_t>(other - out_.functions.data()), at, arm::FieldKind::kFunction});
    else
      out_.fields.push_back({target, at, arm::FieldKind::kFixed});
  }

  void finish() {
    out_.header.text_start = out_.text_start;
    out_.header.text_bytes = out_.text_bytes;
    out_.header.function_count = static_cast<uint32_t>(out_.functions.size());
    out_.header.directed_count = static_cast<uint32_t>(out_.fields.size());
  }

  const FileBytes file_;
  const bool is_far_;
  Elf64_Ehdr header_{};
  bool has_relocations_ = false;
  std::vector<Arm64Section> sections_;
  std::vector<Arm64Symbol> symbols_;
  std::vector<std::pair<uint64_t, uint64_t>> data_;
  std::map<uint64_t, Arm64Relocation> relocations_;
  Arm64Program out_;
};

}  // namespace

arch::aarch64::Program Arm64Program::view() const {
  arch::aarch64::Program program;
  program.code.header = &header;
  program.code.functions = functions.data();
  program.fields = fields.data();
  return program;
}

Result<Arm64Program> read_arm64_program(std::string_view file, bool is_far) {
  return Arm64Reader(file, is_far).read();
}

}  // namespace stab::postlink
