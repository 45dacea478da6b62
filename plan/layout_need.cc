// In the order in which a person would take it out of the plan.
#include "plan/layout_need.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/architecture.h"
#include "base/wording.h"

namespace stab::plan {
namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
}

// After the compiler's name: the end of the word, but for the number of an LLVM.
bool ends_word(std::string_view rest) {
  if (rest.starts_with("++")) rest.remove_prefix(2);
  if (rest.size() > 1 && rest[0] == '-' && std::isdigit(static_cast<unsigned char>(rest[1]))) return true;
  return rest.empty() || !is_of_word(rest[0]);
}

// Whether a word of a build has szc, szc++ or szflang as a word of its own, such as CC=szc or /usr/bin/szc++-20.
bool names_szc(std::string_view text) {
  for (const std::string_view name : {"szc", "szflang"})
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
      if ((at == 0 || !is_of_word(text[at - 1])) && ends_word(text.substr(at + name.size()))) return true;
  return false;
}

}  // namespace

std::string what_needs_helper(const Plan& plan) {
  for (const Factor& factor : plan.factors)
    if (factor.kind == FactorKind::kCode || factor.kind == FactorKind::kStack || factor.kind == FactorKind::kHeap)
      return "factor " + in_quotes(factor.name);
  if (plan.has_response("region_time")) return "response 'region_time'";
  if (!plan.throughputs().empty()) return "a response of progress points";
  if (plan.experiment.record_epochs) return "'record_epochs'";
  if (plan.experiment.record_samples) return "'record_samples'";
  return {};
}

std::string what_needs_layouts(const Plan& plan) {
  if (const std::string what = what_needs_helper(plan); !what.empty()) return what;
  if (plan.causal) return "'[causal]'";
  for (const Program& program : plan.programs) {
    if (program.preload_heap) return "'preload_heap' of program " + in_quotes(program.name);
    if (program.preload_libraries) return "'preload_libraries' of program " + in_quotes(program.name);
    const auto& words = program.build.argv;
    if (std::any_of(words.begin(), words.end(), names_szc)) return "the build of program " + in_quotes(program.name);
  }
  return {};
}

std::string why_not_on_this_processor(const Plan& plan) {
  if constexpr (kHasLayouts) return {};
  const std::string what = what_needs_layouts(plan);
  return what.empty() ? what : what + " can't be had here: " + kNoLayouts;
}

}  // namespace stab::plan
