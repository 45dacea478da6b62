// Finding lead points. A turn of a loop takes a backward branch, so a point is sought on the way of each: among the
// instructions that run from the branch's target to the next branch, and among those that lead up to the branch itself.
//
// At a point a jump leads to the same instruction of another copy. Registers, flags and stack stay what they are, and mean the
// same there, unless one of them holds an address in the copy that is left. There are two sources of such addresses. Return
// addresses of calls lie below the frame by the time that it runs again. The function's own jump tables are copied along with
// it: a function that may hold the address of one, or a label out of one, anywhere but between two neighbouring instructions
// has no points. (Labels that it takes the address of are the original's in all copies.)
//
// An instruction that touches memory or may trap is no point either: a handler of the program's may look at the bytes where
// it happened.
#include "instrumenter/postlink/lead_points.h"

#include <algorithm>
#include <map>
#include <optional>

#include "instrumenter/postlink/x86_64/branch_target.h"
#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

struct Place {
  uint32_t at = 0;
  Instruction instruction;
  uint32_t target = 0;  // of a branch into the function, from its start
  bool branches = false;
};

bool is_one_of(uint8_t opcode, std::initializer_list<uint8_t> all) {
  return std::find(all.begin(), all.end(), opcode) != all.end();
}

// Only registers, flags and the instruction pointer take part, and nothing can trap.
bool is_plain_one_byte_map(const Instruction& instruction) {
  const uint8_t opcode = instruction.opcode;
  const bool on_registers = instruction.names_registers();
  if (opcode >= 0xb8 && opcode <= 0xbf) return true;                                    // mov $, %reg
  if (is_one_of(opcode, {0x90, 0xa8, 0xa9}) || instruction.is_lea()) return true;       // nop, test $, lea
  if (opcode < 0x40) return (opcode & 7) < 4 ? on_registers : (opcode & 7) < 6;         // add to cmp
  if (!on_registers) return false;
  if (is_one_of(opcode, {0x63, 0x69, 0x6b, 0x80, 0x81, 0x83, 0x84, 0x85, 0x88, 0x89, 0x8a, 0x8b, 0xc0, 0xc1, 0xd0, 0xd1, 0xd2,
                         0xd3}))
    return true;
  if (opcode == 0xc6 || opcode == 0xc7) return instruction.modrm_reg() == 0;            // mov $, not xbegin
  if (opcode == 0xf6 || opcode == 0xf7) return instruction.modrm_reg() < 6;             // not div and idiv
  return (opcode == 0xfe || opcode == 0xff) && instruction.modrm_reg() < 2;             // inc, dec
}

bool is_plain(const Instruction& instruction) {
  if (instruction.is_vector) return false;
  if (instruction.map == 0) return is_plain_one_byte_map(instruction);
  if (instruction.map != 1) return false;
  const uint8_t opcode = instruction.opcode;
  if (opcode == 0x1f) return true;  // long nops name memory and don't touch it
  if (!instruction.names_registers()) return false;
  const bool conditional = (opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x90 && opcode <= 0x9f);
  return conditional || is_one_of(opcode, {0xaf, 0xb6, 0xb7, 0xbe, 0xbf});  // imul, movzx, movsx
}

class FunctionLoops {
 public:
  FunctionLoops(const ElfImage& image, const Function& function) : image_(image), function_(function) {}

  // Its lead points, and how many backward branches have none on their way.
  abi::LoopRecord find(std::vector<uint32_t>& points) {
    abi::LoopRecord record{};
    read();
    for (size_t i = 0; i < places_.size(); ++i) {
      const Place& place = places_[i];
      if (!place.branches || place.target > place.at) continue;
      if (!lead(i) && record.unled < UINT16_MAX) ++record.unled;
    }
    record.point_count = static_cast<uint8_t>(chosen_.size());
    for (const auto& [at, is_short] : chosen_) points.push_back(at | (is_short ? abi::kShortPoint : 0));
    return record;
  }

  uint32_t count_backward_branches() {
    read();
    return static_cast<uint32_t>(std::count_if(places_.begin(), places_.end(), [](const Place& place) {
      return place.branches && place.target <= place.at;
    }));
  }

