// Finding jump tables in constant data.
//
// A table that is missed costs nothing but a stay in the original body: the jump lands there and goes on. A
// table that is none would be a wrong program. So everything must agree: the function jumps indirectly, it
// refers to the table's first byte, nobody else refers into it, the linker kept one relocation for each entry,
// back to back up to the next thing anybody refers to, every entry leads strictly inside the function, and no data
// object of the program lies there. Cutting a table short would be as wrong as inventing one.
//
// Position-independent tables hold i32 "label - table" (PC32 relocations whose addend grows along the table,
// so the file's content is read instead); others hold absolute u64. Absolute arrays in position-independent
// files, and arrays with a name of their own, are labels as values (`&&label`): these count only when our pass
// has proven that their labels go nowhere but into indirect jumps (section stab_gotos).
#include "instrumenter/postlink/jump_tables.h"

#include <algorithm>
#include <optional>
#include <span>

#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

// Switch tables are never shorter; one entry alone is weak evidence.
constexpr size_t kMinSwitchEntries = 2;

// A constant section with its relocations.
struct ConstantData {
  const Section* section;
  std::vector<Relocation> relocations;

  // Index of the first relocation at or after address.
  size_t first_at(uint64_t address) const {
    const auto found =
        std::lower_bound(relocations.begin(), relocations.end(), address,
                         [](const Relocation& relocation, uint64_t value) { return relocation.place < value; });
    return static_cast<size_t>(found - relocations.begin());
  }
};

std::vector<ConstantData> constant_data(const ElfImage& image) {
  std::vector<ConstantData> all;
  for (const Section& section : image.sections()) {
    const bool constant = section.name.starts_with(".rodata") || section.name.starts_with(".lrodata") ||
                          section.name.starts_with(".data.rel.ro");
    if (!section.allocated() || section.executable() || section.bytes.empty() || !constant) continue;
    auto relocations = image.kept_relocations(section);
    if (!relocations.empty()) all.push_back({&section, std::move(relocations)});
  }
  return all;
}

// Data objects that have a symbol, ascending by start.
class ObjectSymbols {
 public:
  explicit ObjectSymbols(const ElfImage& image) {
    for (const Symbol& symbol : image.symbols())
      if (symbol.type == STT_OBJECT && symbol.section != SHN_UNDEF)
        ranges_.push_back({symbol.value, symbol.value + symbol.bytes});
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.start < b.start; });
    for (const Range& range : ranges_) longest_ = std::max(longest_, range.end - range.start);
  }

  bool cover(uint64_t address) const { return range_at(address).has_value(); }
  // The end of the object that starts at address, if that is sized.
  std::optional<uint64_t> end_of(uint64_t address) const {
    const auto range = range_at(address);
    return range && range->start == address ? std::optional(range->end) : std::nullopt;
  }
  std::optional<uint64_t> start_of_one_that_ends_at(uint64_t address) const {
    const auto range = address == 0 ? std::nullopt : range_at(address - 1);
    return range && range->end == address ? std::optional(range->start) : std::nullopt;
  }
  // The first object's start after address.
  uint64_t next_after(uint64_t address) const {
    const auto found = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                        [](uint64_t value, const Range& range) { return value < range.start; });
    return found == ranges_.end() ? UINT64_MAX : found->start;
  }

 private:
  struct Range {
    uint64_t start, end;
  };
  std::optional<Range> range_at(uint64_t address) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                  [](uint64_t value, const Range& range) { return value < range.start; });
    while (after != ranges_.begin()) {
      --after;
      if (address < after->end) return *after;
      if (address - after->start > longest_) return std::nullopt;
    }
    return std::nullopt;
  }

  std::vector<Range> ranges_;
  uint64_t longest_ = 0;
};

class TableFinder {
 public:
  TableFinder(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
              const References& references)
      : image_(image), functions_(functions), disassembly_(disassembly), references_(references),
        data_(constant_data(image)), objects_(image),
        proven_gotos_(self_relative_list(image, abi::kGotosSection, 4)) {}

