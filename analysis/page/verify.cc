// Verifying: take the page apart, read the trials, compute everything again, compare. What can't be computed from trials
// (the plan, hashes, the machine) is the page's own word, and the answer says so.
#include <cmath>

#include <nlohmann/json.hpp>

#include "analysis/page/causal_windows.h"
#include "analysis/page/computed_parts.h"
#include "analysis/page/page.h"
#include "analysis/page/page_parts.h"
#include "analysis/page/sample_columns.h"
#include "analysis/text/text_table.h"
#include "analysis/text/markup.h"
#include "base/number_text.h"
#include "base/wording.h"

namespace stab::page {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostNamed = 20;
// The last digits are the compiler's and the processor's.
constexpr double kTolerance = 1e-9;

class Differences {
 public:
  void add(const std::string& place, const std::string& page, const std::string& again) {
    if (named_.size() < kMostNamed) named_.push_back(place + ": the page says " + page + ", its trials say " + again);
    ++count_;
  }
  size_t count() const { return count_; }
  std::string text() const {
    std::string out;
    for (const std::string& line : named_) out += "  " + line + "\n";
    if (count_ > named_.size()) out += "  and " + std::to_string(count_ - named_.size()) + " more\n";
    return out;
  }

 private:
  std::vector<std::string> named_;
  size_t count_ = 0;
};

std::string shown(const Json& value) {
  constexpr size_t kLongest = 80;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

bool near(double a, double b) { return a == b || std::fabs(a - b) <= kTolerance * std::max(std::fabs(a), std::fabs(b)); }

// Element `i` as people find it: by its own names where it has some.
std::string place_of(const std::string& array, size_t i, const Json& element) {
  std::string label;
  if (element.is_object())
    for (const char* key : {"response", "workload", "factor", "level", "term", "line", "point", "name", "code", "what", "fact"})
      if (const auto at = element.find(key); at != element.end() && at->is_string() && !at->get<std::string>().empty())
        label += (label.empty() ? "" : " ") + at->get<std::string>();
  constexpr size_t kLongest = 60;
  if (label.size() > kLongest) label = label.substr(0, kLongest) + "...";
  return array + "[" + std::to_string(i) + (label.empty() ? "" : ": " + label) + "]";
}

void compare(const std::string& place, const Json& page, const Json& again, Differences& differences) {
  if (page.is_number() && again.is_number()) {
    if (!near(page.get<double>(), again.get<double>())) differences.add(place, shown(page), shown(again));
    return;
  }
  if (page.type() != again.type()) return differences.add(place, shown(page), shown(again));
  if (page.is_object()) {
    for (const auto& [key, value] : again.items()) {
      if (const auto at = page.find(key); at != page.end()) compare(place + "." + key, *at, value, differences);
      else differences.add(place + "." + key, "nothing", shown(value));
    }
    for (const auto& [key, value] : page.items())
      if (!again.contains(key)) differences.add(place + "." + key, shown(value), "nothing");
    return;
  }
  if (page.is_array()) {
    if (page.size() != again.size())
      return differences.add(place, std::to_string(page.size()) + " elements", std::to_string(again.size()));
    for (size_t i = 0; i < page.size(); ++i) compare(place_of(place, i, page[i]), page[i], again[i], differences);
    return;
  }
  if (page != again) differences.add(place, shown(page), shown(again));
}

// What is derived for drawing.
void compare_columns(const Columns& page, const Columns& again, Differences& differences) {
  for (const PackedColumn& computed : again.all()) {
    if (!computed.name.starts_with("deviation/")) continue;
    const PackedColumn* own = page.find(computed.name);
    if (!own || own->type != computed.type) {
      differences.add("trials." + computed.name, "nothing", "a column");
      continue;
    }
    // Single precision: its own last digit is worth 6e-8.
    constexpr double kSingle = 1e-6;
    for (size_t row = 0; row < again.rows(); ++row) {
      const double a = own->real(row), b = computed.real(row);
      const bool equal = (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= kSingle * std::max(std::fabs(b), 1e-3);
      if (!equal)
        differences.add("trials." + computed.name + "[" + std::to_string(row) + "]", number_text(a), number_text(b));
    }
  }
}

Result<Json> parsed(const std::string& text, const char* what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{ErrorCode::kCorrupt, std::string("its ") + what + " is no JSON", {}};
  return json;
}

Result<commands::CommandOutput> verify(const std::string& page) {
  STAB_TRY(const PageParts parts, take_apart(page));
  // A browser ends an element at markup, where a reader of JSON sees a string: what would be shown is not what was read.
  for (const auto& [part, what] : {std::pair{&parts.report, "report"},
                                   {&parts.figures, "figures"},
                                   {&parts.samples, "description of the trials"},
                                   {&parts.causal, "causal profiles"},
                                   {&parts.evidence, "evidence"}})
    if (part->find('<') != std::string::npos)
      return Error{
          ErrorCode::kCorrupt, std::string("its ") + what + " holds markup, which no stabctl writes: it was changed", {}};
  STAB_TRY(const Json described, parsed(parts.samples, "description of the trials"));
  STAB_TRY(const Json report, parsed(parts.report, "report"));
  STAB_TRY(const Json figures, parsed(parts.figures, "figures"));
  STAB_TRY(const Json evidence, parsed(parts.evidence, "evidence"));
  STAB_TRY(const Json causal, parsed(parts.causal, "causal profiles"));
  STAB_TRY(const ReadSamples read, read_samples(described, parts.trials));
  STAB_TRY(const std::vector<causal_report::CausalData> profiles, read_causal(causal));
  STAB_TRY(const ComputedParts again, computed_parts(read.samples, {}, profiles));
  Differences differences;
  compare("report", report, Json::parse(again.report), differences);
  compare("figures", figures, Json::parse(again.figures), differences);
  compare("causal", causal, Json::parse(again.causal), differences);
  compare_columns(read.columns, again.columns, differences);
  if (parts.title != text::as_markup(read.samples.experiment))
    differences.add("title", parts.title, text::as_markup(read.samples.experiment));
  if (parts.plain != text::as_markup(again.plain))
    differences.add("the text for readers without scripts", "something else", "another text");
  const Json script = evidence.is_object() ? evidence.value("r_script", Json()) : Json();
  if (script != Json(again.r_script)) differences.add("evidence.r_script", shown(script), shown(Json(again.r_script)));
  const std::string trials = plural(read.samples.trials.size(), "trial");
  if (differences.count() > 0)
    return commands::CommandOutput{"",
                                   "this page does not say what its " + trials + " say: " +
                                       plural(differences.count(), "difference") + "\n" + differences.text(),
                                   1};
  return commands::CommandOutput{
      "verified: every number of the report and of its figures was computed again from the page's " + trials +
          " and is the same; frame, style and script are those of this stabctl\n" +
          text::wrap("Not computable from trials, so only the page says it: the plan, the hashes, the machine, its "
                     "conditions, the "
               "numbers of trials, the self-test.",
               100, "", ""),
      "", 0};
}

}  // namespace

Result<PagePlan> plan_of_page(const std::string& page) {
  STAB_TRY(const PageParts parts, take_apart(page));
  STAB_TRY(const Json evidence, parsed(parts.evidence, "evidence"));
  PagePlan plan;
  for (const auto& [key, text] : {std::pair{"plan", &plan.plan}, {"plan_path", &plan.plan_path}, {"schedule", &plan.schedule}}) {
    const auto at = evidence.find(key);
    if (at == evidence.end() || !at->is_string())
      return Error{ErrorCode::kCorrupt, std::string("its evidence has no '") + key + "'", {}};
    *text = at->get<std::string>();
  }
  return plan;
}

commands::CommandOutput verify_page(const std::string& page) {
  Result<commands::CommandOutput> output = verify(page);
  return output ? *std::move(output)
                : commands::refused({output.error().code, "this file can't be verified: " + output.error().message, {}});
}

}  // namespace stab::page
