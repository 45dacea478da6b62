// Checking stab_code: the reading side of code_metadata.cc, for --stab-info and tests. The runtime has its own
// reader, as it may use neither allocation nor the standard library.
#include "instrumenter/postlink/code_view.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace stab::postlink {
namespace {

Error corrupt(const std::string& why) {
  return {ErrorCode::kCorrupt, std::string(abi::kCodeSection) + ": " + why, {}};
}

class Taker {
 public:
  explicit Taker(std::span<const uint8_t> rest) : rest_(rest) {}

  template <typename T>
  bool take(uint64_t count, std::span<const T>& out) {
    if (count > rest_.size() / sizeof(T)) return false;
    out = {reinterpret_cast<const T*>(rest_.data()), static_cast<size_t>(count)};
    rest_ = rest_.subspan(static_cast<size_t>(count) * sizeof(T));
    return true;
  }
  bool empty() const { return rest_.empty(); }
  // Leaves out what lies up to a multiple of so many bytes; the section begins at one.
  void align(size_t bytes) { rest_ = rest_.subspan(std::min(rest_.size(), (bytes - taken() % bytes) % bytes)); }

 private:
  size_t taken() const { return all_ - rest_.size(); }
  std::span<const uint8_t> rest_;
  size_t all_ = rest_.size();
};

bool in_range(uint64_t first, uint64_t count, uint64_t size) { return first + count <= size; }

bool fixups_fit(const CodeView& view, const abi::CodeFunction& function) {
  for (const auto& fixup : view.directed.subspan(function.first_directed, function.directed_count)) {
    if (uint64_t{fixup.at} + 4 > function.bytes) return false;
    const uint64_t limit = fixup.kind() == abi::FixupKind::kPcFunction ? view.functions.size()
                                                                       : view.tables.size();
    if (fixup.target() >= limit || static_cast<uint8_t>(fixup.kind()) > 2) return false;
  }
  uint64_t at = 0;
  for (const uint16_t step : view.fixed.subspan(function.first_fixed, function.fixed_count)) {
    at += step;
    if (step != abi::kFixedSkip && at + 4 > function.bytes) return false;
  }
  return true;
}

bool tables_fit(const CodeView& view, const abi::CodeFunction& function) {
  for (const auto& table : view.tables.subspan(function.first_table, function.table_count)) {
    if (!in_range(table.first_target, table.entry_count, view.targets.size())) return false;
    if (static_cast<uint8_t>(table.kind) > 1) return false;
    const auto targets = view.targets.subspan(table.first_target, table.entry_count);
    if (std::any_of(targets.begin(), targets.end(), [&function](uint32_t target) {
          return target == 0 || target >= function.bytes;
        }))
      return false;
  }
  return true;
}

bool take_loops(Taker& taker, const abi::CodeHeader& header, CodeView& view) {
  if (header.loop_words == 0) return true;
  taker.align(4);
  std::span<const uint32_t> count;
  if (!taker.take(1, count) || !taker.take(count[0], view.loops)) return false;
  const uint64_t taken = 1 + view.loops.size_bytes() / 4;
  return taken <= header.loop_words && taker.take(header.loop_words - taken, view.points);
}

bool take_identities(Taker& taker, const abi::CodeHeader& header, CodeView& view) {
  if ((header.flags & abi::kCodeIdentities) == 0) return true;
  taker.align(8);
  return taker.take(header.function_count, view.identities) && taker.take(header.function_count, view.pads);
}

bool take_pointers(Taker& taker, const abi::CodeHeader& header, CodeView& view) {
  if ((header.flags & abi::kCodePointers) == 0) return true;
  taker.align(8);
  std::span<const abi::PointerCounts> counts;
  return taker.take(1, counts) && taker.take(counts[0].slots, view.pointer_slots) &&
         taker.take(counts[0].fields, view.pointer_fields);
}

bool are_unique(std::span<const uint64_t> identities) {
  std::vector<uint64_t> sorted(identities.begin(), identities.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool loops_fit(const CodeView& view) {
  for (const abi::LoopRecord& record : view.loops) {
    if (record.function >= view.functions.size() || record.point_count > abi::kMostPoints ||
        !in_range(record.first_point, record.point_count, view.points.size()))
      return false;
    const abi::CodeFunction& function = view.functions[record.function];
    uint32_t shorts = 0;
    for (const uint32_t point : view.points.subspan(record.first_point, record.point_count))
      if (function.immovable != abi::Immovable::kNo || !abi::point_fits(function, point, shorts)) return false;
  }
  return true;
}

bool pointers_fit(const CodeView& view) {
  const auto moves = [&view](uint32_t function) {
    return function < view.functions.size() && view.functions[function].immovable == abi::Immovable::kNo;
  };
  return std::all_of(view.pointer_slots.begin(), view.pointer_slots.end(),
                     [&](const abi::PointerSlot& slot) { return moves(slot.target); }) &&
         std::all_of(view.pointer_fields.begin(), view.pointer_fields.end(), [&](const abi::PointerField& field) {
           return moves(field.target) && moves(field.function) && uint64_t{field.at} + 4 <= view.functions[field.function].bytes;
         });
}

}  // namespace

Result<CodeView> CodeView::parse(std::span<const uint8_t> section) {
  CodeView view{};
  if (section.size() < sizeof(abi::CodeHeader)) return corrupt("shorter than its header");
  memcpy(&view.header, section.data(), sizeof view.header);
  const abi::CodeHeader& header = view.header;
  if (memcmp(header.magic, abi::kCodeMagic, sizeof header.magic) != 0) return corrupt("no such magic");
  if (header.version < abi::kOldestCodeVersion || header.version > abi::kCodeVersion)
    return corrupt("version " + std::to_string(header.version) + ", expected " +
                   std::to_string(abi::kCodeVersion) + "; link the program again");
  if (header.header_bytes != sizeof header) return corrupt("header size");
  Taker taker(section.subspan(sizeof header));
  if (!taker.take(header.function_count, view.functions) || !taker.take(header.table_count, view.tables) ||
      !taker.take(header.target_count, view.targets) || !taker.take(header.directed_count, view.directed) ||
      !taker.take(header.fixed_count, view.fixed) || !take_loops(taker, header, view) ||
      !take_identities(taker, header, view) || !take_pointers(taker, header, view) || !taker.empty())
    return corrupt("its counts don't match its size");
  if (!are_unique(view.identities)) return corrupt("two functions have one identity");
  if (!pointers_fit(view)) return corrupt("a pointer is of a function that stays, or outside of one that moves");
  if (!loops_fit(view)) return corrupt("a lead point is where no jump can be stored");
  uint64_t last_end = 0;
  for (size_t i = 0; i < view.functions.size(); ++i) {
    const abi::CodeFunction& function = view.functions[i];
    const uint64_t end = uint64_t{function.start} + function.bytes;
    const std::string name = "function " + std::to_string(i);
    if (function.start < last_end || end > header.text_bytes) return corrupt(name + " overlaps or leaves the text");
    last_end = end;
    if (static_cast<size_t>(function.immovable) >= std::size(abi::kImmovableWords))
      return corrupt(name + " has an unknown reason to stay");
    if (!in_range(function.first_directed, function.directed_count, view.directed.size()) ||
        !in_range(function.first_fixed, function.fixed_count, view.fixed.size()) ||
        !in_range(function.first_table, function.table_count, view.tables.size()))
      return corrupt(name + " owns entries that don't exist");
    if (!tables_fit(view, function)) return corrupt(name + " has a table that leaves it");
    if (!fixups_fit(view, function)) return corrupt(name + " has a fix-up that leaves it");
  }
  return view;
}

}  // namespace stab::postlink
