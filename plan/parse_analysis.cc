// [analysis]: what is estimated beside the means, declared before the data.
#include <algorithm>

#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

constexpr size_t kMostEstimators = 16;
constexpr size_t kMostQuantiles = 32;
// Beyond it no experiment that can be run has values.
constexpr double kLeastQuantile = 0.001;
constexpr const char* kExample = "write estimators = [\"hodges-lehmann\", \"median\", { quantile = 0.9 }]";

bool is_quantile(const toml::TomlNode& node, toml::Faults& faults) {
  if (node.kind != Kind::kFloat && node.kind != Kind::kInteger) {
    toml::wrong_type(faults, "a quantile", node, Kind::kFloat);
    return false;
  }
  if (node.number >= kLeastQuantile && node.number <= 1 - kLeastQuantile) return true;
  faults.error(node.spot, "a quantile lies between 0.001 and 0.999", "0.5 is the median, 0.9 leaves a tenth above it");
  return false;
}

bool parse_estimator(const toml::TomlNode& node, toml::Faults& faults, Estimator& out) {
  if (node.kind == Kind::kTable) {
    toml::Section section(node, "an estimator", faults);
    section.require("quantile", kExample);
    const toml::TomlNode* quantile = section.find("quantile");
    section.finish();
    if (quantile == nullptr || !is_quantile(*quantile, faults)) return false;
    out = {Estimator::Kind::kQuantile, quantile->number};
    return true;
  }
  if (node.kind != Kind::kString) {
    toml::wrong_type(faults, "an estimator", node, Kind::kString);
    return false;
  }
  if (node.text == "mean") {
    faults.error(node.spot, "the mean is always estimated, and gives the verdicts", "leave it out of 'estimators'");
    return false;
  }
  if (node.text == "hodges-lehmann") {
    out = {Estimator::Kind::kHodgesLehmann, 0.5};
    return true;
  }
  if (node.text == "mixed") {
    out = {Estimator::Kind::kMixed, 0.5};
    return true;
  }
  if (node.text == "median") {
    out = {Estimator::Kind::kQuantile, 0.5};
    return true;
  }
  toml::unknown_word(faults, node.spot, "estimator", node.text, {"hodges-lehmann", "median", "mixed"});
  return false;
}

bool is_list(const toml::TomlNode& node, toml::Faults& faults, std::string_view key, size_t most) {
  if (node.kind != Kind::kArray) {
    toml::wrong_type(faults, key, node, Kind::kArray);
    return false;
  }
  if (!node.items.empty() && node.items.size() <= most) return true;
  faults.error(node.spot, "'" + std::string(key) + "' has " + std::to_string(node.items.size()) + " entries, expected 1 to " +
                              std::to_string(most));
  return false;
}

}  // namespace

void parse_analysis(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[analysis]", faults);
  const toml::TomlNode* estimators = section.find("estimators");
  const toml::TomlNode* shift = section.find("shift");
  section.finish();
  if (estimators != nullptr && is_list(*estimators, faults, "estimators", kMostEstimators)) {
    for (const toml::TomlNode& item : estimators->items) {
      Estimator estimator;
      if (!parse_estimator(item, faults, estimator)) continue;
      std::vector<Estimator>& known = plan.analysis.estimators;
      if (std::any_of(known.begin(), known.end(), [&](const Estimator& one) {
            return one.kind == estimator.kind && one.probability == estimator.probability;
          })) {
        faults.error(item.spot, "this estimator is named twice", "leave one out");
        continue;
      }
      known.push_back(estimator);
    }
  }
  if (shift == nullptr || !is_list(*shift, faults, "shift", kMostQuantiles)) return;
  for (const toml::TomlNode& item : shift->items) {
    if (!is_quantile(item, faults)) continue;
    std::vector<double>& known = plan.analysis.shift;
    if (!known.empty() && item.number <= known.back()) {
      faults.error(item.spot, "the quantiles of 'shift' ascend", "write shift = [0.1, 0.25, 0.5, 0.75, 0.9]");
      continue;
    }
    known.push_back(item.number);
  }
}

}  // namespace stab::plan
