// Rewriting an ELF file behind its last loaded byte. Everything a loader maps keeps its place, so nothing in
// memory changes but the section index that dynamic symbols mention. What comes behind (debug information,
// comments, symbol table, names) is laid out afresh, without the relocations --emit-relocs kept unless the user wants them: they
// have served, and are as large as the code.
#include "instrumenter/postlink/elf_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

constexpr uint32_t kGone = UINT32_MAX;
constexpr uint64_t kMetadataAlignment = 8;

bool is_kept_relocation(const Section& section) {
  return section.header.sh_type == SHT_RELA && !section.allocated();
}

class Rewriter {
 public:
  Rewriter(const ElfImage& image, Leaving leaving) : image_(image), leaving_(leaving) {}

  Result<std::vector<uint8_t>> rewrite(std::span<const AddedSection> added) {
    number_sections();
    STAB_CHECK_OK(copy_loaded_part());
    place_unloaded_sections();
    for (const AddedSection& one : added) add_section(one.content);
    write_section_names(added);
    renumber_symbols();
    write_headers();
    return std::move(out_);
  }

 private:
  void number_sections() {
    const auto& sections = image_.sections();
    new_index_.assign(sections.size(), kGone);
    for (size_t i = 0; i < sections.size(); ++i) {
      if ((!leaving_.keep_relocations && is_kept_relocation(sections[i])) || (leaving_.strip && is_stripped(i))) continue;
      if (!sections[i].allocated() && sections[i].name == abi::kConstantsSection) continue;
      new_index_[i] = static_cast<uint32_t>(headers_.size());
      headers_.push_back(sections[i].header);
    }
    for (Elf64_Shdr& header : headers_) {
      header.sh_link = renumbered(header.sh_link);
      const bool info_is_section = header.sh_flags & SHF_INFO_LINK || header.sh_type == SHT_RELA;
      if (info_is_section) header.sh_info = renumbered(header.sh_info);
    }
  }

  bool is_stripped(size_t index) const {
    const Section& section = image_.sections()[index];
    if (section.allocated() || index == image_.header().e_shstrndx) return false;
    return section.header.sh_type == SHT_SYMTAB || section.header.sh_type == SHT_STRTAB ||
           section.name.starts_with(".debug") || section.name.starts_with(".zdebug") ||
           section.name.starts_with(".gdb_index");
  }

  uint32_t renumbered(uint32_t index) const {
    return index < new_index_.size() && new_index_[index] != kGone ? new_index_[index] : SHN_UNDEF;
  }

  // The ELF header, program headers, segments and allocated sections: up to the last byte any of them has.
  Status copy_loaded_part() {
    uint64_t end = std::max<uint64_t>(
        sizeof(Elf64_Ehdr), image_.header().e_phoff + image_.segments().size() * sizeof(Elf64_Phdr));
    for (const Elf64_Phdr& segment : image_.segments())
      if (segment.p_type != PT_GNU_STACK) end = std::max(end, segment.p_offset + segment.p_filesz);
    for (const Section& section : image_.sections())
      if (section.allocated() && section.header.sh_type != SHT_NOBITS)
        end = std::max(end, section.header.sh_offset + section.header.sh_size);
    if (end > image_.bytes().size())
      return bad_input("'" + image_.path() + "': a segment lies outside the file");
    out_.assign(image_.bytes().begin(), image_.bytes().begin() + static_cast<ptrdiff_t>(end));
    return {};
  }

  void place_unloaded_sections() {
    const auto& sections = image_.sections();
    for (size_t i = 1; i < sections.size(); ++i) {
      if (new_index_[i] == kGone || sections[i].allocated()) continue;
      if (i == image_.header().e_shstrndx) continue;  // rewritten at the end
      append(headers_[new_index_[i]], sections[i].bytes);
    }
  }

