// Marking pads. The pass sees one module at a time, so only here the whole call graph is known. A slot belongs
// to the function whose code refers to it; a recursive function with a pad would eat the stack by the pad at
// every level, so its slot is marked and the runtime leaves it at 0.
#include "instrumenter/postlink/pads.h"

#include <algorithm>

#include "runtime/sections_abi.h"

namespace stab::postlink {

std::vector<uint64_t> recursive_pads(const ElfImage& image, const FunctionTable& functions,
                                     const Disassembly& disassembly, const std::vector<bool>& recursive) {
  std::vector<uint64_t> offsets;
  const Section* pads = image.find_section(abi::kPadsSection);
  if (pads == nullptr || pads->bytes.empty()) return offsets;
  for (uint32_t function = 0; function < functions.size(); ++function) {
    if (!recursive[function]) continue;
    for (const Field& field : disassembly.fields_of(function)) {
      const uint64_t at = field.target - pads->header.sh_addr;
      if (pads->contains(field.target) && at % sizeof(uint32_t) == 0 &&
          at + sizeof(uint32_t) <= pads->bytes.size())
        offsets.push_back(pads->header.sh_offset + at);
    }
  }
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  return offsets;
}

std::vector<uint64_t> all_pads(const ElfImage& image) {
  std::vector<uint64_t> offsets;
  const Section* pads = image.find_section(abi::kPadsSection);
  if (pads == nullptr) return offsets;
  for (size_t at = 0; at + sizeof(uint32_t) <= pads->bytes.size(); at += sizeof(uint32_t))
    offsets.push_back(pads->header.sh_offset + at);
  return offsets;
}

std::string why_pads_are_held(const ElfImage& image) {
  const std::vector<uint64_t> pads = all_pads(image);
  const bool is_held = std::any_of(pads.begin(), pads.end(), [&image](uint64_t offset) {
    return (read_as<uint32_t>(image.bytes().data() + offset) & abi::kPadHeld) != 0;
  });
  if (!is_held) return {};
  if (image.find_section(abi::kJumpSwitchesSection) != nullptr)
    return "its calls of setjmp may switch between coroutines that lie on one stack";
  return "its assembly may switch to a stack in an array of a function's";
}

}  // namespace stab::postlink
