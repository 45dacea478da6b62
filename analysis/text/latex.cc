// The page copies tables by the same rules (analysis/page/export.js).
#include "analysis/text/latex.h"

#include <utility>

#include "analysis/text/valid_text.h"

namespace stab::text {
namespace {

// Brackets and stars are grouped, as one that begins a row would be an argument of the line end before it.
constexpr std::pair<std::string_view, std::string_view> kReplaced[] = {
    {"\\", "\\textbackslash{}"}, {"{", "\\{"},          {"}", "\\}"},      {"$", "\\$"},           {"&", "\\&"},
    {"%", "\\%"},                {"#", "\\#"},          {"_", "\\_"},      {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"}, {"<", "\\textless{}"}, {">", "\\textgreater{}"}, {"|", "\\textbar{}"},
    {"\"", "\\char34{}"},        {"[", "{[}"},          {"]", "{]}"},      {"*", "{*}"},           {"−", "$-$"},
    {"×", "$\\times$"},          {"±", "$\\pm$"},       {"α", "$\\alpha$"}, {"µ", "$\\mu$"},       {"†", "\\textdagger{}"},
    {"≤", "$\\leq$"},            {"≥", "$\\geq$"},      {"…", "\\ldots{}"}, {"–", "--"},           {"—", "---"},
    {"’", "'"},                  {"\xEF\xBF\xBD", "?"}};

// Would the two be set as one other character? "--param" would lose a dash.
bool is_ligature(char first, char second) {
  if (second == '`' && (first == '?' || first == '!')) return true;
  return first == second && (first == '-' || first == '\'' || first == '`' || first == ',');
}

}  // namespace

std::string as_latex(std::string_view as_given) {
  const std::string valid = valid_text(as_given);
  std::string_view text = valid;
  std::string out;
  while (!text.empty()) {
    const auto* found = std::begin(kReplaced);
    while (found != std::end(kReplaced) && !text.starts_with(found->first)) ++found;
    if (found != std::end(kReplaced)) {
      out += found->second;
      text.remove_prefix(found->first.size());
      continue;
    }
    const char c = text[0];
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    text.remove_prefix(1);
    if (!text.empty() && is_ligature(c, text[0])) out += "{}";
  }
  return out;
}

}  // namespace stab::text
