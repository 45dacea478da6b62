#include "instrumenter/postlink/executable_stack.h"

#include <cstddef>

#include "runtime/sections_abi.h"

namespace stab::postlink {

void allow_code_on_stack(ElfImage& image) {
  if (image.find_section(abi::kStackCodeSection) == nullptr) return;
  for (size_t i = 0; i < image.segments().size(); ++i) {
    const Elf64_Phdr segment = image.segments()[i];
    if (segment.p_type != PT_GNU_STACK) continue;
    image.set_word(image.header().e_phoff + i * sizeof segment + offsetof(Elf64_Phdr, p_flags), segment.p_flags | PF_X);
  }
}

}  // namespace stab::postlink
