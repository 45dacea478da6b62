#include "runtime/helper/library_name.h"

#include <elf.h>
#include <string.h>

#include "runtime/helper/file_part.h"
#include "runtime/helper/text.h"

namespace stab::helper {
namespace {

constexpr char kDeleted[] = " (deleted)";
constexpr uint64_t kMostDynamicBytes = uint64_t{1} << 20;

}  // namespace

void name_by_path(const char* path, char* name, size_t room) {
  const char* const slash = strrchr(path, '/');
  Text(name, room) << (slash != nullptr ? slash + 1 : path);
  const size_t length = strlen(name), behind = sizeof kDeleted - 1;
  if (length > behind && strcmp(name + length - behind, kDeleted) == 0) name[length - behind] = 0;
}

void read_soname(int file, char* name, size_t room) {
  Elf64_Ehdr header;
  if (sys::pread_full(file, &header, sizeof header, 0) != sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  const FilePart section_part(file, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  const auto* const sections = section_part.as<Elf64_Shdr>();
  const Elf64_Shdr* dynamic = nullptr;
  for (uint32_t i = 0; sections != nullptr && i < header.e_shnum && dynamic == nullptr; ++i)
    if (sections[i].sh_type == SHT_DYNAMIC && sections[i].sh_link < header.e_shnum && sections[i].sh_size <= kMostDynamicBytes)
      dynamic = &sections[i];
  if (dynamic == nullptr) return;
  const FilePart entry_part(file, dynamic->sh_offset, dynamic->sh_size);
  const auto* const entries = entry_part.as<Elf64_Dyn>();
  const uint64_t most = entries == nullptr ? 0 : dynamic->sh_size / sizeof(Elf64_Dyn);
  uint64_t k = 0;
  while (k < most && entries[k].d_tag != DT_NULL && entries[k].d_tag != DT_SONAME) ++k;
  if (k == most || entries[k].d_tag == DT_NULL) return;
  const Elf64_Shdr& text = sections[dynamic->sh_link];
  const uint64_t at = entries[k].d_un.d_val, behind = at < text.sh_size ? text.sh_size - at : 0;
  const FilePart text_part(file, text.sh_offset + at, behind < room ? behind : room);
  const char* const found = text_part.as<char>();
  if (found == nullptr) return;
  uint64_t length = 0;
  while (length < text_part.bytes() && found[length] != 0 && found[length] != '/') ++length;
  if (length == 0 || length == text_part.bytes() || found[length] != 0) return;
  memcpy(name, found, length + 1);
}

}  // namespace stab::helper
