// Looks through the section headers of an ELF file: for names that the pass and post-link give to their sections, and for code.
#include "stabd/engine/build/szc_program.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/read_at.h"
#include "base/unique_fd.h"
#include "runtime/code_abi.h"
#include "runtime/sections_abi.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

constexpr char kBoltSection[] = ".note.bolt_info";  // in all that it writes
constexpr size_t kMostSections = 1 << 16, kMostNames = 1 << 24, kMostCode = 1 << 30;

// None: it is no ELF program of 64 bits, or can't be read.
std::vector<Elf64_Shdr> sections_of(const UniqueFd& file, Elf64_Ehdr& header) {
  if (!file || !read_at(file.get(), &header, sizeof header, 0)) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > kMostSections) return {};
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(file.get(), sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff)) return {};
  return sections;
}

}  // namespace

SzcProgram szc_program(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr header{};
  const std::vector<Elf64_Shdr> sections = sections_of(file, header);
  if (header.e_shstrndx >= sections.size()) return {};
  const Elf64_Shdr& table = sections[header.e_shstrndx];
  if (table.sh_size > kMostNames) return {};
  std::string names(table.sh_size, '\0');
  if (!read_at(file.get(), names.data(), names.size(), table.sh_offset)) return {};
  SzcProgram out;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name >= names.size()) continue;
    const std::string_view name = names.c_str() + section.sh_name;
    out.code |= name == abi::kCodeSection;
    out.stack |= name == abi::kPadsSection && section.sh_size > 0;
    out.rewritten |= name == kBoltSection;
  }
  out.code &= !out.rewritten;  // what post-link has told is of the code that was there before
  return out;
}

std::string code_fingerprint(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr header{};
  std::string all;
  uint64_t left = kMostCode;
  for (const Elf64_Shdr& section : sections_of(file, header)) {
    if ((section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_type != SHT_PROGBITS) continue;
    if (section.sh_size > left) return {};
    left -= section.sh_size;
    const Result<std::string> code = worker::sha256_of_fd(file.get(), section.sh_size, section.sh_offset);
    if (!code) return {};
    all += std::to_string(section.sh_addr) + " " + *code + "\n";
  }
  return all.empty() ? all : worker::sha256(all);
}

}  // namespace stab::engine
