// The heap is the program's where its malloc isn't the one that our runtime has under a name of its own. The runtime decides by
// the same names when the program runs (runtime/heap/libc_heap.h); here they are read out of the symbol table.
#include "instrumenter/postlink/shortfalls.h"

#include <algorithm>
#include <optional>

#include "base/wording.h"
#include "instrumenter/postlink/pads.h"
#include "instrumenter/postlink/walkers.h"
#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

constexpr std::string_view kControl = "_ZN4stab18stab_control_pagesE";  // runtime/control.h

std::optional<uint64_t> value_in(const std::vector<Symbol>& symbols, std::string_view name) {
  for (const Symbol& symbol : symbols)
    if (symbol.name == name && symbol.section != SHN_UNDEF) return symbol.value;
  return std::nullopt;
}

bool is_hidden_from_libraries(const ElfImage& image) {
  return image.has_program_interpreter() && !value_in(image.dynamic_symbols(), "_Unwind_Find_FDE");
}

bool is_listed_for_sanitizers(const ElfImage& image) {
  const auto& sections = image.sections();
  return std::any_of(sections.begin(), sections.end(),
                     [](const Section& section) { return section.name.starts_with(kListOfSanitizers); });
}

std::string why_code_stays(const ElfImage& image, const Shares& shares) {
  if (shares.moving == 0) {
    std::string text = "no function moves";
    // Start files are foreign in every program.
    if (shares.assembly > 0)
      text += "; " + std::to_string(shares.assembly) + " know their places and stay, as -mspeculative-load-hardening and "
              "-fsanitize-coverage=pc-table make them: leave such an option out";
    if (shares.others > 0)
      text += "; 'szc --stab-info' says why " + plural(shares.others, "function") + (shares.others == 1 ? " stays" : " stay");
    if (is_listed_for_sanitizers(image))
      text += "; what -fexperimental-sanitize-metadata lists is known by its places and stays: leave that option out";
    else if (shares.assembly == 0 && shares.foreign > 0)
      text += "; what szc has not compiled stays: compile it with szc, or link with --stab-move=all";
    return text;
  }
  if (!image.symbols().empty() && !value_in(image.symbols(), kControl))
    return "it does not hold Stab's runtime; link it with szc";
  if (is_hidden_from_libraries(image))
    return "it hides the runtime's names from its libraries; name _Unwind_Find_FDE, malloc and the like, stab_stack and "
           "stab_rt_* under 'global:' in its version script";
  return {};
}

std::string why_stack_stays(const ElfImage& image) {
  const Section* pads = image.find_section(abi::kPadsSection);
  if (pads == nullptr || pads->bytes.size() < sizeof(uint32_t))
    return "no function has a pad; compile with szc, or with szc --stab-pads=all where all functions are short ones";
  if (const std::string why = why_pads_are_held(image); !why.empty()) return "all pads stay 0, as " + why;
  return {};
}

std::string why_heap_is_another(const ElfImage& image) {
  constexpr std::string_view kFamily[] = {"free", "calloc", "realloc", "reallocarray", "posix_memalign", "memalign",
                                          "aligned_alloc", "valloc", "pvalloc", "malloc_usable_size"};
  constexpr std::string_view kOwn = "; link without it, or leave the heap out";
  if (image.symbols().empty()) return {};
  const auto own = value_in(image.symbols(), "stab_own_malloc");
  if (!own) return "it does not hold Stab's heap; link it with szc";
  const auto is = [&image](std::string_view name, std::optional<uint64_t> value) {
    const auto found = value_in(image.symbols(), name);
    return !found || found == value;
  };
  if (image.has_program_interpreter()) {
    if (!is("malloc", own)) return "the program's own malloc serves all calls" + std::string(kOwn);
    for (const std::string_view name : kFamily) {
      const auto own_one = value_in(image.symbols(), "stab_own_" + std::string(name));
      if (own_one && !is(name, own_one))
        return "the program's own " + std::string(name) + " knows no block of another heap" + std::string(kOwn);
    }
    if (is_hidden_from_libraries(image)) return "it hides malloc from its libraries, so that libc's serves all calls";
    return {};
  }
  if (!is("__wrap_malloc", own)) return "the program's wrapper of malloc serves all calls" + std::string(kOwn);
  if (!is("malloc", value_in(image.symbols(), "__libc_malloc")))
    return "the program's own malloc serves all calls" + std::string(kOwn);
  return {};
}

}  // namespace

std::string Shortfalls::text(const Factors& asked) const {
  std::string all;
  const auto add = [&all](bool wanted, const char* factor, const std::string& why) {
    if (wanted && !why.empty()) all += (all.empty() ? "" : "; ") + std::string(factor) + ": " + why;
  };
  add(asked.code, "code", code);
  add(asked.stack, "stack", stack);
  add(asked.heap, "heap", heap);
  return all;
}

Shortfalls find_shortfalls(const ElfImage& image, const Shares& shares) {
  if (image.is_shared_library()) return {};
  return {why_code_stays(image, shares), why_stack_stays(image), why_heap_is_another(image)};
}

}  // namespace stab::postlink
