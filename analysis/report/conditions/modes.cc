#include "analysis/report/conditions/modes.h"

#include <algorithm>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/diagnostics/unimodality.h"
#include "analysis/statistics/families/multiplicity.h"

namespace stab::report {
namespace {

// In a sample of this size any departure would show, as with the other diagnostics.
constexpr size_t kMostForModes = 100'000;

std::vector<Mode> modes_of(const Response& response, const CellUnits& cell, double level) {
  std::vector<double> sorted(cell.values);
  std::sort(sorted.begin(), sorted.end());
  const auto shown = [&](double x) { return to_people(response.scale, x); };
  std::vector<Mode> modes;
  for (const auto group : statistics::groups_of_values(sorted, level))
    modes.push_back({shown(statistics::quantile_sorted(group, 0.5)), shown(group.front()), shown(group.back()), group.size()});
  return modes;
}

}  // namespace

void find_modes(const Samples& samples, const std::vector<std::vector<WorkloadUnits>>& units, std::vector<Cell>& cells) {
  size_t at = 0;
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    struct Tested {
      Cell* cell;
      const CellUnits* values;
    };
    std::vector<Tested> tested;
    std::vector<double> p_values;
    for (const WorkloadUnits& workload : units[r]) {
      for (const CellUnits& values : workload.cells) {
        Cell& cell = cells[at++];
        if (samples.responses[r].is_benchmark()) continue;
        if (values.values.size() < kLeastForModes || values.values.size() > kMostForModes) continue;
        const auto test = statistics::dip_test(values.values);
        if (!test) continue;  // constant: no shape
        cell.dip = test->dip;
        cell.dip_p = test->p_value;
        tested.push_back({&cell, &values});
        p_values.push_back(test->p_value);
      }
    }
    const std::vector<double> adjusted = statistics::holm(p_values);
    for (size_t i = 0; i < tested.size(); ++i) {
      Cell& cell = *tested[i].cell;
      cell.dip_p_holm = adjusted[i];
      if (adjusted[i] >= samples.alpha) continue;
      // Parts of a cell are asked at the level that this cell's own p has passed.
      const double level = std::max(*cell.dip_p, samples.alpha / static_cast<double>(tested.size()));
      cell.modes = modes_of(samples.responses[r], *tested[i].values, level);
      if (cell.modes.size() < 2) cell.modes.clear();
    }
  }
}

std::string cell_text(const Report& report, const Cell& cell) {
  std::string out = cell.workload;
  for (size_t f = 0, said = 0; f < report.factors.size(); ++f)
    if (report.factors[f].levels.size() > 1)
      out += (said++ == 0 ? ", " : " ") + report.factors[f].name + "=" + cell.levels[f];
  return out;
}

std::string modes_text(const Response& response, const Cell& cell) {
  uint64_t all = 0;
  for (const Mode& mode : cell.modes) all += mode.n;
  std::string out = std::to_string(cell.modes.size()) + " groups, around ";
  for (size_t i = 0; i < cell.modes.size(); ++i) {
    const bool last = i + 1 == cell.modes.size();
    out += (i == 0 ? "" : last ? " and " : ", ") + value_text(response, cell.modes[i].median) + " (" +
           std::to_string(cell.modes[i].n) + (i == 0 ? " of " + std::to_string(all) : "") + ")";
  }
  return out;
}

}  // namespace stab::report
