// Disassembling every function and noting its references.
//
// The final bytes decide: whatever the linker relaxed is already in them. The kept relocations serve twice as a
// second witness. A PC32 or PLT32 relocation inside a function must sit on a field we found, or there is data
// among the code and the function is left alone. And only relocations can tell that a 32-bit displacement or
// immediate is an absolute address (non-PIC code). A third witness are the function's own branches: one into the
// middle of what we took for an instruction means data among the code, too.
#include "instrumenter/postlink/fields.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

constexpr uint64_t kPatchedEntryBytes = 5;  // jmp rel32

class FunctionReader {
 public:
  FunctionReader(const ElfImage& image, const Function& function, std::span<const Relocation> relocations,
                 Disassembly& disassembly)
      : image_(image), function_(function), relocations_(relocations), fields_(disassembly.fields), starts_(disassembly.starts) {}

  FunctionCode read() {
    const auto bytes = image_.text_at(function_.start, function_.bytes);
    const size_t first_field = fields_.size();
    code_.first_field = static_cast<uint32_t>(first_field);
    code_.makes_wide_address = std::any_of(relocations_.begin(), relocations_.end(), [this](const Relocation& relocation) {
      return is_wide_address_of_code(relocation);
    });
    Instruction instruction;
    bool flow_ended = false;
    for (size_t at = 0; at < bytes.size(); at += instruction.length) {
      if (!decode(bytes.subspan(at), instruction)) return undecoded(first_field);
      start(at) = true;
      if (at == 0) code_.first_instruction_bytes = instruction.length;
      take(instruction, function_.start + at, bytes.data() + at);
      const bool calls = instruction.is_call() || instruction.is_indirect_call();
      if (is_padding(instruction)) continue;
      flow_ended = instruction.ends_flow() || calls;
      code_.ends_with_call = calls;
    }
    if (!std::all_of(own_targets_.begin(), own_targets_.end(), [this](uint64_t offset) { return bool{start(offset)}; }))
      return undecoded(first_field);
    code_.decoded = true;
    code_.falls_off_its_end = !flow_ended;
    code_.field_count = static_cast<uint32_t>(fields_.size() - first_field);
    return code_;
  }

 private:
  std::vector<bool>::reference start(uint64_t offset) { return starts_[function_.start - image_.text_start() + offset]; }

  FunctionCode undecoded(size_t first_field) {
    for (uint64_t offset = 0; offset < function_.bytes; ++offset) start(offset) = false;
    fields_.resize(first_field);
    return {.first_field = code_.first_field, .makes_wide_address = code_.makes_wide_address};
  }

  bool is_wide_address_of_code(const Relocation& relocation) const {
    switch (relocation.type) {
      case R_X86_64_PLTOFF64:
      case R_X86_64_GOT64:
      case R_X86_64_GOTPLT64:
      case R_X86_64_GOTPCREL64: return true;
      case R_X86_64_64:
      case R_X86_64_GOTOFF64: break;
      default: return false;
    }
    const bool is_imported = relocation.symbol != 0 && relocation.symbol < image_.symbols().size() &&
                             image_.symbols()[relocation.symbol].section == SHN_UNDEF;
    return is_imported || image_.in_text(relocation.target);
  }

  static bool is_padding(const Instruction& instruction) {
    const bool long_nop = !instruction.is_vector && instruction.map == 1 && instruction.opcode == 0x1f;
    return instruction.plain(0x90) || long_nop;
  }

  void take(const Instruction& instruction, uint64_t address, const uint8_t* bytes) {
    if (instruction.is_indirect_jump()) ++code_.indirect_jumps;
    if (instruction.is_indirect_call()) ++code_.indirect_calls;
    code_.loads_stack_from_elsewhere |= instruction.loads_stack_from_elsewhere();
    code_.loads_stack_from_register |= instruction.loads_stack_from_register();
    code_.loads_stack_from_frame |= instruction.loads_stack_from_frame();
    code_.loads_stack_from_variable |= instruction.loads_stack_from_variable();
    code_.loads_stack_from_frame_pointer |= instruction.loads_stack_from_frame_pointer();
    code_.loads_frame_pointer_from_elsewhere |= instruction.loads_frame_pointer_from_elsewhere();
    code_.marks_stack_pointer |= instruction.marks_stack_pointer();
    const uint64_t next = address + instruction.length;
    uint64_t pc_field = 0;
    if (instruction.is_branch) {
      pc_field = take_branch(instruction, address, next, bytes);
    } else if (instruction.rip_relative) {
      pc_field = address + instruction.displacement_at;
      if (instruction.address_size_32) code_.unresolvable = true;  // relative to eip
      const auto distance = int64_t{read_as<int32_t>(bytes + instruction.displacement_at)};
      fields_.push_back({pc_field, next + static_cast<uint64_t>(distance),
                         instruction.is_lea() ? FieldKind::kAddress : FieldKind::kMemory});
    }
    const size_t fields_before = fields_.size();
    match_relocations(instruction, address, next, pc_field);
    follow_load(instruction, fields_before);
  }

  // `mov disp32(,%index,8), %reg` directly in front of `jmp *%reg`.
  void follow_load(const Instruction& instruction, size_t fields_before) {
    if (loaded_ && instruction.is_indirect_jump() && instruction.names_registers() && instruction.rm() == loaded_->second)
      fields_[loaded_->first].next_jumps = true;
    loaded_.reset();
    const bool loads_word = instruction.plain(0x8b) && instruction.has_rex_w() && instruction.indexes_words;
    if (loads_word && fields_.size() == fields_before + 1 && fields_.back().indexes_words)
      loaded_ = {fields_before, instruction.reg()};
  }

