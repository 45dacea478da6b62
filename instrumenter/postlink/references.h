// References: who refers to which address, over the whole image: fields of the code and relocations of data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

// A reference that does not come from a decoded function: from data, or from code we can't read.
inline constexpr uint32_t kNoFunction = UINT32_MAX;

struct Reference {
  uint64_t target;
  uint64_t place;
  uint32_t from;   // function index or kNoFunction
  bool branch;     // a direct call or jump; otherwise the address becomes or meets data
  bool operator<(const Reference& other) const { return target < other.target; }
};

// Whether a section names functions without any use of them: unwind tables, and the lists of our own pass.
bool is_bookkeeping(std::string_view section);
// Whether an address lies in a function that was decoded, so that its fields tell all that it refers to.
bool is_decoded(const FunctionTable& functions, const Disassembly& disassembly, uint64_t address);

class References {
 public:
  static References collect(const ElfImage& image, const FunctionTable& functions,
                            const Disassembly& disassembly);

  // References with begin <= target < end, ascending by target.
  std::span<const Reference> into(uint64_t begin, uint64_t end) const;

 private:
  std::vector<Reference> all_;  // ascending by target
};

}  // namespace stab::postlink
