// A formula is sums of products of factor names: few enough rules to split by hand.
#include "analysis/commands/table/formula.h"

#include <algorithm>
#include <bit>

#include "analysis/commands/table/csv.h"
#include "base/split.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

// Without the blanks around each part.
std::vector<std::string_view> operands(std::string_view text, char separator) {
  std::vector<std::string_view> parts = split(text, separator);
  for (std::string_view& part : parts) {
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
  }
  return parts;
}

Result<statistics::TermMask> factor_mask(std::string_view name, const statistics::FactorCodes& factors) {
  const auto found = std::find(factors.names.begin(), factors.names.end(), name);
  if (found != factors.names.end()) return statistics::TermMask{1} << (found - factors.names.begin());
  if (name.empty()) return bad_input("the model has an empty term; write it like a*b+c");
  const std::string hint = did_you_mean(name, factors.names);
  return bad_input("the model names '" + std::string(name) + "', which is no factor; " +
                   (hint.empty() ? "list it in --group" : hint));
}

}  // namespace

Result<std::vector<statistics::TermMask>> parse_formula(std::string_view formula, const statistics::FactorCodes& factors) {
  std::vector<statistics::TermMask> terms;
  for (std::string_view sum : operands(formula, '+')) {
    // Products of interactions: each new operand joins every term so far, and stands alone.
    std::vector<statistics::TermMask> product;
    for (std::string_view operand : operands(sum, '*')) {
      statistics::TermMask mask = 0;
      for (std::string_view name : operands(operand, ':')) {
        STAB_TRY(const statistics::TermMask factor, factor_mask(name, factors));
        mask |= factor;
      }
      const std::vector<statistics::TermMask> before = product;
      const auto add = [&product](statistics::TermMask term) {
        if (std::find(product.begin(), product.end(), term) == product.end()) product.push_back(term);
      };
      add(mask);
      for (statistics::TermMask term : before) add(term | mask);
      if (product.size() >= statistics::TermMask{1} << statistics::kMostCrossed)
        return bad_input("a product of the model has " + std::to_string(product.size()) + " terms or more; cross at most " +
                         std::to_string(statistics::kMostCrossed) + " factors");
    }
    for (statistics::TermMask term : product)
      if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](statistics::TermMask a, statistics::TermMask b) { return std::popcount(a) < std::popcount(b); });
  return terms;
}

}  // namespace stab::commands
