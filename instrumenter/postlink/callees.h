// Callees: what a call or jump target really is: a function of the image, or an imported one by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

class Callees {
 public:
  explicit Callees(const ElfImage& image);

  // The name of the imported function behind a PLT entry, empty if address is none.
  std::string_view imported_through_plt(uint64_t address) const;
  // The name of the symbol whose address the dynamic linker puts into this GOT slot, empty if none.
  std::string_view imported_in_slot(uint64_t slot) const;
  // The function of this image that a direct call or jump to address enters, also through its own PLT.
  std::optional<uint32_t> function_entered(const FunctionTable& functions, uint64_t address) const;
  // The same of one through a GOT slot.
  std::optional<uint32_t> function_in_slot(const FunctionTable& functions, uint64_t slot) const;

 private:
  std::optional<uint32_t> defined(const FunctionTable& functions, std::string_view name) const;

  const ElfImage& image_;
  std::unordered_map<uint64_t, std::string_view> slots_;        // GOT slot -> symbol
  std::unordered_map<std::string_view, uint64_t> definitions_;  // exported name -> address
};

}  // namespace stab::postlink
