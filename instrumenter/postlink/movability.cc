// Deciding who moves: a staircase of reasons to stay, the first that applies is recorded.
//
// A moved function has copies that run, and an original whose first five bytes become a jump to the newest
// copy while the rest stays as it is. The original's rest can still run: when the address of a label inside it
// became a value, when another function jumps into its middle, or when it jumps through a table we didn't
// recognize (tables keep leading into the original). That is correct as long as nothing there branches to
// bytes 1 to 4, which are now the middle of that jump. A branch to byte 0 is fine: it enters the newest copy
// with the state of an entry.
#include "instrumenter/postlink/movability.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "instrumenter/postlink/x86_64/saved_stack.h"
#include "instrumenter/postlink/x86_64/strays.h"
#include "runtime/arch/x86_64/stack_switch.h"
#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

using abi::Immovable;

constexpr uint64_t kPatchedEntryBytes = 5;  // jmp rel32
constexpr uint64_t kPatchedWordBytes = 8;   // patched by one aligned store

// A call of these returns a second time, to an address saved where nobody looks for it: in a jmp_buf or
// ucontext. __builtin_setjmp needs no entry: it saves a label of the original body.
constexpr std::string_view kReturnsTwice[] = {"setjmp",     "_setjmp",     "sigsetjmp",  "__sigsetjmp",
                                              "getcontext", "swapcontext", "vfork",      "__vfork",
                                              "savectx",    "_longjmp_unwind"};
// Of libc, and of Boost.Context as a shared library.
constexpr std::string_view kContextSwitches[] = {"makecontext",   "swapcontext",   "setcontext",
                                                 "make_fcontext", "jump_fcontext", "ontop_fcontext"};
// A signal handler's setjmp on a stack of sigaltstack's makes a context, too, which longjmp switches to.
constexpr std::string_view kSignalStacks[] = {"sigaltstack", "__sigaltstack"};
constexpr std::string_view kLongJumps[] = {"longjmp",       "_longjmp",          "siglongjmp",     "__longjmp_chk",
                                           "__libc_longjmp", "__libc_siglongjmp", "____longjmp_chk"};
// What these do it with, in a program that libc is part of.
constexpr std::string_view kLoadsOfLongJumps[] = {"__longjmp", "__longjmp_cancel"};
// The kernel loads the stack pointer that a handler of these leaves in its context.
constexpr std::string_view kSetsHandler[] = {"sigaction", "__sigaction", "__libc_sigaction"};
// The loader finds the file that calls these by the return address, and takes one in an image for the executable's: the search
// path, the scope and the next definition would be another's. In an executable that is right, but for RTLD_NEXT
// (runtime/code/names.cc).
constexpr std::string_view kAsksCaller[] = {"dlopen", "dlmopen", "dlsym", "dlvsym"};
// Rust's: it touches the pages of a large frame, and puts the stack pointer back by an addition.
constexpr std::string_view kTouchesStack[] = {"__rust_probestack"};
// libgcc's unwinder, linked statically: it goes back on the stack that it is on.
constexpr std::string_view kUnwinds[] = {"_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_Resume_or_Rethrow",
                                         "_Unwind_ForcedUnwind"};

template <size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name.substr(0, name.find('@'))) != std::end(names);
}

// The function name a field refers to, empty if it is no function.
std::string_view name_of_target(const Field& field, const Callees& callees, const FunctionTable& functions) {
  if (field.kind == FieldKind::kMemory) return callees.imported_in_slot(field.target);
  if (const auto own = functions.starting_at(field.target)) return functions[*own].name;
  return callees.imported_through_plt(field.target);
}

template <size_t N>
bool refers_to_one_of(const std::string_view (&names)[N], uint32_t function, const Callees& callees,
                      const Disassembly& disassembly, const FunctionTable& functions) {
  const auto fields = disassembly.fields_of(function);
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    return is_one_of(name_of_target(field, callees, functions), names);
  });
}

// call *slot(%rip), jmp *slot(%rip): by the two bytes in front of the displacement.
bool goes_through(const ElfImage& image, const Field& field, uint8_t modrm) {
  if (field.kind != FieldKind::kMemory) return false;
  const auto bytes = image.text_at(field.place - 2, 2);
  return bytes[0] == 0xff && bytes[1] == modrm;
}
constexpr uint8_t kCallsSlot = 0x15, kJumpsToSlot = 0x25;

