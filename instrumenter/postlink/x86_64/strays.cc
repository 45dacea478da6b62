// Most assembly that loads the stack pointer goes back to where it was: code for vectors aligns its frame so. That is followed
// from a name to the next one that is no label of it. nasm's symbol for a label of f's is "f.label", and one of a macro's begins
// with "..@"; no function's name begins with a dot. Other labels may be functions.
#include "instrumenter/postlink/x86_64/strays.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "instrumenter/postlink/x86_64/branch_target.h"
#include "instrumenter/postlink/x86_64/saved_stack.h"
#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

enum class Loads : uint8_t { kNothing, kWhatWasSaved, kAnything };  // of the stack pointer; saved: where that is followed

// `all`: only if every byte is an instruction.
Loads loads_stack(std::span<const uint8_t> code, bool all) {
  Loads found = Loads::kNothing;
  bool frame_from_elsewhere = false;
  Instruction instruction;
  for (size_t at = 0; at < code.size(); at += instruction.length) {
    if (!decode(code.subspan(at), instruction)) return all ? Loads::kNothing : found;
    frame_from_elsewhere |= instruction.loads_frame_pointer_from_elsewhere();
    const bool from_elsewhere = instruction.loads_stack_from_elsewhere();
    if (from_elsewhere && !instruction.plain(0x5c) && !instruction.plain(0x01)) found = Loads::kAnything;
    const bool loads = from_elsewhere || instruction.loads_stack_from_register() || instruction.loads_stack_from_frame() ||
                       instruction.loads_stack_from_variable() ||
                       (frame_from_elsewhere && instruction.loads_stack_from_frame_pointer());
    if (loads) found = std::max(found, Loads::kWhatWasSaved);
    if (instruction.ends_flow()) frame_from_elsewhere = false;  // several functions may lie there
  }
  return found;
}

// From a name up to the next that isn't one of its labels, or to a function.
struct Part {
  const Section* section;
  uint64_t start, end;
  std::vector<std::string_view> names;  // all that are at its start
  std::vector<uint64_t> labels = {};    // inside of it

  bool has_label(std::string_view name) const {
    return name.starts_with('.') || std::any_of(names.begin(), names.end(), [name](std::string_view own) {
      return !own.empty() && name.size() > own.size() && name.starts_with(own) && name[own.size()] == '.';
    });
  }
  std::span<const uint8_t> bytes() const { return bytes_from(start); }
  std::span<const uint8_t> bytes_from(uint64_t label) const {
    return section->bytes.subspan(label - section->header.sh_addr, end - label);
  }
};

uint64_t end_of(const Section& section) { return section.header.sh_addr + section.bytes.size(); }

// The section of code that a symbol outside of all sized functions is in; null: none.
const Section* section_of_stray(const ElfImage& image, const FunctionTable& functions, const Symbol& symbol) {
  if (symbol.type != STT_OBJECT && symbol.type != STT_NOTYPE && symbol.type != STT_FUNC) return nullptr;
  if (symbol.section == SHN_UNDEF || symbol.section >= image.sections().size()) return nullptr;
  const Section& section = image.sections()[symbol.section];
  const bool inside = symbol.value >= section.header.sh_addr && symbol.value < end_of(section);
  return section.executable() && inside && !functions.holding(symbol.value) ? &section : nullptr;
}

// Ascending and disjoint.
std::vector<Part> parts_of(const ElfImage& image, const FunctionTable& functions) {
  std::vector<std::pair<const Symbol*, const Section*>> labels;
  for (const Symbol& symbol : image.symbols()) {
    const Section* section = symbol.type == STT_OBJECT ? nullptr : section_of_stray(image, functions, symbol);
    if (section) labels.emplace_back(&symbol, section);
  }
  std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.first->value < b.first->value; });
  std::vector<Part> parts;
  for (const auto& [symbol, section] : labels) {
    if (!parts.empty() && symbol->value == parts.back().start) {
      parts.back().names.push_back(symbol->name);
      continue;
    }
    if (!parts.empty() && symbol->value < parts.back().end) {
      if (parts.back().has_label(symbol->name)) {
        parts.back().labels.push_back(symbol->value);
        continue;
      }
      parts.back().end = symbol->value;
    }
    const uint64_t end = std::min(end_of(*section), functions.next_sized_after(symbol->value));
    parts.push_back({section, symbol->value, end, {symbol->name}});
  }
  return parts;
}

