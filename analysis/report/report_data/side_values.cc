#include "analysis/report/report_data/side_values.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/report_data/report_pen.h"

namespace stab::report {
namespace {

// Of the cells of one level.
struct LevelSum {
  double values = 0, logarithms = 0;
  size_t cells = 0;
  bool has_logarithms = true;

  void add(const Cell& cell) {
    ++cells;
    values += cell.mean;
    has_logarithms = has_logarithms && cell.geometric_mean;
    if (has_logarithms) logarithms += std::log(*cell.geometric_mean);
  }
  std::optional<double> mean(Scale scale) const {
    if (cells == 0) return {};
    const auto count = static_cast<double>(cells);
    return scale == Scale::kLog && has_logarithms ? std::exp(logarithms / count) : values / count;
  }
};

}  // namespace

SideValues side_values(const Report& report, const Contrast& contrast) {
  const auto named = [&](const Factor& factor) { return factor.name == contrast.factor; };
  const auto found = std::find_if(report.factors.begin(), report.factors.end(), named);
  const auto factor = static_cast<size_t>(found - report.factors.begin());
  LevelSum before, after;
  for (const Cell& cell : report.cells) {
    if (cell.response != contrast.response || cell.workload != contrast.workload || factor >= cell.levels.size()) continue;
    if (cell.levels[factor] == contrast.baseline) before.add(cell);
    if (cell.levels[factor] == contrast.level) after.add(cell);
  }
  return {before.mean(contrast.scale), after.mean(contrast.scale)};
}

SideValues compared_values(const Report& report, const Contrast& contrast) {
  return contrast.by_alone ? SideValues{} : side_values(report, contrast);
}

std::string side_values_text(const Report& report, const Contrast& contrast) {
  const SideValues values = compared_values(report, contrast);
  if (!values.before || !values.after) return {};
  const Response& response = response_of(report, contrast.response);
  return value_text(response, *values.before) + " -> " + value_text(response, *values.after);
}

}  // namespace stab::report