// Who asks for its caller in a shared library: what calls one of kAsksCaller, and what calls a function that ends in a jump to
// one, as the loader then sees a return address in the caller. Where the library has the address of one as a value, whatever is
// called through a pointer may be it.
class Askers {
 public:
  Askers(const ElfImage& image, const Callees& callees, const Disassembly& disassembly, const FunctionTable& functions)
      : image_(image), callees_(callees), disassembly_(disassembly), functions_(functions), asks_(functions.size()),
        hands_on_(functions.size()) {
    if (!image.is_shared_library()) return;
    const bool by_pointer = has_address();
    for (uint32_t index = 0; index < functions.size(); ++index) begin(index, by_pointer);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t index = 0; index < functions.size(); ++index) changed |= follow(index);
    }
  }

  bool asks(uint32_t index) const { return asks_[index]; }

 private:
  bool is_named(const Field& field) const { return is_one_of(name_of_target(field, callees_, functions_), kAsksCaller); }

  bool has_address() const {
    const auto& symbols = image_.dynamic_symbols();
    for (const Relocation& relocation : image_.dynamic_relocations())
      if (relocation.type == R_X86_64_64 && relocation.symbol < symbols.size() &&
          is_one_of(symbols[relocation.symbol].name, kAsksCaller))
        return true;
    return std::any_of(disassembly_.fields.begin(), disassembly_.fields.end(), [this](const Field& field) {
      const bool loads = field.kind == FieldKind::kMemory && !goes_through(image_, field, kCallsSlot) &&
                         !goes_through(image_, field, kJumpsToSlot);
      return (loads || field.kind == FieldKind::kAddress) && is_named(field);
    });
  }

  void begin(uint32_t index, bool by_pointer) {
    const FunctionCode& code = disassembly_.codes[index];
    uint32_t calls = code.indirect_calls, jumps = code.indirect_jumps;  // through pointers
    for (const Field& field : disassembly_.fields_of(index)) {
      const bool is_call = goes_through(image_, field, kCallsSlot), is_jump = goes_through(image_, field, kJumpsToSlot);
      const bool has_name = !callees_.imported_in_slot(field.target).empty();
      if (is_call && has_name) --calls;
      if (is_jump && has_name) --jumps;
      if (!is_named(field)) continue;
      asks_[index] = true;
      if (field.kind == FieldKind::kJump || is_jump) hands_on_[index] = true;
    }
    if (by_pointer && calls + jumps > 0) asks_[index] = true;
    if (by_pointer && jumps > 0) hands_on_[index] = true;
  }

  bool follow(uint32_t index) {
    bool changed = false;
    const auto set = [&](std::vector<bool>& of) {
      changed |= !of[index];
      of[index] = true;
    };
    for (const Field& field : disassembly_.fields_of(index)) {
      const bool jumps = field.kind == FieldKind::kJump || field.kind == FieldKind::kShortJump ||
                         goes_through(image_, field, kJumpsToSlot);
      if (!jumps && field.kind != FieldKind::kCall && !goes_through(image_, field, kCallsSlot)) continue;
      const auto callee = field.kind == FieldKind::kMemory ? callees_.function_in_slot(functions_, field.target)
                                                           : callees_.function_entered(functions_, field.target);
      if (!callee || !hands_on_[*callee]) continue;
      set(asks_);
      if (jumps) set(hands_on_);
    }
    return changed;
  }

  const ElfImage& image_;
  const Callees& callees_;
  const Disassembly& disassembly_;
  const FunctionTable& functions_;
  std::vector<bool> asks_;
  std::vector<bool> hands_on_;  // ends in a jump to one, with the return address of its own caller
};

// Where compilers keep arrays of labels: in constants and in data. What is in other sections is of the program's own making.
bool may_hold_labels(std::string_view section) {
  return section.starts_with(".rodata") || section.starts_with(".lrodata") || section.starts_with(".data") ||
         section.starts_with(".ldata");
}