// Where functions lead, and parts lead outside of themselves or by a call, ascending.
std::vector<uint64_t> targets_of(const Disassembly& disassembly, const std::vector<Part>& parts) {
  std::vector<uint64_t> targets;
  for (const Field& field : disassembly.fields) targets.push_back(field.target);
  for (const Part& part : parts) {
    const std::span<const uint8_t> code = part.bytes();
    Instruction instruction;
    for (size_t at = 0; at < code.size() && decode(code.subspan(at), instruction); at += instruction.length) {
      if (!instruction.is_branch) continue;
      const uint64_t target = target_of(instruction, code.data() + at, part.start + at);
      const bool inside = target > part.start && target < part.end;
      if (!inside || instruction.is_call()) targets.push_back(target);
    }
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

// What code at an address may write until it returns.
class Written {
 public:
  explicit Written(const std::vector<Part>& parts) : parts_(parts) {}

  Registers from(uint64_t address) {
    const auto [found, is_new] = known_.try_emplace(address, kAll);
    if (is_new) found->second = follow(address);
    return found->second;
  }

 private:
  static constexpr Registers kAll = 0xffff;

  Registers follow(uint64_t address) const {
    Registers written = 0;
    std::set<uint64_t> seen;
    std::vector<uint64_t> left = {address};
    while (!left.empty()) {
      uint64_t at = left.back();
      left.pop_back();
      const auto after =
          std::upper_bound(parts_.begin(), parts_.end(), at, [](uint64_t a, const Part& part) { return a < part.start; });
      if (after == parts_.begin()) return kAll;
      Instruction instruction;
      for (const Part& part = *(after - 1); seen.insert(at).second; at += instruction.length) {
        if (at >= part.end || !decode(part.bytes_from(at), instruction)) return kAll;
        if (instruction.is_branch) left.push_back(target_of(instruction, part.bytes_from(at).data(), at));
        if (instruction.is_indirect_call() || instruction.is_indirect_jump()) return kAll;
        written |= may_write(instruction);
        if (instruction.ends_flow()) break;
      }
    }
    return written;
  }

  const std::vector<Part>& parts_;
  std::map<uint64_t, Registers> known_;
};

bool is_code(std::span<const uint8_t> bytes) {
  Instruction instruction;
  size_t at = 0;
  while (at < bytes.size() && decode(bytes.subspan(at), instruction)) at += instruction.length;
  return at == bytes.size();
}

// Behind any of its labels, up to the next bytes that are no instruction.
bool may_load_stack_among_data(const Part& part) {
  return std::any_of(part.labels.begin(), part.labels.end(),
                     [&part](uint64_t label) { return loads_stack(part.bytes_from(label), false) != Loads::kNothing; });
}

bool parts_switch_stacks(const Disassembly& disassembly, const std::vector<Part>& parts) {
  std::vector<const Part*> followed;
  for (const Part& part : parts) {
    const Loads loads = loads_stack(part.bytes(), false);
    if (loads == Loads::kAnything || (!is_code(part.bytes()) && may_load_stack_among_data(part))) return true;
    if (loads == Loads::kWhatWasSaved) followed.push_back(&part);
  }
  if (followed.empty()) return false;
  const std::vector<uint64_t> targets = targets_of(disassembly, parts);
  Written written(parts);
  return std::any_of(followed.begin(), followed.end(), [&](const Part* part) {
    std::vector<size_t> entries;
    for (auto at = std::upper_bound(targets.begin(), targets.end(), part->start); at != targets.end() && *at < part->end; ++at)
      entries.push_back(*at - part->start);
    const auto written_by = [&](int64_t target) { return written.from(part->start + static_cast<uint64_t>(target)); };
    const Surroundings around = {entries, written_by};
    return !goes_back_on_its_stack(part->bytes(), &around);
  });
}

// Constants may be such arrays, too; those hardly are instructions from end to end.
bool arrays_switch_stacks(const ElfImage& image, const FunctionTable& functions) {
  return std::any_of(image.symbols().begin(), image.symbols().end(), [&](const Symbol& symbol) {
    const Section* section = symbol.type == STT_OBJECT ? section_of_stray(image, functions, symbol) : nullptr;
    if (!section) return false;
    const uint64_t bytes = std::min(symbol.bytes, end_of(*section) - symbol.value);
    return loads_stack(section->bytes.subspan(symbol.value - section->header.sh_addr, bytes), true) != Loads::kNothing;
  });
}

// Code that nothing names, where symbols were left out: from the end of each function to the next.
bool nameless_switch_stacks(const ElfImage& image, const FunctionTable& functions) {
  if (!functions.has_nameless()) return false;
  for (const Section& section : image.sections()) {
    if (!section.executable() || section.bytes.empty()) continue;
    uint64_t at = section.header.sh_addr;
    const auto look_up_to = [&](uint64_t end) {
      return end > at && loads_stack(section.bytes.subspan(at - section.header.sh_addr, end - at), false) != Loads::kNothing;
    };
    for (const Function& function : functions.all()) {
      if (function.start < at || function.start >= end_of(section)) continue;
      if (look_up_to(function.start)) return true;
      at = function.end();
    }
    if (look_up_to(end_of(section))) return true;
  }
  return false;
}

}  // namespace

bool strays_switch_stacks(const ElfImage& image, const Disassembly& disassembly, const FunctionTable& functions) {
  return parts_switch_stacks(disassembly, parts_of(image, functions)) || arrays_switch_stacks(image, functions) ||
         nameless_switch_stacks(image, functions);
}

}  // namespace stab::postlink
