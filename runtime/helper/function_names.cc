#include "runtime/helper/function_names.h"

#include <elf.h>

#include "runtime/sys.h"

namespace stab::helper {
namespace {

// A table of this size in a file names a hundred million functions.
constexpr uint64_t kMostBytes = uint64_t{1} << 31;

template <typename T>
T* read_part(int file, uint64_t offset, uint64_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  void* memory = sys::map(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(memory)) return nullptr;
  return sys::pread_full(file, memory, bytes, offset) == static_cast<long>(bytes) ? static_cast<T*>(memory) : nullptr;
}

}  // namespace

bool FunctionNames::read(int file, const code::Metadata& code) {
  const uint32_t all = code.header->function_count;
  const uint64_t bytes = uint64_t{all} * sizeof(uint32_t) + 1;
  void* names = sys::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(names)) return false;
  name_ = static_cast<uint32_t*>(names);
  Elf64_Ehdr header;
  if (sys::pread_full(file, &header, sizeof header, 0) != sizeof header) return false;
  const auto* sections = read_part<Elf64_Shdr>(file, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (sections == nullptr) return false;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header.e_shnum) continue;
    const Elf64_Shdr& text = sections[sections[i].sh_link];
    const auto* symbols = read_part<Elf64_Sym>(file, sections[i].sh_offset, sections[i].sh_size);
    strings_ = read_part<char>(file, text.sh_offset, text.sh_size);
    if (symbols == nullptr || strings_ == nullptr) return false;
    for (uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k) {
      const uint32_t function = code::function_at(code, symbols[k].st_value - code.header->text_start);
      if (function < all && ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_name < text.sh_size)
        name_[function] = symbols[k].st_name;
    }
    return true;  // there is one
  }
  return true;
}

const char* name_in(const void* names, uint32_t function) {
  return static_cast<const FunctionNames*>(names)->name_of(function);
}

}  // namespace stab::helper