class Judge {
 public:
  Judge(const ElfImage& image, const Callees& callees, const Disassembly& disassembly, const References& references,
        const std::vector<JumpTable>& tables, const ForeignRules& rules, bool foreign_moves, const FunctionTable& functions)
      : image_(image), callees_(callees), disassembly_(disassembly), references_(references), tables_(tables), rules_(rules),
        foreign_moves_(foreign_moves), functions_(functions), askers_(image, callees, disassembly, functions) {
    loose_labels_ = find_loose_labels(image, functions, disassembly, references, tables);
    for (const JumpTable& table : tables) table_ranges_.push_back({table.address, table.end()});
    std::sort(table_ranges_.begin(), table_ranges_.end());
    for (const Symbol& symbol : image.symbols())
      if (symbol.section != SHN_UNDEF && symbol.name.find('.') != std::string_view::npos)
        part_starts_.emplace_back(symbol.value, symbol.name);
    std::sort(part_starts_.begin(), part_starts_.end());
  }

  Immovable decide(uint32_t index) const {
    const Function& function = functions_[index];
    const FunctionCode& code = disassembly_.codes[index];
    if (function.runtime) return Immovable::kRuntime;
    // It compares each return address with the one that the original would have.
    if (code.marks_stack_pointer) return Immovable::kAssembly;
    if (function.foreign && !foreign_moves_) return Immovable::kForeign;
    const bool is_unseen = function.foreign || !functions_.has_compiled_list();
    if (is_unseen && rules_.is_walked()) return Immovable::kWalksCode;
    if (function.bytes == 0) return Immovable::kNoSize;
    if (function.overlaps) return Immovable::kOverlaps;
    if (function.bytes < kPatchedEntryBytes) return Immovable::kTooShort;
    if (function.start % kPatchedWordBytes > kPatchedWordBytes - kPatchedEntryBytes)
      return Immovable::kEntryCrosses8;
    if (!code.decoded || !code.fields_match_relocations) return Immovable::kUndecodable;
    if (code.unresolvable || code.makes_wide_address) return Immovable::kUnresolvedField;
    if (code.short_jump_leaves || is_entered_by_short_jump(function)) return Immovable::kCrossShortJump;
    // A compiled function that runs off its end does so only in undefined behaviour, or into a part of it that was split off
    // and begins there (-fbasic-block-sections, from where the linker may take the jump); assembly may mean it.
    if (code.falls_off_its_end && is_unseen) return Immovable::kFallsThrough;
    if ((code.falls_off_its_end || code.ends_with_call) && goes_on_in_part(function)) return Immovable::kFallsThrough;
    if (refers_to_one_of(kReturnsTwice, index, callees_, disassembly_, functions_))
      return Immovable::kReturnsTwice;
    if (askers_.asks(index)) return Immovable::kAsksCaller;
    // For compilers its entry is in the middle of a function, and a comparison before may be used after it.
    if (!function.parent_of_cold_part().empty() && is_jumped_to(function)) return Immovable::kColdPart;
    if (entry_is_target(index)) return Immovable::kEntryIsTarget;
    if (is_known_by_its_places(index)) return Immovable::kAssembly;
    if (function.foreign) return rules_.decide(index);
    return is_unseen ? rules_.decide_exceptions(function) : Immovable::kNo;
  }

  // Whether data or code holds an address inside it, so that a copy may jump there.
  bool has_labels(uint32_t index) const {
    const Function& function = functions_[index];
    if (disassembly_.codes[index].indirect_jumps == 0) return false;
    for (const Reference& reference : references_.into(function.start + 1, function.end()))
      if (!reference.branch && !is_table_entry(reference.place)) return true;
    return has_loose_label(function.start + 1, function.end());
  }

 private:
  // Parts of blocks are symbols without a type, "f.__part.1".
  bool goes_on_in_part(const Function& function) const {
    const std::string prefix = std::string(function.name) + ".";
    auto part = std::lower_bound(part_starts_.begin(), part_starts_.end(), std::pair(function.end(), std::string_view()));
    if (part == part_starts_.end()) return false;
    // Nops may align the part.
    const uint64_t start = part->first;
    if (functions_.next_sized_after(function.end() - 1) < start) return false;
    for (; part != part_starts_.end() && part->first == start; ++part)
      if (part->second.starts_with(prefix)) return true;
    return false;
  }

  bool is_entered_by_short_jump(const Function& function) const {
    for (const Reference& reference : references_.into(function.start + 1, function.end()))
      if (is_a(FieldKind::kShortJump, reference)) return true;
    return false;
  }

  bool is_jumped_to(const Function& function) const {
    for (const Reference& reference : references_.into(function.start, function.start + 1))
      if (is_a(FieldKind::kJump, reference) || is_a(FieldKind::kShortJump, reference)) return true;
    return false;
  }

