// Reading a linked ELF file. The file comes from a linker, but also from users who edited it and from a
// fuzzer, so every offset and size is checked here, once, against the file; the rest of post-link trusts what
// this file hands out. Writing is in elf_writer.cc.
#include "instrumenter/postlink/elf_image.h"

#include <algorithm>
#include <cstring>

namespace stab::postlink {
namespace {

constexpr uint64_t kPageBytes = 4096;

Error not_usable(const std::string& path, std::string_view why) {
  return bad_input("'" + path + "': " + std::string(why));
}

// [offset, offset + size) inside a file of `file_bytes`, without overflow.
bool inside(uint64_t offset, uint64_t size, uint64_t file_bytes) {
  return offset <= file_bytes && size <= file_bytes - offset;
}

std::string_view string_at(std::span<const uint8_t> table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
  return {begin, strnlen(begin, table.size() - offset)};
}

}  // namespace

Result<ElfImage> ElfImage::parse(std::vector<uint8_t> bytes, std::string path) {
  ElfImage image;
  image.path_ = std::move(path);
  image.bytes_ = std::move(bytes);
  const auto& file = image.bytes_;
  if (file.size() < sizeof(Elf64_Ehdr) || memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return not_usable(image.path_, "not an ELF file");
  image.header_ = read_as<Elf64_Ehdr>(file.data());
  const Elf64_Ehdr& header = image.header_;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    return not_usable(image.path_, "not an x86-64 ELF file");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return not_usable(image.path_, "not linked; expected an executable or a shared library");
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), file.size()))
    return not_usable(image.path_, "program headers lie outside the file");
  image.segments_.resize(header.e_phnum);
  for (size_t i = 0; i < image.segments_.size(); ++i)
    image.segments_[i] =
        read_as<Elf64_Phdr>(file.data() + header.e_phoff + i * sizeof(Elf64_Phdr));
  STAB_CHECK_OK(image.read_sections());
  STAB_CHECK_OK(image.read_symbols());
  STAB_CHECK_OK(image.find_text());
  return image;
}

Status ElfImage::read_sections() {
  if (header_.e_shnum == 0) return not_usable(path_, "no section headers; was it stripped of them?");
  if (header_.e_shentsize != sizeof(Elf64_Shdr) ||
      !inside(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr), bytes_.size()))
    return not_usable(path_, "section headers lie outside the file");
  sections_.resize(header_.e_shnum);
  for (size_t i = 0; i < sections_.size(); ++i) {
    Elf64_Shdr& section = sections_[i].header;
    section = read_as<Elf64_Shdr>(bytes_.data() + header_.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!inside(section.sh_offset, section.sh_size, bytes_.size()))
      return not_usable(path_, "section " + std::to_string(i) + " lies outside the file");
    sections_[i].bytes = std::span(bytes_).subspan(section.sh_offset, section.sh_size);
  }
  if (header_.e_shstrndx >= sections_.size())
    return not_usable(path_, "the section name table is missing");
  for (Section& section : sections_) {
    section.name = string_at(sections_[header_.e_shstrndx].bytes, section.header.sh_name);
    if (section.header.sh_addr + section.header.sh_size < section.header.sh_addr)
      return not_usable(path_, "section '" + std::string(section.name) + "' wraps around");
  }
  return {};
}

Status ElfImage::read_symbols() {
  for (const Section& section : sections_) {
    const bool is_static = section.header.sh_type == SHT_SYMTAB;
    if (!is_static && section.header.sh_type != SHT_DYNSYM) continue;
    if (section.header.sh_link >= sections_.size())
      return not_usable(path_, "a symbol table has no string table");
    const auto names = sections_[section.header.sh_link].bytes;
    auto& out = is_static ? symbols_ : dynamic_symbols_;
    const size_t count = section.bytes.size() / sizeof(Elf64_Sym);
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const auto raw = read_as<Elf64_Sym>(section.bytes.data() + i * sizeof(Elf64_Sym));
      out.push_back({string_at(names, raw.st_name), raw.st_value, raw.st_size, raw.st_shndx,
                     static_cast<uint8_t>(ELF64_ST_TYPE(raw.st_info)),
                     static_cast<uint8_t>(ELF64_ST_BIND(raw.st_info))});
    }
  }
  return {};
}

