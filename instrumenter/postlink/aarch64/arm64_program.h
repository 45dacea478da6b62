// What post-link finds out about a linked arm64 executable: its functions, which of them can move, and each field of those that
// do. The first step towards stab_code for that processor: what is known is handed on in memory, and no section is written yet.
//
// The final instructions count, as for x86-64. Each is one word whose bits say whether it is relative, so what a relaxation of
// the linker's has made of a relocation does no harm. Relocations, which --emit-relocs keeps, say what words in data refer to:
// labels whose address is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/arch/aarch64/image.h"

namespace stab::postlink {

// Elf64_Shdr and Elf64_Phdr as far as they are asked for.
struct Arm64Section {
  std::string name;
  uint32_t type = 0, link = 0, info = 0;
  uint64_t flags = 0, address = 0, offset = 0, size = 0;
};

struct Arm64Program {
  // Of the segment that is executed.
  uint64_t text_start = 0, text_bytes = 0, text_offset = 0;
  std::vector<std::string> names;  // by function
  std::vector<abi::CodeFunction> functions;
  std::vector<arch::aarch64::Field> fields;
  abi::CodeHeader header{};

  // As the image builder wants it; lives as long as this does.
  arch::aarch64::Program view() const;
};

// `is_far`: images will lie more than 128 MiB away. The file's bytes as they were linked: an executable at a fixed address,
// linked with --emit-relocs.
Result<Arm64Program> read_arm64_program(std::string_view file, bool is_far);

}  // namespace stab::postlink
