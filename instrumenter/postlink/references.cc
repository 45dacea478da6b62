// Collecting all references of an image. Decoded code tells its own; of everything else (data, and code that
// doesn't decode or has no symbol) the kept relocations tell. Unwind tables refer to code without ever
// entering it, and the lists our own pass emits are no use of what they list: both are left out.
#include "instrumenter/postlink/references.h"

#include <algorithm>

#include "runtime/sections_abi.h"

namespace stab::postlink {

bool is_bookkeeping(std::string_view section) {
  return section.starts_with(".eh_frame") || section == abi::kFunctionsSection ||
         section == abi::kGotosSection;
}

bool is_decoded(const FunctionTable& functions, const Disassembly& disassembly, uint64_t address) {
  const auto function = functions.holding(address);
  return function && disassembly.codes[*function].decoded;
}

References References::collect(const ElfImage& image, const FunctionTable& functions,
                               const Disassembly& disassembly) {
  References references;
  auto& all = references.all_;
  for (uint32_t function = 0; function < functions.size(); ++function)
    for (const Field& field : disassembly.fields_of(function))
      all.push_back({field.target, field.place, function,
                     field.kind == FieldKind::kCall || field.kind == FieldKind::kJump ||
                         field.kind == FieldKind::kShortJump});
  for (const Section& section : image.sections()) {
    if (!section.allocated() || is_bookkeeping(section.name)) continue;
    for (const Relocation& relocation : image.kept_relocations(section)) {
      if (section.executable() && is_decoded(functions, disassembly, relocation.place)) continue;
      // In code a PC-relative addend counts from the field, the target from the instruction's end.
      const bool pc_relative_code = section.executable() && (relocation.type == R_X86_64_PC32 ||
                                                             relocation.type == R_X86_64_PLT32);
      all.push_back({relocation.target + (pc_relative_code ? 4 : 0), relocation.place, kNoFunction, false});
    }
  }
  std::sort(all.begin(), all.end());
  return references;
}

std::span<const Reference> References::into(uint64_t begin, uint64_t end) const {
  const auto first = std::lower_bound(
      all_.begin(), all_.end(), begin,
      [](const Reference& reference, uint64_t value) { return reference.target < value; });
  const auto last = std::lower_bound(
      first, all_.end(), end,
      [](const Reference& reference, uint64_t value) { return reference.target < value; });
  return std::span(all_).subspan(static_cast<size_t>(first - all_.begin()),
                                 static_cast<size_t>(last - first));
}

}  // namespace stab::postlink