  bool is_a(FieldKind kind, const Reference& reference) const {
    if (!reference.branch || reference.from == kNoFunction) return false;
    for (const Field& field : disassembly_.fields_of(reference.from))
      if (field.place == reference.place) return field.kind == kind;
    return false;
  }

  // Whether somebody may ask which of its instructions a thread is at: the kernel by the table of a restartable sequence
  // (rseq), a signal handler by one of loads that may fault. No copy lies at those addresses. Assembly in the function
  // writes them into a section of their own, or names a place for other functions; compilers do neither.
  bool is_known_by_its_places(uint32_t index) const {
    const Function& function = functions_[index];
    for (const Reference& reference : references_.into(function.start + 1, function.end())) {
      if (reference.branch || reference.from == index || is_table_entry(reference.place)) continue;
      if (reference.from != kNoFunction) return true;
      const Section* const section = image_.section_at(reference.place);
      if (section != nullptr && !section->executable() && !may_hold_labels(section->name)) return true;
    }
    return false;
  }

  bool entry_is_target(uint32_t index) const {
    const Function& function = functions_[index];
    // Addresses of bytes 1 to 4 that are known as such, from anywhere but its own direct branches.
    for (const Reference& reference :
         references_.into(function.start + 1, function.start + kPatchedEntryBytes))
      if (!is_table_entry(reference.place)) return true;
    if (has_loose_label(function.start + 1, function.start + kPatchedEntryBytes)) return true;
    const auto [tables, targets_entry] = tables_of(index);
    const bool branches = disassembly_.codes[index].branches_into_entry || targets_entry;
    return branches && original_can_run(index, tables);
  }

  bool original_can_run(uint32_t index, uint32_t recognized_tables) const {
    const Function& function = functions_[index];
    for (const Reference& reference : references_.into(function.start + 1, function.end()))
      if (!is_table_entry(reference.place)) return true;
    // Each recognized table explains one indirect jump; what the others do isn't known.
    return disassembly_.codes[index].indirect_jumps > recognized_tables;
  }

  bool has_loose_label(uint64_t begin, uint64_t end) const {
    const auto label = std::lower_bound(loose_labels_.begin(), loose_labels_.end(), begin);
    return label != loose_labels_.end() && *label < end;
  }

  std::span<const JumpTable> own_tables(uint32_t index) const {
    const auto first = std::lower_bound(
        tables_.begin(), tables_.end(), index,
        [](const JumpTable& table, uint32_t function) { return table.function < function; });
    auto last = first;
    while (last != tables_.end() && last->function == index) ++last;
    return std::span(tables_).subspan(static_cast<size_t>(first - tables_.begin()),
                                      static_cast<size_t>(last - first));
  }

  // Entries of recognized tables lead nowhere else. (The relocation of a position-independent entry even names
  // a wrong address, as its addend grows along the table.)
  bool is_table_entry(uint64_t place) const {
    const auto after = std::upper_bound(table_ranges_.begin(), table_ranges_.end(), place,
                                        [](uint64_t value, const auto& range) { return value < range.first; });
    return after != table_ranges_.begin() && place < (after - 1)->second;
  }

  // How many tables the function has, and whether an entry leads to its bytes 1 to 4.
  std::pair<uint32_t, bool> tables_of(uint32_t index) const {
    const auto tables = own_tables(index);
    const bool targets_entry = std::any_of(tables.begin(), tables.end(), [](const JumpTable& table) {
      return std::any_of(table.targets.begin(), table.targets.end(),
                         [](uint32_t target) { return target < kPatchedEntryBytes; });
    });
    return {static_cast<uint32_t>(tables.size()), targets_entry};
  }

  const ElfImage& image_;
  const Callees& callees_;
  const Disassembly& disassembly_;
  const References& references_;
  const std::vector<JumpTable>& tables_;
  const ForeignRules& rules_;
  bool foreign_moves_;
  const FunctionTable& functions_;
  Askers askers_;
  std::vector<std::pair<uint64_t, std::string_view>> part_starts_;  // where symbols "f.something" are, ascending
  std::vector<uint64_t> loose_labels_;                       // ascending
  std::vector<std::pair<uint64_t, uint64_t>> table_ranges_;  // ascending, [address, end)
};

}  // namespace

