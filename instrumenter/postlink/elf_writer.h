// Writing the processed file: the loaded part as it was, with stab_code and what else is added.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "instrumenter/postlink/elf_image.h"

namespace stab::postlink {

struct Leaving {
  // Leave out the symbol table and debug information, as ld -s does. The linker itself can't: it refuses -s together with
  // --emit-relocs.
  bool strip = false;
  bool keep_relocations = false;  // keep the relocations of --emit-relocs, which are left out otherwise
};

struct AddedSection {
  std::string_view name;
  std::span<const uint8_t> content;
};

// The bytes of the new file: `image` minus what is left out and what objects said to post-link alone (stab_constants), plus
// non-allocated sections. Loaded bytes keep their file offsets. Entries of section headers, symbol tables and links are
// renumbered.
Result<std::vector<uint8_t>> with_metadata(const ElfImage& image, std::span<const AddedSection> added, Leaving leaving);

// The same without new sections.
Result<std::vector<uint8_t>> without_metadata(const ElfImage& image, Leaving leaving);

// Replaces or creates `path` in one step, with the given permission bits.
Status write_atomically(const std::string& path, std::span<const uint8_t> bytes, uint32_t mode);

}  // namespace stab::postlink