  void append(Elf64_Shdr& header, std::span<const uint8_t> bytes) {
    if (header.sh_type != SHT_NOBITS) align(header.sh_addralign);
    header.sh_offset = out_.size();
    header.sh_size = header.sh_type == SHT_NOBITS ? header.sh_size : bytes.size();
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  void align(uint64_t alignment) {
    // A file we didn't make may ask for anything; beyond a page alignment means nothing in an unloaded part.
    alignment = std::clamp<uint64_t>(alignment, 1, 4096);
    out_.resize((out_.size() + alignment - 1) / alignment * alignment);
  }

  void add_section(std::span<const uint8_t> content) {
    Elf64_Shdr header{};
    header.sh_type = SHT_PROGBITS;
    header.sh_addralign = kMetadataAlignment;
    append(header, content);
    headers_.push_back(header);
  }

  void write_section_names(std::span<const AddedSection> added) {
    std::vector<uint8_t> names{0};
    const auto add = [&names](std::string_view name) {
      const auto at = static_cast<uint32_t>(names.size());
      names.insert(names.end(), name.begin(), name.end());
      names.push_back(0);
      return at;
    };
    for (size_t i = 0; i < new_index_.size(); ++i)
      if (new_index_[i] != kGone)
        headers_[new_index_[i]].sh_name = image_.sections()[i].name.empty() ? 0 : add(image_.sections()[i].name);
    const size_t first = headers_.size() - added.size();
    for (size_t i = 0; i < added.size(); ++i) headers_[first + i].sh_name = add(added[i].name);
    append(headers_[renumbered(image_.header().e_shstrndx)], names);
  }

  void renumber_symbols() {
    for (const Elf64_Shdr& table : headers_) {
      if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
      for (uint64_t at = table.sh_offset; at + sizeof(Elf64_Sym) <= table.sh_offset + table.sh_size;
           at += sizeof(Elf64_Sym)) {
        auto symbol = read_as<Elf64_Sym>(out_.data() + at);
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) continue;
        const uint32_t index = renumbered(symbol.st_shndx);
        // The section symbol of a relocation section that went.
        symbol.st_shndx = index == SHN_UNDEF ? uint16_t{SHN_ABS} : static_cast<uint16_t>(index);
        memcpy(out_.data() + at, &symbol, sizeof symbol);
      }
    }
  }

  void write_headers() {
    align(alignof(Elf64_Shdr));
    Elf64_Ehdr header = image_.header();
    header.e_shoff = out_.size();
    header.e_shnum = static_cast<uint16_t>(headers_.size());
    header.e_shstrndx = static_cast<uint16_t>(renumbered(header.e_shstrndx));
    memcpy(out_.data(), &header, sizeof header);
    const auto* begin = reinterpret_cast<const uint8_t*>(headers_.data());
    out_.insert(out_.end(), begin, begin + headers_.size() * sizeof(Elf64_Shdr));
  }

  const ElfImage& image_;
  const Leaving leaving_;
  std::vector<uint32_t> new_index_;  // old section index -> new, kGone for removed ones
  std::vector<Elf64_Shdr> headers_;
  std::vector<uint8_t> out_;
};

}  // namespace

Result<std::vector<uint8_t>> with_metadata(const ElfImage& image, std::span<const AddedSection> added, Leaving leaving) {
  return Rewriter(image, leaving).rewrite(added);
}

Result<std::vector<uint8_t>> without_metadata(const ElfImage& image, Leaving leaving) {
  return Rewriter(image, leaving).rewrite({});
}

Status write_atomically(const std::string& path, std::span<const uint8_t> bytes, uint32_t mode) {
  std::string temporary = path + ".stab-XXXXXX";
  UniqueFd file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return system_error("create '" + temporary + "'", errno);
  const auto fail = [&temporary](std::string_view what) {
    const int error = errno;
    unlink(temporary.c_str());
    return system_error(std::string(what) + " '" + temporary + "'", error);
  };
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t count = write(file.get(), bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("write");
    written += static_cast<size_t>(count);
  }
  if (fchmod(file.get(), mode & 07777) != 0) return fail("set the mode of");
  if (rename(temporary.c_str(), path.c_str()) != 0) return fail("rename");
  return {};
}

}  // namespace stab::postlink