Status ElfImage::find_text() {
  const Section* text = find_section(".text");
  if (text == nullptr) return {};
  if (!text->executable()) return not_usable(path_, "its .text section is not executable");
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
    if (text->header.sh_addr < segment.p_vaddr ||
        text->header.sh_addr - segment.p_vaddr >= segment.p_filesz)
      continue;
    if (segment.p_flags & PF_W) return not_usable(path_, "its text segment is writable");
    const uint64_t lead = segment.p_vaddr % kPageBytes;
    if (segment.p_offset % kPageBytes != lead ||
        !inside(segment.p_offset, segment.p_filesz, bytes_.size()))
      return not_usable(path_, "its text segment is misaligned or outside the file");
    if (segment.p_filesz + lead > UINT32_MAX) return not_usable(path_, "its text exceeds 4 GiB");
    text_start_ = segment.p_vaddr - lead;
    text_ = std::span(bytes_).subspan(segment.p_offset - lead, segment.p_filesz + lead);
    return {};
  }
  if (text->header.sh_size == 0) return {};  // lld keeps an empty one in a library of data
  return not_usable(path_, "no executable segment holds .text");
}

const Section* ElfImage::find_section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [name](const Section& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const Section* ElfImage::section_at(uint64_t address) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [address](const Section& section) {
        return section.allocated() && !(section.header.sh_flags & SHF_TLS) &&
               section.contains(address);
      });
  return found == sections_.end() ? nullptr : &*found;
}

void ElfImage::set_word(uint64_t offset, uint32_t value) {
  memcpy(bytes_.data() + offset, &value, sizeof value);
}

bool ElfImage::is_shared_library() const {
  if (!position_independent() || has_program_interpreter()) return false;
  for (const Section& section : sections_) {
    if (section.header.sh_type != SHT_DYNAMIC) continue;
    for (size_t at = 0; at + sizeof(Elf64_Dyn) <= section.bytes.size(); at += sizeof(Elf64_Dyn)) {
      const auto entry = read_as<Elf64_Dyn>(section.bytes.data() + at);
      if (entry.d_tag == DT_FLAGS_1) return !(entry.d_un.d_val & DF_1_PIE);
    }
  }
  return true;
}

bool ElfImage::has_program_interpreter() const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [](const Elf64_Phdr& segment) { return segment.p_type == PT_INTERP; });
}

bool ElfImage::has_kept_relocations() const {
  return std::any_of(sections_.begin(), sections_.end(), [this](const Section& section) {
    return section.header.sh_type == SHT_RELA && !section.allocated() &&
           section.header.sh_info < sections_.size() &&
           sections_[section.header.sh_info].allocated();
  });
}

std::vector<Relocation> ElfImage::kept_relocations(const Section& section) const {
  const size_t index = static_cast<size_t>(&section - sections_.data());
  std::vector<Relocation> relocations;
  for (const Section& table : sections_)
    if (table.header.sh_type == SHT_RELA && !table.allocated() && table.header.sh_info == index)
      append_relocations(table, symbols_, relocations);
  const auto by_place = [](const Relocation& a, const Relocation& b) { return a.place < b.place; };
  if (!std::is_sorted(relocations.begin(), relocations.end(), by_place))
    std::stable_sort(relocations.begin(), relocations.end(), by_place);
  return relocations;
}

std::vector<Relocation> ElfImage::dynamic_relocations() const {
  std::vector<Relocation> relocations;
  for (const Section& table : sections_)
    if (table.header.sh_type == SHT_RELA && table.allocated())
      append_relocations(table, dynamic_symbols_, relocations);
  return relocations;
}

void ElfImage::append_relocations(const Section& table, const std::vector<Symbol>& symbols,
                                  std::vector<Relocation>& out) const {
  const size_t count = table.bytes.size() / sizeof(Elf64_Rela);
  out.reserve(out.size() + count);
  for (size_t i = 0; i < count; ++i) {
    const auto raw = read_as<Elf64_Rela>(table.bytes.data() + i * sizeof(Elf64_Rela));
    const uint32_t symbol = static_cast<uint32_t>(ELF64_R_SYM(raw.r_info));
    const uint64_t value = symbol < symbols.size() ? symbols[symbol].value : 0;
    out.push_back({raw.r_offset, value + static_cast<uint64_t>(raw.r_addend),
                   static_cast<uint32_t>(ELF64_R_TYPE(raw.r_info)), symbol});
  }
}

}  // namespace stab::postlink
