// Foreign: what a function that our pass has not seen must show, beyond what any function must, before it may move.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "instrumenter/postlink/callees.h"
#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/frames.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/references.h"
#include "runtime/code_abi.h"

namespace stab::postlink {

class ForeignRules {
 public:
  ForeignRules(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly, const Callees& callees,
               const References& references);

  // Whether a runtime in the program walks code addresses: nothing that our pass hasn't compiled moves then.
  bool is_walked() const { return is_walked_; }
  // Why this function stays, kNo if it may move.
  // pre: it decodes, and no runtime walks
  abi::Immovable decide(uint32_t function) const;
  // kLandingPads or kNo.
  abi::Immovable decide_exceptions(const Function& function) const;

 private:
  bool is_system(const Function& function) const;
  bool names_known_personality(const Frame& frame) const;
  bool are_parts_of_one(const Function& a, const Function& b) const;
  bool jumps_as_assembly(uint32_t function) const;

  const ElfImage& image_;
  const FunctionTable& functions_;
  const Disassembly& disassembly_;
  const Callees& callees_;
  const References& references_;
  std::vector<Frame> frames_;
  std::vector<uint64_t> resolvers_;                    // of IFUNCs, ascending
  std::unordered_map<uint64_t, bool> personalities_;   // of all frames: whether it is a known one
  std::unordered_multimap<std::string_view, uint64_t> parents_;  // of cold parts: name to address
  bool is_walked_;
  bool holds_libc_;
};

}  // namespace stab::postlink
