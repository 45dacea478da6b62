// ElfImage: a linked x86-64 ELF file as the post-link step sees it: sections, symbols, relocations, and the
// executable segment, all bounds-checked once so that later steps index freely.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::postlink {

struct Section {
  std::string_view name;
  Elf64_Shdr header;
  std::span<const uint8_t> bytes;  // empty for SHT_NOBITS

  bool allocated() const { return header.sh_flags & SHF_ALLOC; }
  bool executable() const { return header.sh_flags & SHF_EXECINSTR; }
  bool writable() const { return header.sh_flags & SHF_WRITE; }
  bool contains(uint64_t address) const {
    return address >= header.sh_addr && address - header.sh_addr < header.sh_size;
  }
};

struct Symbol {
  std::string_view name;
  uint64_t value;
  uint64_t bytes;
  uint16_t section;  // index, or SHN_UNDEF, SHN_ABS
  uint8_t type;      // STT_*
  uint8_t binding;   // STB_*
};

struct Relocation {
  uint64_t place;    // address of the field
  uint64_t target;   // symbol's value + addend, as linked
  uint32_t type;     // R_X86_64_*
  uint32_t symbol;   // index into symbols() (dynamic_symbols() for dynamic relocations)
};

class ElfImage {
 public:
  // Takes the file's bytes. Fails unless they are a linked little-endian x86-64 ELF whose tables lie inside it.
  static Result<ElfImage> parse(std::vector<uint8_t> bytes, std::string path);

  const std::string& path() const { return path_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  // Overwrites a 4-byte word of the file. pre: offset + 4 <= bytes().size()
  void set_word(uint64_t offset, uint32_t value);
  // A library that others load: neither an executable nor a static position-independent one.
  bool is_shared_library() const;
  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const std::vector<Symbol>& dynamic_symbols() const { return dynamic_symbols_; }

  const Section* find_section(std::string_view name) const;
  // The allocated section that holds address, nullptr if none.
  const Section* section_at(uint64_t address) const;

  bool position_independent() const { return header_.e_type == ET_DYN; }
  bool has_program_interpreter() const;
  // True when the linker kept relocations (--emit-relocs) for at least one allocated section.
  bool has_kept_relocations() const;
  // The kept relocations of one section, ascending by place.
  std::vector<Relocation> kept_relocations(const Section& section) const;
  // What the dynamic linker applies: every allocated SHT_RELA.
  std::vector<Relocation> dynamic_relocations() const;

  // The executable segment with the program's text: from its page-aligned start to the end of its file
  // content. text() views exactly [text_start, text_start + text_bytes). Empty in a library of data.
  uint64_t text_start() const { return text_start_; }
  uint64_t text_end() const { return text_start_ + text_.size(); }
  std::span<const uint8_t> text() const { return text_; }
  bool in_text(uint64_t address) const { return address >= text_start_ && address < text_end(); }
  // pre: [address, address + size) inside the text
  std::span<const uint8_t> text_at(uint64_t address, uint64_t size) const {
    return text_.subspan(address - text_start_, size);
  }

 private:
  ElfImage() = default;
  Status read_sections();
  Status read_symbols();
  Status find_text();
  void append_relocations(const Section& table, const std::vector<Symbol>& symbols,
                          std::vector<Relocation>& out) const;

  std::string path_;
  std::vector<uint8_t> bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<Symbol> dynamic_symbols_;
  std::span<const uint8_t> text_;
  uint64_t text_start_ = 0;
};

// Reads a little-endian value at a possibly unaligned place. pre: enough bytes.
template <typename T>
T read_as(const uint8_t* at) {
  T value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace stab::postlink
