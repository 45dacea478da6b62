// Writing down what the runtime needs to move code: for every movable function its PC-relative fields, split
// into those whose target moves with the image (directed) and those whose target stays (fixed), and its jump
// tables. By far most fields are fixed (data, PLT) or calls; a fixed one costs two bytes. Behind them come each function's
// identity and pad, and the pointers that can be led.
#include "instrumenter/postlink/code_metadata.h"

#include <algorithm>

#include "instrumenter/postlink/identities.h"
#include "instrumenter/postlink/pointers.h"
#include "runtime/code_abi.h"

namespace stab::postlink {
namespace {

template <typename T>
void append(std::vector<uint8_t>& out, const T* values, size_t count) {
  const auto* begin = reinterpret_cast<const uint8_t*>(values);
  out.insert(out.end(), begin, begin + count * sizeof(T));
}

class Encoder {
 public:
  Encoder(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
          const std::vector<JumpTable>& tables)
      : image_(image), functions_(functions), disassembly_(disassembly), tables_(tables) {}

  std::vector<uint8_t> encode(uint64_t flags, const LongLoops& loops, const Identities& identities, const Pointers& pointers) {
    for (uint32_t index = 0; index < functions_.size(); ++index) take_function(index);
    abi::CodeHeader header{};
    std::copy(std::begin(abi::kCodeMagic), std::end(abi::kCodeMagic), header.magic);
    header.version = needs_version_3(flags) ? abi::kCodeVersion : abi::kOldestCodeVersion;
    header.header_bytes = sizeof header;
    header.text_start = image_.text_start();
    header.text_bytes = image_.text().size();
    const auto hashed = image_.text().subspan(code_functions_.empty() ? image_.text().size() : code_functions_.front().start);
    header.text_hash = abi::hash64(hashed.data(), hashed.size());
    header.flags = flags | abi::kCodeIdentities | abi::kCodePointers;
    header.function_count = static_cast<uint32_t>(code_functions_.size());
    header.table_count = static_cast<uint32_t>(code_tables_.size());
    header.target_count = static_cast<uint32_t>(targets_.size());
    header.directed_count = static_cast<uint32_t>(directed_.size());
    header.fixed_count = static_cast<uint32_t>(fixed_.size());
    header.loop_words = words_of(loops);
    std::vector<uint8_t> out;
    append(out, &header, 1);
    append(out, code_functions_.data(), code_functions_.size());
    append(out, code_tables_.data(), code_tables_.size());
    append(out, targets_.data(), targets_.size());
    append(out, directed_.data(), directed_.size());
    append(out, fixed_.data(), fixed_.size());
    if (header.loop_words != 0) append_loops(out, loops);
    out.resize((out.size() + 7) / 8 * 8);
    append(out, identities.of.data(), identities.of.size());
    append(out, identities.pads.data(), identities.pads.size());
    out.resize((out.size() + 7) / 8 * 8);
    const abi::PointerCounts counts{static_cast<uint32_t>(pointers.slots.size()), static_cast<uint32_t>(pointers.fields.size())};
    append(out, &counts, 1);
    append(out, pointers.slots.data(), pointers.slots.size());
    append(out, pointers.fields.data(), pointers.fields.size());
    return out;
  }

 private:
  static uint32_t words_of(const LongLoops& loops) {
    if (loops.records.empty()) return 0;
    return static_cast<uint32_t>(1 + loops.records.size() * sizeof(abi::LoopRecord) / 4 + loops.points.size());
  }

  static void append_loops(std::vector<uint8_t>& out, const LongLoops& loops) {
    out.resize((out.size() + 3) / 4 * 4);
    const auto records = static_cast<uint32_t>(loops.records.size());
    append(out, &records, 1);
    append(out, loops.records.data(), loops.records.size());
    append(out, loops.points.data(), loops.points.size());
  }

  bool needs_version_3(uint64_t flags) const {
    const auto is_new = [](const abi::CodeFunction& function) {
      return function.immovable >= abi::Immovable::kNoFrame || (function.flags & abi::kLeaves) != 0;
    };
    return (flags & abi::kCodeWalked) != 0 || std::any_of(code_functions_.begin(), code_functions_.end(), is_new);
  }