  std::vector<JumpTable> find() {
    std::vector<JumpTable> tables;
    for (uint32_t function = 0; function < functions_.size(); ++function) {
      if (disassembly_.codes[function].indirect_jumps == 0) continue;
      const size_t first = tables.size();
      for (const uint64_t address : candidates_of(function)) {
        // Absolute tables of one function that lie back to back are one table.
        if (tables.size() > first && tables.back().contains(address)) continue;
        if (auto table = table_at(address, function)) tables.push_back(std::move(*table));
      }
      if (cut_by_itself(function, std::span(tables).subspan(first))) tables.resize(first);
    }
    return tables;
  }

  std::vector<uint64_t> loose_labels(const std::vector<JumpTable>& tables) const {
    std::vector<uint64_t> labels;
    for (uint32_t function = 0; function < functions_.size(); ++function) {
      if (disassembly_.codes[function].indirect_jumps == 0) continue;
      for (const uint64_t address : candidates_of(function))
        if (std::none_of(tables.begin(), tables.end(), [&](const JumpTable& table) { return table.contains(address); }))
          append_labels(address, labels);
    }
    std::sort(labels.begin(), labels.end());
    return labels;
  }

 private:
  // Of the array that begins at `address`, up to what is surely another one.
  void append_labels(uint64_t address, std::vector<uint64_t>& labels) const {
    const ConstantData* data = data_at(address);
    if (data == nullptr) return;
    const uint64_t section_end = data->section->header.sh_addr + data->section->bytes.size();
    uint64_t place = address;
    for (size_t at = data->first_at(address); at < data->relocations.size(); ++at, place += 4) {
      const Relocation& relocation = data->relocations[at];
      if (relocation.place != place || relocation.type != R_X86_64_PC32 || place + 4 > section_end) return;
      if (place != address && begins_a_table(*data, place)) return;
      labels.push_back(relative_label(*data, place, address));
    }
  }