void decide_movability(const ElfImage& image, const Callees& callees, const Disassembly& disassembly,
                       const References& references, const std::vector<JumpTable>& tables, const ForeignRules& rules,
                       bool foreign_moves, FunctionTable& functions) {
  const Judge judge(image, callees, disassembly, references, tables, rules, foreign_moves, functions);
  for (uint32_t index = 0; index < functions.size(); ++index) {
    Function& function = functions.all()[index];
    function.immovable = judge.decide(index);
    function.leaves = function.foreign && function.immovable == Immovable::kNo && judge.has_labels(index);
  }
}

namespace {

// An array in the data that a program makes executable, or copies to where it may be executed.
bool data_switch_stacks(const ElfImage& image) {
  return std::any_of(image.sections().begin(), image.sections().end(), [](const Section& section) {
    const bool is_data = section.allocated() && !section.executable() && section.header.sh_type == SHT_PROGBITS;
    return is_data && arch::x86_64::holds_stack_switch(section.bytes);
  });
}

// Whether a function loads the stack pointer itself, and not only to go back on the stack that it is on.
bool loads_stack(const ElfImage& image, const Function& function, const FunctionCode& code) {
  // longjmp alone goes back on the same stack; the dynamic linker's resolver restores its own.
  const bool known = is_one_of(function.name, kLongJumps) || is_one_of(function.name, kLoadsOfLongJumps) ||
                     function.name.starts_with("_dl_runtime_") || function.runtime ||
                     is_one_of(function.name, kContextSwitches) || is_one_of(function.name, kUnwinds) ||
                     is_one_of(function.name, kTouchesStack);
  if (known) return false;
  if (code.loads_stack_from_elsewhere) return true;
  const bool by_frame_pointer = code.loads_frame_pointer_from_elsewhere && code.loads_stack_from_frame_pointer;
  const bool by_saved = code.loads_stack_from_register || code.loads_stack_from_frame;
  return ((function.foreign && by_saved) || by_frame_pointer || code.loads_stack_from_variable) &&
         !goes_back_on_its_stack(image.text_at(function.start, function.bytes));
}

}  // namespace

bool switches_to_arrays(const ElfImage& image, const Disassembly& disassembly, const FunctionTable& functions) {
  if (image.find_section(abi::kStackArraysSection) == nullptr) return false;
  if (strays_switch_stacks(image, disassembly, functions)) return true;
  for (uint32_t index = 0; index < functions.size(); ++index)
    if (loads_stack(image, functions[index], disassembly.codes[index])) return true;
  return false;
}

bool switches_by_jumps(const ElfImage& image, const Callees& callees, const Disassembly& disassembly,
                       const FunctionTable& functions) {
  if (image.find_section(abi::kJumpSwitchesSection) == nullptr) return false;
  for (uint32_t index = 0; index < functions.size(); ++index)
    if (refers_to_one_of(kLongJumps, index, callees, disassembly, functions)) return true;
  return false;
}

bool switches_stacks(const ElfImage& image, const Callees& callees, const Disassembly& disassembly,
                     const FunctionTable& functions) {
  if (strays_switch_stacks(image, disassembly, functions)) return true;
  if (data_switch_stacks(image)) return true;
  // Who measures the stack may copy it, and longjmp into what was put back.
  bool makes_stack = image.find_section(abi::kStackCopiesSection) != nullptr, jumps = false;
  const bool handler_switches = image.find_section(abi::kSignalSwitchesSection) != nullptr;
  for (uint32_t index = 0; index < functions.size(); ++index) {
    const Function& function = functions[index];
    const FunctionCode& code = disassembly.codes[index];
    if (code.makes_wide_address && !function.runtime) return true;  // it may call what does
    if (refers_to_one_of(kContextSwitches, index, callees, disassembly, functions)) return true;
    makes_stack = makes_stack || refers_to_one_of(kSignalStacks, index, callees, disassembly, functions);
    jumps = jumps || refers_to_one_of(kLongJumps, index, callees, disassembly, functions);
    if (makes_stack && jumps) return true;
    const bool sets_handler = !function.runtime && refers_to_one_of(kSetsHandler, index, callees, disassembly, functions);
    if (handler_switches && sets_handler) return true;
    if (loads_stack(image, function, code)) return true;
  }
  return false;
}

}  // namespace stab::postlink