  uint64_t take_branch(const Instruction& instruction, uint64_t address, uint64_t next,
                       const uint8_t* bytes) {
    const uint64_t place = address + instruction.immediate_at;
    const bool is_short = instruction.immediate_bytes == 1;
    const int64_t distance = is_short ? int64_t{read_as<int8_t>(bytes + instruction.immediate_at)}
                                      : int64_t{read_as<int32_t>(bytes + instruction.immediate_at)};
    const uint64_t target = next + static_cast<uint64_t>(distance);
    const bool self_call = instruction.is_call() && target == function_.start;
    if (function_.contains(target) && !self_call) {
      const uint64_t offset = target - function_.start;
      own_targets_.push_back(offset);
      if (offset > 0 && offset < kPatchedEntryBytes) code_.branches_into_entry = true;
      // `call 1f; 1: pop %rax` makes a value of its own position.
      if (instruction.is_call()) code_.unresolvable = true;
      return place;
    }
    if (is_short) {
      code_.short_jump_leaves = true;
      fields_.push_back({place, target, FieldKind::kShortJump});
      return place;
    }
    fields_.push_back({place, target, instruction.is_call() ? FieldKind::kCall : FieldKind::kJump});
    return place;
  }

  void match_relocations(const Instruction& instruction, uint64_t address, uint64_t next,
                         uint64_t pc_field) {
    while (next_relocation_ < relocations_.size() && relocations_[next_relocation_].place < next) {
      const Relocation& relocation = relocations_[next_relocation_++];
      if (relocation.place < address) continue;
      switch (relocation.type) {
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
          if (relocation.place != pc_field && !is_relaxed_tls_call(relocation))
            code_.fields_match_relocations = false;
          break;
        case R_X86_64_32:
        case R_X86_64_32S: take_absolute(instruction, address, relocation); break;
        case R_X86_64_64:
          fields_.push_back({relocation.place, relocation.target, FieldKind::kAbsolute64});
          break;
        default: break;
      }
    }
  }

  // General and local dynamic TLS sequences lose their call to __tls_get_addr when the linker relaxes them,
  // the relocation stays.
  bool is_relaxed_tls_call(const Relocation& relocation) const {
    return relocation.symbol < image_.symbols().size() &&
           image_.symbols()[relocation.symbol].name.starts_with("__tls_get_addr");
  }

  void take_absolute(const Instruction& instruction, uint64_t address, const Relocation& relocation) {
    const uint64_t at = relocation.place - address;
    const bool on_displacement = instruction.displacement_bytes == 4 &&
                                 at == instruction.displacement_at && !instruction.rip_relative;
    const bool on_immediate = instruction.immediate_bytes == 4 && at == instruction.immediate_at &&
                              !instruction.is_branch;
    if (!on_displacement && !on_immediate) {
      code_.fields_match_relocations = false;
      return;
    }
    const auto value = int64_t{read_as<int32_t>(image_.text_at(relocation.place, 4).data())};
    const bool indexes_words = on_displacement && instruction.indexes_words;
    fields_.push_back({relocation.place, static_cast<uint64_t>(value), FieldKind::kAbsolute, indexes_words,
                       indexes_words && instruction.is_indirect_jump()});
  }

  const ElfImage& image_;
  const Function& function_;
  std::span<const Relocation> relocations_;
  size_t next_relocation_ = 0;
  std::vector<Field>& fields_;
  std::vector<bool>& starts_;
  std::vector<uint64_t> own_targets_;                      // of its branches into itself, from its start
  std::optional<std::pair<size_t, unsigned>> loaded_;      // the instruction before: its field, and the register it loads
  FunctionCode code_;
};

// The relocations of all executable sections, ascending by place.
std::vector<Relocation> text_relocations(const ElfImage& image) {
  std::vector<Relocation> all;
  for (const Section& section : image.sections()) {
    if (!section.allocated() || !section.executable()) continue;
    const auto own = image.kept_relocations(section);
    all.insert(all.end(), own.begin(), own.end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Relocation& a, const Relocation& b) { return a.place < b.place; });
  return all;
}

std::span<const Relocation> relocations_in(std::span<const Relocation> all, const Function& function) {
  const auto begin =
      std::lower_bound(all.begin(), all.end(), function.start,
                       [](const Relocation& relocation, uint64_t value) { return relocation.place < value; });
  auto end = begin;
  while (end != all.end() && end->place < function.end()) ++end;
  return all.subspan(static_cast<size_t>(begin - all.begin()), static_cast<size_t>(end - begin));
}

}  // namespace

Disassembly disassemble(const ElfImage& image, const FunctionTable& functions) {
  Disassembly disassembly;
  const std::vector<Relocation> relocations = text_relocations(image);
  disassembly.text_start = image.text_start();
  disassembly.starts.resize(image.text().size());
  disassembly.codes.reserve(functions.size());
  disassembly.fields.reserve(relocations.size());
  for (const Function& function : functions.all())
    disassembly.codes.push_back(
        FunctionReader(image, function, relocations_in(relocations, function), disassembly).read());
  return disassembly;
}

}  // namespace stab::postlink
