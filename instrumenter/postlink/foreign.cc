// Deciding about code of gcc, rustc, GNAT, the D compilers and others.
//
// Of what our pass compiled we know how it was made. Here the final bytes have to show that a compiler made the function,
// and that nothing looks at where it runs:
//
// - An unwind entry of exactly its extent. Compilers write one for each function on x86-64; assembly, crt files and data
//   among the code mostly have none, or another extent.
// - Nothing that no compiler does: flags that are alive at its entry, jumps from the middle of one function into the middle of
//   another that isn't its cold part.
// - Its exceptions are handled by a routine that is known to take the function's start, which our runtime shifts, and places
//   relative to it: C++'s, C's, Rust's, Ada's, D's, Objective-C's. Its landing pads lie inside it, counted from its start.
// - No runtime in the program walks code addresses (walkers.h), and libc is no part of the file: which of a static
//   program's functions run before the runtime does, or with no stack to speak of, names alone don't tell.
#include "instrumenter/postlink/foreign.h"

#include <algorithm>
#include <string_view>

#include "instrumenter/postlink/walkers.h"
#include "instrumenter/postlink/x86_64/flags.h"

namespace stab::postlink {
namespace {

using abi::Immovable;

// They use _Unwind_GetRegionStart, _Unwind_GetIP and the exception table, nothing else that is an address of code.
constexpr std::string_view kPersonalities[] = {
    "__gxx_personality_v0", "__gcc_personality_v0", "__gnat_personality_v0", "__gdc_personality_v0",
    "_d_eh_personality",    "__gnu_objc_personality_v0", "__objc_personality_v0"};
// Rust mangles it since 1.90 or so, with its crate in front.
constexpr std::string_view kRustPersonality = "rust_eh_personality";

// The word that holds a personality's address for position-independent code is called DW.ref.NAME.
constexpr std::string_view kHolder = "DW.ref.";

bool is_known_name(std::string_view name) {
  name = name.substr(0, name.find('@'));
  return name.find(kRustPersonality) != std::string_view::npos ||
         std::find(std::begin(kPersonalities), std::end(kPersonalities), name) != std::end(kPersonalities);
}

}  // namespace

ForeignRules::ForeignRules(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly,
                           const Callees& callees, const References& references)
    : image_(image), functions_(functions), disassembly_(disassembly), callees_(callees), references_(references),
      frames_(read_frames(image)) {
  for (const Symbol& symbol : image.symbols())
    if (symbol.type == STT_GNU_IFUNC && symbol.section != SHN_UNDEF) resolvers_.push_back(symbol.value);
  std::sort(resolvers_.begin(), resolvers_.end());
  for (const Frame& frame : frames_)
    if (frame.personality != 0 && !personalities_.contains(frame.personality))
      personalities_[frame.personality] = names_known_personality(frame);
  is_walked_ = !code_walker_in(image).empty();
  for (const Function& function : functions.all())
    if (!function.parent_of_cold_part().empty()) parents_.insert({function.parent_of_cold_part(), 0});
  // By all its names: constructors have two, and the part may be called after either.
  for (const Symbol& symbol : image.symbols())
    if (symbol.type == STT_FUNC && symbol.section != SHN_UNDEF && parents_.contains(symbol.name))
      parents_.insert({symbol.name, symbol.value});
  holds_libc_ = !image.has_program_interpreter() && !image.is_shared_library();
}

Immovable ForeignRules::decide(uint32_t index) const {
  const Function& function = functions_[index];
  if (is_system(function)) return Immovable::kSystem;
  const Frame* frame = frame_at(frames_, function.start);
  if (frame == nullptr || frame->bytes != function.bytes) return Immovable::kNoFrame;
  if (jumps_as_assembly(index) || flags_alive_at_entry(image_, functions_, function)) return Immovable::kAssembly;
  return decide_exceptions(function);
}

Immovable ForeignRules::decide_exceptions(const Function& function) const {
  const Frame* frame = frame_at(frames_, function.start);
  if (frame == nullptr || frame->personality == 0) return Immovable::kNo;
  return personalities_.at(frame->personality) && pads_follow_start(image_, *frame) ? Immovable::kNo : Immovable::kLandingPads;
}

bool ForeignRules::is_system(const Function& function) const {
  return holds_libc_ || function.contains(image_.header().e_entry) || function.name.starts_with("_Unwind_") ||
         std::binary_search(resolvers_.begin(), resolvers_.end(), function.start);
}

bool ForeignRules::names_known_personality(const Frame& frame) const {
  if (frame.personality == kUnreadable) return false;
  if (!frame.indirect) {
    if (const auto own = functions_.starting_at(frame.personality)) return is_known_name(functions_[*own].name);
    return is_known_name(callees_.imported_through_plt(frame.personality));
  }
  if (is_known_name(callees_.imported_in_slot(frame.personality))) return true;
  return std::any_of(image_.symbols().begin(), image_.symbols().end(), [&frame](const Symbol& symbol) {
    return symbol.value == frame.personality && symbol.name.starts_with(kHolder) &&
           is_known_name(symbol.name.substr(kHolder.size()));
  });
}

// Whether one was split off the other.
bool ForeignRules::are_parts_of_one(const Function& a, const Function& b) const {
  const auto is_part_of = [this](const Function& part, const Function& whole) {
    const auto [first, last] = parents_.equal_range(part.parent_of_cold_part());
    return std::any_of(first, last, [&whole](const auto& parent) { return parent.second == whole.start; });
  };
  return is_part_of(a, b) || is_part_of(b, a);
}

// Compilers jump into the middle of a function only between it and the parts that were split off it.
bool ForeignRules::jumps_as_assembly(uint32_t index) const {
  const Function& function = functions_[index];
  for (const Reference& reference : references_.into(function.start + 1, function.end()))
    if (reference.branch && reference.from != kNoFunction && reference.from != index &&
        !are_parts_of_one(function, functions_[reference.from]))
      return true;
  for (const Field& field : disassembly_.fields_of(index)) {
    if (field.kind != FieldKind::kJump && field.kind != FieldKind::kCall) continue;
    const auto into = functions_.holding(field.target);
    if (into && *into != index && functions_[*into].start != field.target && !are_parts_of_one(function, functions_[*into]))
      return true;
  }
  return false;
}

}  // namespace stab::postlink
