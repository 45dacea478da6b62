// Reading ar archives: a magic line, then members, each behind a header of text whose only interesting field is
// the size. Used to know our own runtime's functions in programs that carry no list of what our pass compiled, and what objects
// ask of a link.
#include "instrumenter/postlink/archive.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "instrumenter/postlink/elf_image.h"

namespace stab::postlink {
namespace {

constexpr std::string_view kMagic = "!<arch>\n";
constexpr size_t kHeaderBytes = 60, kSizeAt = 48, kSizeBytes = 10;

// The decimal number at the start of a field that is padded with blanks.
size_t number_in(std::span<const uint8_t> field) {
  size_t value = 0;
  for (const uint8_t c : field) {
    if (c < '0' || c > '9') break;
    value = value * 10 + (c - '0');
  }
  return value;
}

void append_functions(std::span<const uint8_t> object, std::vector<std::string>& names) {
  if (object.size() < sizeof(Elf64_Ehdr) || memcmp(object.data(), ELFMAG, SELFMAG) != 0) return;
  const auto header = read_as<Elf64_Ehdr>(object.data());
  const auto fits = [&object](uint64_t offset, uint64_t size) {
    return offset <= object.size() && size <= object.size() - offset;
  };
  if (!fits(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return;
  const auto section = [&](size_t i) {
    return read_as<Elf64_Shdr>(object.data() + header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr strings = section(table.sh_link);
    if (!fits(table.sh_offset, table.sh_size) || !fits(strings.sh_offset, strings.sh_size)) return;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_as<Elf64_Sym>(object.data() + table.sh_offset + at);
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      if (symbol.st_name >= strings.sh_size) continue;
      const auto* name = reinterpret_cast<const char*>(object.data() + strings.sh_offset + symbol.st_name);
      names.emplace_back(name, strnlen(name, strings.sh_size - symbol.st_name));
    }
  }
}

}  // namespace

Result<std::vector<std::span<const uint8_t>>> members_of_archive(std::span<const uint8_t> bytes, const std::string& path) {
  if (bytes.size() < kMagic.size() || memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return bad_input("'" + path + "' is not an archive");
  std::vector<std::span<const uint8_t>> members;
  for (size_t at = kMagic.size(); at + kHeaderBytes <= bytes.size();) {
    const size_t size = number_in(bytes.subspan(at + kSizeAt, kSizeBytes));
    at += kHeaderBytes;
    if (size > bytes.size() - at) return bad_input("'" + path + "' is cut off");
    members.push_back(bytes.subspan(at, size));
    at += size + size % 2;
  }
  return members;
}

Result<std::vector<std::string>> functions_of_archive(std::span<const uint8_t> bytes, const std::string& path) {
  STAB_TRY(const auto members, members_of_archive(bytes, path));
  std::vector<std::string> names;
  for (const auto member : members) append_functions(member, names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace stab::postlink