 private:
  void read() {
    const auto bytes = image_.text_at(function_.start, function_.bytes);
    places_.clear();
    leads_.assign(function_.bytes, false);
    Place place;
    for (size_t at = 0; at < bytes.size(); at += place.instruction.length) {
      if (!decode(bytes.subspan(at), place.instruction)) return places_.clear();
      place.at = static_cast<uint32_t>(at);
      place.branches = false;
      if (place.instruction.is_branch && !place.instruction.is_call()) {
        const uint64_t target = target_of(place.instruction, bytes.data() + at, function_.start + at);
        place.branches = function_.contains(target);
        place.target = static_cast<uint32_t>(target - function_.start);
        if (place.branches) leads_[place.target] = true;
      }
      places_.push_back(place);
    }
  }

  bool ends_block(const Place& place) const {
    return place.instruction.is_branch ? !place.instruction.is_call() : place.instruction.ends_flow();
  }

  // Chooses a point on the way of the backward branch at places_[branch], unless there is one. False: none can be.
  bool lead(size_t branch) {
    std::vector<size_t> way;
    size_t first = branch;
    while (first > 0 && !leads_[places_[first].at] && !ends_block(places_[first - 1])) --first;
    for (size_t i = first; i <= branch; ++i) way.push_back(i);
    size_t next = index_of(places_[branch].target);
    for (; next < places_.size(); ++next) {
      way.push_back(next);
      if (ends_block(places_[next])) break;
    }
    const auto has_point = [this](size_t i) { return chosen_.contains(places_[i].at); };
    if (std::any_of(way.begin(), way.end(), has_point)) return true;
    if (chosen_.size() == abi::kMostPoints) return false;
    return choose(way, false) || choose(way, true);
  }

  size_t index_of(uint32_t at) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), at,
                                        [](const Place& place, uint32_t value) { return place.at < value; });
    return static_cast<size_t>(found - places_.begin());
  }

  bool choose(const std::vector<size_t>& way, bool is_short) {
    for (const size_t i : way) {
      if (!can_be_point(places_[i], is_short)) continue;
      chosen_[places_[i].at] = is_short;
      shorts_ += is_short;
      return true;
    }
    return false;
  }

  bool can_be_point(const Place& place, bool is_short) const {
    const uint32_t bytes = is_short ? abi::kShortPointBytes : abi::kNearPointBytes;
    if (place.at < abi::kFirstPoint || place.instruction.length < bytes) return false;
    if (!abi::in_one_word(function_.start + place.at, bytes)) return false;
    if (place.instruction.is_branch ? !place.branches : !is_plain(place.instruction)) return false;
    if (!is_short) return true;
    return shorts_ < abi::kMostShortPoints && abi::reaches_word(static_cast<uint32_t>(function_.start % 8),
                                                                static_cast<uint32_t>(function_.bytes), place.at, shorts_);
  }

  const ElfImage& image_;
  const Function& function_;
  std::vector<Place> places_;
  std::vector<bool> leads_;            // by offset: a branch of its own leads there
  std::map<uint32_t, bool> chosen_;    // offset of a point -> is it a short one
  uint32_t shorts_ = 0;
};

// Whether the function may have the address of one of its tables, or a label out of one, in a register or on its stack.
bool holds_table(uint32_t index, const Disassembly& disassembly, const std::vector<JumpTable>& tables) {
  const auto first = std::lower_bound(tables.begin(), tables.end(), index,
                                      [](const JumpTable& table, uint32_t function) { return table.function < function; });
  const auto is_of_table = [&](uint64_t address) {
    for (auto table = first; table != tables.end() && table->function == index; ++table)
      if (table->contains(address)) return true;
    return false;
  };
  const auto fields = disassembly.fields_of(index);
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    const bool jumps = field.kind == FieldKind::kAbsolute && (field.jumps || field.next_jumps);
    return !jumps && is_of_table(field.target);
  });
}

}  // namespace

LongLoops find_long_loops(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
                          const std::vector<JumpTable>& tables) {
  LongLoops out;
  for (uint32_t index = 0; index < functions.size(); ++index) {
    const Function& function = functions[index];
    if (function.immovable != abi::Immovable::kNo || function.foreign || !functions.has_compiled_list()) continue;
    FunctionLoops loops(image, function);
    abi::LoopRecord record{};
    const auto first_point = static_cast<uint32_t>(out.points.size());
    if (holds_table(index, disassembly, tables)) {
      record.unled = static_cast<uint16_t>(std::min<uint32_t>(loops.count_backward_branches(), UINT16_MAX));
      record.stay = abi::LoopStay::kHoldsTable;
    } else {
      record = loops.find(out.points);
    }
    if (record.unled == 0 && record.point_count == 0) continue;
    record.function = index;
    record.first_point = first_point;
    out.records.push_back(record);
  }
  return out;
}

}  // namespace stab::postlink