  // Constant addresses the function refers to, ascending, each once.
  std::vector<uint64_t> candidates_of(uint32_t function) const {
    std::vector<uint64_t> candidates;
    for (const Field& field : disassembly_.fields_of(function)) {
      if (field.kind == FieldKind::kCall || field.kind == FieldKind::kJump) continue;
      if (data_at(field.target) != nullptr) candidates.push_back(start_of_table(field.target));
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    return candidates;
  }

  // Code refers to a switch table by its first byte, but to any entry of a proven label array.
  uint64_t start_of_table(uint64_t address) const {
    const auto after = std::upper_bound(proven_gotos_.begin(), proven_gotos_.end(), address);
    if (after == proven_gotos_.begin()) return address;
    const uint64_t start = *(after - 1);
    const auto end = objects_.end_of(start);
    return end && address < *end ? start : address;
  }

  const ConstantData* data_at(uint64_t address) const {
    const auto found = std::find_if(data_.begin(), data_.end(), [address](const ConstantData& data) {
      return data.section->contains(address);
    });
    return found == data_.end() ? nullptr : &*found;
  }

  std::optional<JumpTable> table_at(uint64_t address, uint32_t function) const {
    const ConstantData* data = data_at(address);
    if (data == nullptr) return std::nullopt;
    const size_t first = data->first_at(address);
    if (first == data->relocations.size() || data->relocations[first].place != address) return std::nullopt;
    const uint32_t type = data->relocations[first].type;
    if (type != R_X86_64_PC32 && type != R_X86_64_64) return std::nullopt;

    const bool proven = std::binary_search(proven_gotos_.begin(), proven_gotos_.end(), address);
    if (!proven && (objects_.cover(address) || (type == R_X86_64_64 && image_.position_independent())))
      return std::nullopt;
    JumpTable table{address, function,
                    type == R_X86_64_64 ? abi::TableKind::kAbsolute64 : abi::TableKind::kRelative32, {}};
    const uint64_t limit = end_of_table(table, proven);
    if (!take_entries(*data, first, type, limit, table)) return std::nullopt;
    if (!proven && cut_in_an_entry(*data, limit, type, table)) return std::nullopt;
    if (!proven && limit < objects_.next_after(address) && may_go_on(*data, limit, table)) return std::nullopt;
    settle_unreachable_entries(table);
    if (table.targets.size() < (proven ? 1 : kMinSwitchEntries)) return std::nullopt;
    if (!only_used_by(function, table, proven)) return std::nullopt;
    return table;
  }

  // No table extends past this. A position-independent table ends where the next is referred to. Absolute ones
  // may be referred to with a bias, so that only other functions' references end them.
  uint64_t end_of_table(const JumpTable& table, bool proven) const {
    const uint64_t address = table.address;
    uint64_t end = objects_.next_after(address);
    if (proven) {
      const auto next = std::upper_bound(proven_gotos_.begin(), proven_gotos_.end(), address);
      if (next != proven_gotos_.end()) end = std::min(end, *next);
      return std::min(end, objects_.end_of(address).value_or(UINT64_MAX));
    }
    for (const Reference& reference : references_.into(address + 1, end))
      if (table.kind == abi::TableKind::kRelative32 || reference.from != table.function) return reference.target;
    return end;
  }

  // The limit lies inside what could be one more entry: it is no place where anything begins. So the linker's relocations of
  // relative data seem to lead: `name - names` in such an array's third element is kept as name + 8.
  static bool cut_in_an_entry(const ConstantData& data, uint64_t limit, uint32_t type, const JumpTable& table) {
    const size_t next = data.first_at(table.end());
    return limit > table.end() && limit < table.end() + table.entry_bytes() && next < data.relocations.size() &&
           data.relocations[next].place == table.end() && data.relocations[next].type == type;
  }

  // A reference ended the table, but what follows could be more of it: then that reference may be biased, as one to the
  // element in front of an array is, and the end isn't known.
  bool may_go_on(const ConstantData& data, uint64_t limit, const JumpTable& table) const {
    const size_t next = data.first_at(limit);
    if (table.end() != limit || next == data.relocations.size() || data.relocations[next].place != limit) return false;
    if (table.kind == abi::TableKind::kAbsolute64) return functions_[table.function].contains(data.relocations[next].target);
    const uint64_t section_end = data.section->header.sh_addr + data.section->bytes.size();
    return data.relocations[next].type == R_X86_64_PC32 && limit + table.entry_bytes() <= section_end &&
           image_.in_text(relative_label(data, limit, table.address)) && !begins_a_table(data, limit);
  }

  // Whether code takes the address, and the entry there leads into that code if it is a table's first.
  bool begins_a_table(const ConstantData& data, uint64_t address) const {
    const uint64_t label = relative_label(data, address, address);
    const auto here = references_.into(address, address + 1);
    return std::any_of(here.begin(), here.end(), [&](const Reference& reference) {
      return reference.from != kNoFunction && takes_address(reference) && leads_inside(label, reference.from);
    });
  }

  bool takes_address(const Reference& reference) const {
    const auto fields = disassembly_.fields_of(reference.from);
    return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
      return field.place == reference.place && field.kind == FieldKind::kAddress;
    });
  }

  bool leads_inside(uint64_t label, uint32_t function) const {
    return functions_[function].contains(label) && label != functions_[function].start && disassembly_.starts_instruction(label);
  }

  // Where its function's own reference ended a relative table, that must be another of its tables, and each must have its
  // jump: a biased reference could make one into two.
  bool cut_by_itself(uint32_t function, std::span<const JumpTable> tables) const {
    return std::any_of(tables.begin(), tables.end(), [&](const JumpTable& table) {
      if (table.kind != abi::TableKind::kRelative32) return false;
      const auto ends = references_.into(table.end(), table.end() + 1);
      if (std::none_of(ends.begin(), ends.end(), [&](const Reference& reference) { return reference.from == function; }))
        return false;
      const bool another =
          std::any_of(tables.begin(), tables.end(), [&](const JumpTable& next) { return next.address == table.end(); });
      return another ? tables.size() > disassembly_.codes[function].indirect_jumps : more_follows(table);
    });
  }

  // Whether an entry could be right behind the table.
  bool more_follows(const JumpTable& table) const {
    const ConstantData* data = data_at(table.end());
    if (data == nullptr) return false;
    const size_t next = data->first_at(table.end());
    return next < data->relocations.size() && data->relocations[next].place == table.end() &&
           data->relocations[next].type == R_X86_64_PC32;
  }

  // False when an entry leads out of the function: into its split-off cold part, most likely. A copy of the rest
  // would be too short.
  bool take_entries(const ConstantData& data, size_t at, uint32_t type, uint64_t limit,
                    JumpTable& table) const {
    const Function& function = functions_[table.function];
    const uint64_t step = table.entry_bytes();
    for (uint64_t place = table.address; at < data.relocations.size(); ++at, place += step) {
      const Relocation& relocation = data.relocations[at];
      if (relocation.place != place || relocation.type != type || place + step > limit) return true;
      if (place + step > data.section->header.sh_addr + data.section->bytes.size()) return true;
      const uint64_t label = type == R_X86_64_64 ? relocation.target : relative_label(data, place, table.address);
      if (label <= function.start || label > function.end()) return false;
      if (label == function.end() ? functions_.starting_at(label).has_value() : !disassembly_.starts_instruction(label))
        return false;
      table.targets.push_back(static_cast<uint32_t>(label - function.start));
    }
    return true;
  }

  // A case that the compiler knows to be impossible leads to an empty block, and that may lie at the very end.
  // No control gets there; the function's last byte stands for it, so that all targets lie inside. At the end
  // of a table such entries may as well be somebody else's: dropped.
  void settle_unreachable_entries(JumpTable& table) const {
    const auto bytes = static_cast<uint32_t>(functions_[table.function].bytes);
    while (!table.targets.empty() && table.targets.back() == bytes) table.targets.pop_back();
    std::replace(table.targets.begin(), table.targets.end(), bytes, bytes - 1);
  }

  // pre: four bytes at `place` lie in the section
  static uint64_t relative_label(const ConstantData& data, uint64_t place, uint64_t table_address) {
    const auto distance =
        int64_t{read_as<int32_t>(data.section->bytes.data() + (place - data.section->header.sh_addr))};
    return table_address + static_cast<uint64_t>(distance);
  }

  bool only_used_by(uint32_t function, const JumpTable& table, bool proven) const {
    for (const Reference& reference : references_.into(table.address, table.end())) {
      if (reference.target == table.address && ends_its_own_array(reference)) continue;
      if (reference.from != function || !jumps_through(function, reference.place, table, proven)) return false;
    }
    return true;
  }

  // A loop's end: one past the last element of an array that the function uses.
  bool ends_its_own_array(const Reference& reference) const {
    const auto array = reference.from == kNoFunction ? std::nullopt : objects_.start_of_one_that_ends_at(reference.target);
    if (!array) return false;
    const auto fields = disassembly_.fields_of(reference.from);
    return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
      return field.target >= *array && field.target < reference.target;
    });
  }

  // Whether the field at `place` uses the table as jumps do. There is no fix-up for movabs $table. And what is loaded
  // from an absolute table must be jumped to: anything else may be a label that becomes a value, or no part of the table,
  // read by an address that lies in it but for the index. Code that our pass has not seen may hold arrays of labels
  // without a name, and keep what it loads from one, so it has to jump at once.
  bool jumps_through(uint32_t function, uint64_t place, const JumpTable& table, bool proven) const {
    for (const Field& field : disassembly_.fields_of(function))
      if (field.place == place)
        return field.kind != FieldKind::kAbsolute64 &&
               (proven || table.kind == abi::TableKind::kRelative32 || field.jumps ||
                (field.next_jumps && functions_.has_compiled_list() && !functions_[function].foreign));
    return false;
  }

  const ElfImage& image_;
  const FunctionTable& functions_;
  const Disassembly& disassembly_;
  const References& references_;
  std::vector<ConstantData> data_;
  ObjectSymbols objects_;
  std::vector<uint64_t> proven_gotos_;
};

}  // namespace

std::vector<JumpTable> find_jump_tables(const ElfImage& image, const FunctionTable& functions,
                                        const Disassembly& disassembly, const References& references) {
  return TableFinder(image, functions, disassembly, references).find();
}

std::vector<uint64_t> find_loose_labels(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
                                        const References& references, const std::vector<JumpTable>& tables) {
  return TableFinder(image, functions, disassembly, references).loose_labels(tables);
}

}  // namespace stab::postlink
