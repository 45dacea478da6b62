// Fields of the code tell where instructions make an address, kept relocations what data holds, and the dynamic ones what the
// loader writes into the global offset table, which has no kept ones.
#include "instrumenter/postlink/pointers.h"

#include <algorithm>
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

class Finder {
 public:
  Finder(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly)
      : image_(image), functions_(functions), disassembly_(disassembly), stays_(functions.size()) {}

  Pointers find() {
    keep_exported();
    keep_boundaries();
    for (uint32_t index = 0; index < functions_.size(); ++index) take_code(index);
    for (const Section& section : image_.sections()) take_data(section);
    take_loaders_words();
    return finish();
  }

 private:
  std::optional<uint32_t> moving_at(uint64_t address) const {
    const auto found = functions_.starting_at(address);
    return found && functions_[*found].immovable == abi::Immovable::kNo ? found : std::nullopt;
  }

  void stay(std::optional<uint32_t> function) {
    if (function) stays_[*function] = true;
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

  void take_code(uint32_t index) {
    const bool moves = functions_[index].immovable == abi::Immovable::kNo;
    for (const Field& field : disassembly_.fields_of(index)) {
      const auto target = moving_at(field.target);
      if (!target || field.kind == FieldKind::kCall || field.kind == FieldKind::kJump || field.kind == FieldKind::kShortJump)
        continue;
      if (field.kind == FieldKind::kMemory) continue;  // reads its bytes, which a copy has, too
      if (field.kind == FieldKind::kAddress && moves)
        fields_.push_back({index, static_cast<uint32_t>(field.place - functions_[index].start), *target});
      else
        stay(target);
    }
  }

  void take_data(const Section& section) {
    if (!section.allocated() || holds_no_pointer(section.name)) return;
    for (const Relocation& relocation : image_.kept_relocations(section)) {
      if (section.executable() && is_decoded(functions_, disassembly_, relocation.place)) continue;
      // In code that isn't decoded an addend counts from the field, and the target from the instruction's end.
      if (section.executable()) {
        stay(moving_at(relocation.target));
        stay(moving_at(relocation.target + 4));
        continue;
      }
      const auto target = moving_at(relocation.target);
      if (!target) continue;
      // A thread's variables are copied from here before the program's first instruction.
      const bool is_word = relocation.type == R_X86_64_64 && (section.header.sh_flags & SHF_TLS) == 0;
      if (is_word) slots_.push_back({relocation.place, *target, 0});
      else stay(target);
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
    std::sort(slots_.begin(), slots_.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
    return {std::move(slots_), std::move(fields_)};
  }

  const ElfImage& image_;
  const FunctionTable& functions_;
  const Disassembly& disassembly_;
  std::vector<bool> stays_;  // by function
  std::vector<abi::PointerSlot> slots_;
  std::vector<abi::PointerField> fields_;
};

}  // namespace

Pointers find_pointers(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly) {
  return Finder(image, functions, disassembly).find();
}

}  // namespace stab::postlink