  void take_function(uint32_t index) {
    const Function& function = functions_[index];
    const FunctionCode& code = disassembly_.codes[index];
    while (next_table_ < tables_.size() && tables_[next_table_].function < index) ++next_table_;
    abi::CodeFunction out{};
    out.start = static_cast<uint32_t>(function.start - image_.text_start());
    out.bytes = static_cast<uint32_t>(function.bytes);
    out.first_directed = static_cast<uint32_t>(directed_.size());
    out.first_fixed = static_cast<uint32_t>(fixed_.size());
    out.first_table = static_cast<uint32_t>(code_tables_.size());
    out.immovable = function.immovable;
    if (function.immovable == abi::Immovable::kNo) {
      if (code.first_instruction_bytes == 1) out.flags |= abi::kFrontNop;
      if (function.leaves) out.flags |= abi::kLeaves;
      take_tables(index);
      take_fields(index);
    }
    out.directed_count = static_cast<uint32_t>(directed_.size()) - out.first_directed;
    out.fixed_count = static_cast<uint32_t>(fixed_.size()) - out.first_fixed;
    out.table_count = static_cast<uint16_t>(code_tables_.size() - out.first_table);
    code_functions_.push_back(out);
  }

  void take_tables(uint32_t index) {
    own_tables_.clear();
    for (; next_table_ < tables_.size() && tables_[next_table_].function == index; ++next_table_) {
      const JumpTable& table = tables_[next_table_];
      if (own_tables_.size() == UINT16_MAX) continue;  // the count's width; the others stay in the original
      own_tables_.push_back({&table, static_cast<uint32_t>(code_tables_.size())});
      abi::CodeTable out{};
      out.address = table.address;
      out.first_target = static_cast<uint32_t>(targets_.size());
      out.entry_count = static_cast<uint32_t>(table.targets.size());
      out.kind = table.kind;
      code_tables_.push_back(out);
      targets_.insert(targets_.end(), table.targets.begin(), table.targets.end());
    }
  }

  void take_fields(uint32_t index) {
    const Function& function = functions_[index];
    uint64_t last_fixed = function.start;
    for (const Field& field : disassembly_.fields_of(index)) {
      const auto at = static_cast<uint32_t>(field.place - function.start);
      if (const auto table = own_table_at(field.target);
          table && field.kind != FieldKind::kCall && field.kind != FieldKind::kJump) {
        direct(at, field.pc_relative() ? abi::FixupKind::kPcTable : abi::FixupKind::kAbsTable, *table);
        continue;
      }
      if (!field.pc_relative()) continue;
      if (const auto callee = moving_callee(field)) {
        direct(at, abi::FixupKind::kPcFunction, *callee);
        continue;
      }
      uint64_t distance = field.place - last_fixed;
      for (; distance >= abi::kFixedSkip; distance -= abi::kFixedSkip) fixed_.push_back(abi::kFixedSkip);
      fixed_.push_back(static_cast<uint16_t>(distance));
      last_fixed = field.place;
    }
  }

  // Calls and jumps to the entry of a function that moves go straight to its copy.
  std::optional<uint32_t> moving_callee(const Field& field) const {
    if (field.kind != FieldKind::kCall && field.kind != FieldKind::kJump) return std::nullopt;
    const auto callee = functions_.starting_at(field.target);
    if (!callee || functions_[*callee].immovable != abi::Immovable::kNo) return std::nullopt;
    return callee;
  }

  std::optional<uint32_t> own_table_at(uint64_t address) const {
    for (const OwnTable& own : own_tables_)
      if (own.table->contains(address)) return own.index;
    return std::nullopt;
  }

  void direct(uint32_t at, abi::FixupKind kind, uint32_t target) {
    directed_.push_back({at, static_cast<uint32_t>(kind) << 30 | target});
  }

  struct OwnTable {
    const JumpTable* table;
    uint32_t index;
  };

  const ElfImage& image_;
  const FunctionTable& functions_;
  const Disassembly& disassembly_;
  const std::vector<JumpTable>& tables_;
  size_t next_table_ = 0;
  std::vector<OwnTable> own_tables_;
  std::vector<abi::CodeFunction> code_functions_;
  std::vector<abi::CodeTable> code_tables_;
  std::vector<uint32_t> targets_;
  std::vector<abi::DirectedFixup> directed_;
  std::vector<uint16_t> fixed_;
};

}  // namespace

std::vector<uint8_t> encode_code_metadata(const ElfImage& image, const FunctionTable& functions,
                                          const Disassembly& disassembly,
                                          const std::vector<JumpTable>& tables,
                                          bool stacks_are_switched, bool is_walked, const LongLoops& loops) {
  return Encoder(image, functions, disassembly, tables)
      .encode((stacks_are_switched ? abi::kCodeSwitchesStacks : 0) | (is_walked ? abi::kCodeWalked : 0), loops,
              find_identities(image, functions, disassembly), find_pointers(image, functions, disassembly, tables));
}

}  // namespace stab::postlink
