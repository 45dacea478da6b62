// What is wrong is said with its reason and its cure. What a machine doesn't have is said once, by names, since nobody can act on
// it: told like the rest it hides what matters.
#include "stabctl/machine/findings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"


namespace stab::ctl {
namespace {

using Json = nlohmann::json;

std::string heading(Weight weight) {
  switch (weight) {
    case Weight::kWrong: return "Wrong: trials don't start, or are biased";
    case Weight::kImprove: return "To improve: what can be changed here, for quieter trials";
    case Weight::kAbsent: return "Not in this machine, and nothing to do about it here ('--json' has each reason)";
    case Weight::kWell: return "Well";
  }
  return {};
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string said_at_length(const Finding& finding) {
  std::string out = (finding.well() ? "   " : finding.weight == Weight::kWrong ? "!! " : "!  ") + padded(finding.what, 20) + " " +
                    printable(finding.value) + "\n";
  if (finding.well()) return out;
  out += "      wanted: " + finding.wanted + ", because " + finding.why + "\n";
  if (!finding.cure.empty()) out += "      how: " + printable(finding.cure) + "\n";
  return out;
}

// "   governor, frequency, turbo", in lines of at most 100 characters.
std::string said_by_name(const std::vector<const Finding*>& findings) {
  constexpr size_t kWidth = 100;
  std::string out, line = "  ";
  for (size_t i = 0; i < findings.size(); ++i) {
    const std::string word = " " + findings[i]->what + (i + 1 < findings.size() ? "," : "");
    if (line.size() + word.size() > kWidth) {
      out += line + "\n";
      line = "  ";
    }
    line += word;
  }
  return out + line + "\n";
}

std::string summary(size_t wrong, size_t improve, size_t absent) {
  const auto count = [](size_t n, const char* one, const char* more) { return std::to_string(n) + " " + (n == 1 ? one : more); };
  std::string out =
      wrong == 0 ? "nothing keeps trials from being run and compared" : count(wrong, "thing is", "things are") + " wrong";
  if (improve > 0) out += "; " + count(improve, "setting", "settings") + " would make trials quieter";
  if (absent > 0) out += "; " + count(absent, "thing", "things") + " this machine doesn't have";
  return out + "\n";
}

}  // namespace

std::string_view name(Weight weight) {
  switch (weight) {
    case Weight::kWrong: return "wrong";
    case Weight::kImprove: return "improve";
    case Weight::kAbsent: return "absent";
    case Weight::kWell: return "well";
  }
  return "unknown";
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.weight < b.weight; });
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::vector<const Finding*> of[4];
  for (const Finding& finding : findings) of[static_cast<size_t>(finding.weight)].push_back(&finding);
  std::string out = summary(of[0].size(), of[1].size(), of[2].size());
  for (const Weight weight : {Weight::kWrong, Weight::kImprove, Weight::kAbsent, Weight::kWell}) {
    const std::vector<const Finding*>& own = of[static_cast<size_t>(weight)];
    if (own.empty()) continue;
    out += "\n" + heading(weight) + "\n";
    if (weight == Weight::kAbsent) {
      out += said_by_name(own);
      continue;
    }
    for (const Finding* finding : own) out += said_at_length(*finding);
  }
  return out;
}

std::string findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"what", finding.what}, {"value", finding.value}, {"wanted", finding.wanted}, {"why", finding.why},
                    {"cure", finding.cure}, {"well", finding.well()}, {"weight", name(finding.weight)}});
  return list.dump(2) + "\n";
}

}  // namespace stab::ctl
