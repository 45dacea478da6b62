#include "analysis/report/report_data/side_values.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/report_data/report_pen.h"

namespace stab::report {
namespace {

std::optional<double> value_of(const Report& report, const Contrast& contrast, const std::string& level) {
  const auto named = [&](const Factor& factor) { return factor.name == contrast.factor; };
  const auto found = std::find_if(report.factors.begin(), report.factors.end(), named);
  const auto factor = static_cast<size_t>(found - report.factors.begin());
  double sum = 0, sum_of_logs = 0;
  size_t cells = 0;
  bool is_ratio = contrast.scale == Scale::kLog;
  for (const Cell& cell : report.cells) {
    if (cell.response != contrast.response || cell.workload != contrast.workload || factor >= cell.levels.size() ||
        cell.levels[factor] != level)
      continue;
    ++cells;
    sum += cell.mean;
    is_ratio = is_ratio && cell.geometric_mean;
    if (is_ratio) sum_of_logs += std::log(*cell.geometric_mean);
  }
  if (cells == 0) return {};
  const auto count = static_cast<double>(cells);
  return is_ratio ? std::exp(sum_of_logs / count) : sum / count;
}

}  // namespace

SideValues side_values(const Report& report, const Contrast& contrast) {
  return {value_of(report, contrast, contrast.baseline), value_of(report, contrast, contrast.level)};
}

std::string side_values_text(const Report& report, const Contrast& contrast) {
  if (contrast.by_alone) return {};
  const SideValues values = side_values(report, contrast);
  if (!values.before || !values.after) return {};
  const Response& response = response_of(report, contrast.response);
  return value_text(response, *values.before) + " -> " + value_text(response, *values.after);
}

}  // namespace stab::report
