// Fields of the code tell where instructions make an address, kept relocations what data holds, and the dynamic ones what the
// loader writes into the global offset table, which has no kept ones.
#include "instrumenter/postlink/pointers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "instrumenter/postlink/references.h"

namespace stab::postlink {
namespace {

// Nor do tables of exceptions hold a pointer that the program takes.
bool holds_no_pointer(std::string_view section) {
  return is_bookkeeping(section) || section.starts_with(".gcc_except_table");
}

constexpr uint64_t kMarkRange = 16;  // how far in front of a function a marked pointer to it may lie

bool is_pc_relative(uint32_t type) {
  switch (type) {
    case R_X86_64_PC8:
    case R_X86_64_PC16:
    case R_X86_64_PC32:
    case R_X86_64_PC64:
    case R_X86_64_GOTPC64:
    case R_X86_64_PLT32: return true;
    default: return false;
  }
}

bool is_of_offset_table(uint32_t type) {
  return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

class Finder {
 public:
  Finder(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
         const std::vector<JumpTable>& tables)
      : image_(image), functions_(functions), disassembly_(disassembly), stays_(functions.size()) {
    for (const JumpTable& table : tables) tables_.emplace(table.address, table.end());
  }

  Pointers find() {
    keep_exported();
    keep_boundaries();
    keep_enclosed();
    keep_signed();
    note_anchors();
    for (uint32_t index = 0; index < functions_.size(); ++index) take_code(index);
    for (const Section& section : image_.sections()) take_section(section);
    take_loaders_words();
    std::sort(slots_.begin(), slots_.end(), by_address);
    keep_what_resolvers_give();
    return finish();
  }

 private:
  static bool by_address(const abi::PointerSlot& a, const abi::PointerSlot& b) { return a.address < b.address; }

  std::optional<uint32_t> moving_at(uint64_t address) const {
    const auto found = functions_.starting_at(address);
    return found && functions_[*found].immovable == abi::Immovable::kNo ? found : std::nullopt;
  }

  void stay(std::optional<uint32_t> function) {
    if (function) stays_[*function] = true;
  }

  // An address that is a value, but none of a function: it may be a label, or a pointer to the function with a mark in it.
  void stay_around(uint64_t address) {
    if (!image_.in_text(address)) return;
    stay(functions_.holding(address));
    const uint64_t next = functions_.next_sized_after(address);
    if (next - address <= kMarkRange) stay(functions_.starting_at(next));
  }

  void stay_at_or_around(uint64_t address) {
    if (const auto function = functions_.starting_at(address)) stay(function);
    else stay_around(address);
  }

  // Of a symbol that is a section's or a thread's variable the value says nothing.
  const Symbol* named_by(const Relocation& relocation) const {
    if (relocation.symbol >= image_.symbols().size()) return nullptr;
    const Symbol& symbol = image_.symbols()[relocation.symbol];
    const bool says_nothing = symbol.type == STT_SECTION || symbol.type == STT_TLS || symbol.section == SHN_UNDEF;
    return says_nothing ? nullptr : &symbol;
  }

  // Libraries, dlsym and dlopen's libraries get the original address.
  void keep_exported() {
    for (const Symbol& symbol : image_.dynamic_symbols())
      if (symbol.section != SHN_UNDEF) stay(moving_at(symbol.value));
  }

  // A symbol that is no function's may be the end of something, and only by chance lie where a function begins.
  void keep_boundaries() {
    for (const Symbol& symbol : image_.symbols()) {
      const bool is_label = symbol.type == STT_NOTYPE || symbol.type == STT_OBJECT || symbol.type == STT_TLS;
      if (is_label && symbol.section != SHN_UNDEF && !symbol.name.empty()) stay(moving_at(symbol.value));
    }
  }

  // A program that asks where a section of its own begins and ends, by the linker's names, compares pointers with that.
  void keep_enclosed() {
    constexpr std::string_view kStart = "__start_", kStop = "__stop_";
    std::map<std::string_view, uint64_t> ends;
    for (const Symbol& symbol : image_.symbols())
      if (symbol.section != SHN_UNDEF && symbol.name.starts_with(kStop)) ends[symbol.name.substr(kStop.size())] = symbol.value;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const Symbol& symbol : image_.symbols()) {
      if (symbol.section == SHN_UNDEF || !symbol.name.starts_with(kStart) || !image_.in_text(symbol.value)) continue;
      const auto end = ends.find(symbol.name.substr(kStart.size()));
      if (end != ends.end()) ranges.emplace_back(symbol.value, end->second);
    }
    std::sort(ranges.begin(), ranges.end());
    auto next = ranges.begin();
    uint64_t end = 0;  // of those that have begun, the last
    for (uint32_t index = 0; index < functions_.size(); ++index) {
      for (; next != ranges.end() && next->first <= functions_[index].start; ++next) end = std::max(end, next->second);
      if (functions_[index].start < end) stay(index);
    }
  }

  // Callers read the type in front of a function (-fsanitize=function). A copy has other bytes there.
  void keep_signed() {
    constexpr uint32_t kSignature = 0xc105cafe;
    for (uint32_t index = 0; index < functions_.size(); ++index) {
      const uint64_t start = functions_[index].start;
      if (start - image_.text_start() >= 8 && read_as<uint32_t>(image_.text_at(start - 8, 4).data()) == kSignature) stay(index);
    }
  }

  // Where arrays may begin.
  void note_anchors() {
    for (const Symbol& symbol : image_.symbols())
      if (symbol.section != SHN_UNDEF && symbol.type != STT_TLS) named_anchors_.push_back(symbol.value);
    anchors_ = named_anchors_;
    for (const Field& field : disassembly_.fields) anchors_.push_back(field.target);
    for (const Section& section : image_.sections()) {
      if (!section.allocated() || is_bookkeeping(section.name)) continue;
      for (const Relocation& relocation : image_.kept_relocations(section)) anchors_.push_back(relocation.target);
    }
    for (std::vector<uint64_t>* list : {&named_anchors_, &anchors_}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }

  void take_code(uint32_t index) {
    const bool moves = functions_[index].immovable == abi::Immovable::kNo;
    for (const Field& field : disassembly_.fields_of(index)) {
      if (field.kind == FieldKind::kCall || field.kind == FieldKind::kJump || field.kind == FieldKind::kShortJump) continue;
      if (field.kind == FieldKind::kMemory) continue;  // reads its bytes, which a copy has, too
      const auto target = moving_at(field.target);
      // Assembly may add a distance to its own address, and where the assembler knows both ends no relocation tells.
      const bool is_own_start = functions_[index].foreign && target == index;
      if (!target || is_own_start)
        stay_at_or_around(field.target);
      else if (field.kind == FieldKind::kAddress && moves)
        fields_.push_back({index, static_cast<uint32_t>(field.place - functions_[index].start), *target});
      else
        stay(target);
    }
  }

  void take_section(const Section& section) {
    if (!section.allocated() || holds_no_pointer(section.name)) return;
    uint64_t row = 0;  // where the words without a gap between them begin that the last relocation's belongs to
    Relocation last{};
    for (const Relocation& relocation : image_.kept_relocations(section)) {
      const uint64_t distance = relocation.place - last.place;
      if (relocation.type != last.type || distance > sizeof(uint64_t)) row = relocation.place;
      last = relocation;
      if (!section.executable()) take_word(section, relocation, row);
      else if (!told_by_field(relocation)) keep_in_code(relocation);
    }
  }

  // Whether the fields of the code tell all of what the relocation does. One that has become a jump has its field a byte earlier.
  bool told_by_field(const Relocation& relocation) {
    const auto function = functions_.holding(relocation.place);
    if (!function || !is_decoded(functions_, disassembly_, relocation.place)) return false;
    const auto fields = disassembly_.fields_of(*function);
    const auto found = std::lower_bound(fields.begin(), fields.end(), relocation.place - 1,
                                        [](const Field& field, uint64_t place) { return field.place < place; });
    for (auto field = found; field != fields.end() && field->place <= relocation.place; ++field) {
      const bool is_jump = field->kind == FieldKind::kJump && is_of_offset_table(relocation.type);
      if (field->place != relocation.place && !is_jump) continue;
      const Symbol* symbol = named_by(relocation);
      const bool makes_value = field->kind == FieldKind::kAddress || !field->pc_relative();
      if (symbol != nullptr && makes_value && symbol->value != field->target) stay(moving_at(symbol->value));
      return true;
    }
    return false;
  }

  void take_word(const Section& section, const Relocation& relocation, uint64_t row) {
    if (is_in_table(relocation.place)) return;
    // A thread's variables are copied from here before the program's first instruction.
    const bool is_word = relocation.type == R_X86_64_64 && (section.header.sh_flags & SHF_TLS) == 0;
    const auto target = moving_at(relocation.target);
    if (!is_word || !target) return keep_in_data(relocation, row);
    slots_.push_back({relocation.place, *target, 0});
    const Symbol* symbol = named_by(relocation);
    if (symbol != nullptr && symbol->value != relocation.target) stay(moving_at(symbol->value));
  }

  // Uses of an address that can't be led.
  bool is_of_thread(const Relocation& relocation) const {
    return relocation.symbol < image_.symbols().size() && image_.symbols()[relocation.symbol].type == STT_TLS;
  }

  // An addend counts from the field, and the target from the instruction's end.
  void keep_in_code(const Relocation& relocation) {
    if (is_of_thread(relocation)) return;
    if (const Symbol* symbol = named_by(relocation)) stay(moving_at(symbol->value));
    const bool is_distance = is_pc_relative(relocation.type);
    stay_at_or_around(relocation.target + (is_distance ? 4 : 0));
    // Code of the large model adds such a distance to an address of its own, which may be where its function begins.
    if (is_distance) stay(functions_.holding(relocation.place));
  }

  // An array's entries count from its beginning, and addends from each entry.
  void keep_in_data(const Relocation& relocation, uint64_t row) {
    if (is_of_thread(relocation)) return;
    if (const Symbol* symbol = named_by(relocation)) stay(moving_at(symbol->value));
    stay_at_or_around(relocation.target);
    if (!is_pc_relative(relocation.type)) return;
    const uint64_t place = relocation.place;
    const auto stay_from = [&](uint64_t begin) { stay(moving_at(relocation.target - (place - begin))); };
    for (const std::vector<uint64_t>* list : {&named_anchors_, &anchors_}) {
      const auto behind = std::upper_bound(list->begin(), list->end(), place);
      if (behind != list->begin()) stay_from(*std::prev(behind));
    }
    // Entries of a row may be many, and so may the beginnings in it. Of most no distance leads into the text.
    const int64_t shift = static_cast<int64_t>(relocation.target - place);
    int64_t first = 0, end = 0;  // of the beginnings from which one does; a damaged file's are nowhere
    if (__builtin_sub_overflow(static_cast<int64_t>(image_.text_start()), shift, &first) ||
        __builtin_sub_overflow(static_cast<int64_t>(image_.text_end()), shift, &end))
      return;
    first = std::max(static_cast<int64_t>(row), first);
    end = std::min(static_cast<int64_t>(place), end);
    if (first >= end) return;
    auto anchor = std::lower_bound(anchors_.begin(), anchors_.end(), static_cast<uint64_t>(first));
    for (; anchor != anchors_.end() && *anchor < static_cast<uint64_t>(end); ++anchor) stay_from(*anchor);
  }

  bool is_in_table(uint64_t address) const {
    const auto behind = tables_.upper_bound(address);
    return behind != tables_.begin() && address < std::prev(behind)->second;
  }

  // Whether it jumps or runs into code that is no function's (-fbasic-block-sections). What that refers to isn't known.
  bool goes_on_in_part(uint32_t index) const {
    if (disassembly_.codes[index].falls_off_its_end) return true;
    const auto fields = disassembly_.fields_of(index);
    return std::any_of(fields.begin(), fields.end(), [this](const Field& field) {
      const bool jumps = field.kind == FieldKind::kJump || field.kind == FieldKind::kShortJump;
      return jumps && image_.in_text(field.target) && !functions_.holding(field.target);
    });
  }

  // IFUNCs' resolvers run before any pointer is led. What they give is made by them, or by what they call, or lies in a table.
  void keep_what_resolvers_give() {
    std::vector<uint32_t> reached;
    std::vector<uint64_t> read;  // of data
    std::vector<bool> is_reached(functions_.size());
    const auto reach = [&](uint64_t address) {
      const auto function = functions_.starting_at(address);
      if (!function || is_reached[*function]) return;
      is_reached[*function] = true;
      reached.push_back(*function);
    };
    for (const Symbol& symbol : image_.symbols())
      if (symbol.type == STT_GNU_IFUNC && symbol.section != SHN_UNDEF) reach(symbol.value);
    for (const Relocation& relocation : image_.dynamic_relocations())
      if (relocation.type == R_X86_64_IRELATIVE) reach(relocation.target);
    for (size_t at = 0; at < reached.size(); ++at) {
      if (goes_on_in_part(reached[at])) return stays_.assign(stays_.size(), true);
      for (const Field& field : disassembly_.fields_of(reached[at])) {
        if (field.kind == FieldKind::kCall || field.kind == FieldKind::kJump) reach(field.target);
        else if (image_.in_text(field.target)) stay_at_or_around(field.target);
        else read.push_back(field.target);
      }
    }
    keep_words_of(std::move(read));
  }

  // Of the objects that these addresses lie in. pre: slots_ ascend by address
  void keep_words_of(std::vector<uint64_t> addresses) {
    std::sort(addresses.begin(), addresses.end());
    const auto keep = [&](uint64_t begin, uint64_t end) {
      auto slot = std::lower_bound(slots_.begin(), slots_.end(), abi::PointerSlot{begin, 0, 0}, by_address);
      for (; slot != slots_.end() && slot->address < end; ++slot) stays_[slot->target] = true;
    };
    for (const uint64_t address : addresses) keep(address, address + sizeof(uint64_t));
    for (const Symbol& symbol : image_.symbols()) {
      if (symbol.type != STT_OBJECT) continue;
      const auto within = std::lower_bound(addresses.begin(), addresses.end(), symbol.value);
      if (within != addresses.end() && *within - symbol.value < symbol.bytes) keep(symbol.value, symbol.value + symbol.bytes);
    }
  }

  void take_loaders_words() {
    std::set<uint64_t> known;
    for (const abi::PointerSlot& slot : slots_) known.insert(slot.address);
    const auto take = [&](uint64_t place, uint64_t value) {
      const auto target = moving_at(value);
      if (!target || !known.insert(place).second) return;
      const Section* section = image_.section_at(place);
      if (section != nullptr && section->name.starts_with(".got")) slots_.push_back({place, *target, 0});
      else if (section == nullptr || !holds_no_pointer(section->name)) stay(target);
    };
    for (const Relocation& relocation : image_.dynamic_relocations())
      if (relocation.type == R_X86_64_RELATIVE) take(relocation.place, relocation.target);
    // Packed relocations, and programs at a fixed address: the word is in the file.
    for (const Section& section : image_.sections()) {
      if (!section.allocated() || !section.name.starts_with(".got")) continue;
      for (size_t at = 0; at + 8 <= section.bytes.size(); at += 8)
        take(section.header.sh_addr + at, read_as<uint64_t>(section.bytes.data() + at));
    }
  }

  Pointers finish() {
    const auto stays = [this](const auto& one) -> bool { return stays_[one.target]; };
    std::erase_if(slots_, stays);
    std::erase_if(fields_, stays);
    return {std::move(slots_), std::move(fields_)};
  }

  const ElfImage& image_;
  const FunctionTable& functions_;
  const Disassembly& disassembly_;
  std::map<uint64_t, uint64_t> tables_;  // of jumps: where each begins and ends
  std::vector<uint64_t> named_anchors_;  // by symbols, ascending
  std::vector<uint64_t> anchors_;        // all, ascending
  std::vector<bool> stays_;              // by function
  std::vector<abi::PointerSlot> slots_;
  std::vector<abi::PointerField> fields_;
};

}  // namespace

Pointers find_pointers(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
                       const std::vector<JumpTable>& tables) {
  return Finder(image, functions, disassembly, tables).find();
}

}  // namespace stab::postlink
