// A filter is never computed with in a browser, so what it may ask for is here beforehand. Trials of a level are of several
// cells, whose differences are no noise: the mean is over cells, and its error comes from within them. Cells that ran in the same
// blocks have in common what the machine did to a block, which their mean keeps, however many they are.
#include "analysis/report/experiment/level_summaries.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::report {
namespace {

// Each is some 400 bytes of the page, and a table of more is read by nobody. Pairs grow by the square, so they go first.
constexpr size_t kMostSingles = 600, kMostPairs = 300;

using Where = std::vector<std::pair<size_t, uint32_t>>;  // factor and level

bool is_in(const CellUnits& cell, const Where& where) {
  return std::all_of(where.begin(), where.end(), [&](const auto& one) { return cell.levels[one.first] == one.second; });
}

// Cells that ran the same binaries have their layouts' draws in common: their errors are not independent.
bool share_layouts(const std::vector<const CellUnits*>& cells) {
  std::set<uint64_t> seen;
  for (const CellUnits* cell : cells) {
    if (!cell->code_fixed) continue;
    const std::set<uint64_t> own(cell->trial_layouts.begin(), cell->trial_layouts.end());
    for (const uint64_t layout : own)
      if (!seen.insert(layout).second) return true;
  }
  return false;
}

// The error of the mean of the cells' means by blocks: a block's share of it is what its values lie off their cells' means, and
// shares of blocks are independent. In complete blocks this is Student's interval of the block means. Where blocks lack cells,
// the cell that ran in the fewest has the degrees of freedom, so that with no block in common the variance is that of independent
// cells. Nothing: a cell ran in one block. pre: each cell has several values
std::optional<std::pair<double, double>> error_by_blocks(const std::vector<const CellUnits*>& cells) {
  std::map<uint32_t, double> shares;
  size_t fewest = SIZE_MAX;
  for (const CellUnits* cell : cells) {
    const auto weight = static_cast<double>(cells.size() * cell->values.size());
    for (size_t i = 0; i < cell->values.size(); ++i) shares[cell->blocks[i]] += (cell->values[i] - cell->moments.mean) / weight;
    fewest = std::min(fewest, std::set<uint32_t>(cell->blocks.begin(), cell->blocks.end()).size());
  }
  if (fewest < 2) return {};
  double squares = 0;
  for (const auto& [block, share] : shares) squares += share * share;
  const auto df = static_cast<double>(fewest - 1);
  return std::pair(std::sqrt(squares * (df + 1) / df), df);
}

void put_mean(const std::vector<const CellUnits*>& cells, const Samples& samples, bool in_blocks, Scale scale,
              LevelSummary& out) {
  double sum = 0;
  std::vector<statistics::WeightedCell> weighted;
  for (const CellUnits* cell : cells) {
    sum += cell->moments.mean;
    weighted.push_back({cell->moments, 1.0 / static_cast<double>(cells.size())});
  }
  const double mean = sum / static_cast<double>(cells.size());
  out.mean = to_people(scale, mean);
  if (std::any_of(cells.begin(), cells.end(), [](const CellUnits* cell) { return cell->moments.n < 2; })) {
    out.no_interval = "a cell has one value";
    return;
  }
  if (share_layouts(cells)) {
    out.no_interval = "its cells ran the same links, so their errors are not independent";
    return;
  }
  std::optional<statistics::ConfidenceInterval> interval;
  if (cells.size() == 1) {
    interval = statistics::mean_interval(cells[0]->moments, 1 - samples.alpha);
  } else if (in_blocks) {
    if (std::any_of(cells.begin(), cells.end(), [](const CellUnits* cell) { return cell->spans_blocks; })) {
      out.no_interval = "its links came back in several blocks, so its cells' errors are not independent";
      return;
    }
    const auto error = error_by_blocks(cells);
    if (!error) {
      out.no_interval = "a cell ran in one block";
      return;
    }
    if (error->first > 0) {
      const statistics::TTest test =
          statistics::t_test_of(mean, error->first, error->second, 0, statistics::Alternative::kTwoSided, 1 - samples.alpha);
      interval = statistics::ConfidenceInterval{*test.conf_low, *test.conf_high};
    }
  } else if (const auto test = statistics::welch_contrast(weighted, 0, statistics::Alternative::kTwoSided, 1 - samples.alpha)) {
    interval = statistics::ConfidenceInterval{*test->conf_low, *test->conf_high};
  }
  if (!interval) {
    out.no_interval = "its values do not vary";
    return;
  }
  const double low = to_people(scale, interval->low), high = to_people(scale, interval->high);
  if (std::isfinite(low) && std::isfinite(high)) out.interval = {low, high};
  else out.no_interval = "it is beyond all numbers";
}

}  // namespace

LevelSummary mean_of_cells(const std::vector<const CellUnits*>& cells, const Samples& samples, bool in_blocks, Scale scale) {
  LevelSummary out;
  put_mean(cells, samples, in_blocks, scale, out);
  return out;
}

namespace {

// Nothing where no trial is of these levels.
std::optional<LevelSummary> summary_of(const Samples& samples, size_t response, size_t workload, const WorkloadUnits& units,
                                       const Where& where) {
  LevelSummary out;
  out.response = samples.responses[response].name;
  out.workload = samples.workloads[workload];
  for (const auto& [factor, level] : where)
    out.levels.emplace_back(samples.factors[factor].name, samples.factors[factor].levels[level]);
  std::vector<const CellUnits*> cells;
  std::vector<double> values;
  for (const CellUnits& cell : units.cells) {
    if (!is_in(cell, where)) continue;
    cells.push_back(&cell);
    values.insert(values.end(), cell.raw.begin(), cell.raw.end());
    out.units += cell.values.size();
    out.one_layout |= cell.one_layout;
  }
  if (values.empty()) return {};
  out.n = values.size();
  out.cells = cells.size();
  if (const statistics::Moments raw = statistics::moments(values); raw.n >= 2) out.sd = raw.sd();
  std::sort(values.begin(), values.end());
  out.median = statistics::quantile_sorted(values, 0.5);
  out.lower_quartile = statistics::quantile_sorted(values, 0.25);
  out.upper_quartile = statistics::quantile_sorted(values, 0.75);
  out.least = values.front();
  out.most = values.back();
  put_mean(cells, samples, samples.unit == Unit::kLayout || units.rows_in_blocks, samples.responses[response].scale, out);
  return out;
}

}  // namespace

LevelSummaries level_summaries_of(const Samples& samples, const std::vector<std::vector<WorkloadUnits>>& units) {
  std::vector<Where> singles, pairs;
  std::vector<size_t> varying;
  for (size_t f = 0; f < samples.factors.size(); ++f)
    if (samples.factors[f].levels.size() > 1) varying.push_back(f);
  for (const size_t f : varying)
    for (uint32_t level = 0; level < samples.factors[f].levels.size(); ++level) singles.push_back({{f, level}});
  for (size_t a = 0; a < varying.size(); ++a)
    for (size_t b = a + 1; b < varying.size(); ++b)
      for (uint32_t i = 0; i < samples.factors[varying[a]].levels.size(); ++i)
        for (uint32_t j = 0; j < samples.factors[varying[b]].levels.size(); ++j)
          pairs.push_back({{varying[a], i}, {varying[b], j}});
  std::vector<size_t> responses;
  for (size_t r = 0; r < samples.responses.size(); ++r)
    if ((samples.responses[r].declared || r == 0) && !samples.responses[r].is_benchmark()) responses.push_back(r);
  const size_t times = responses.size() * samples.workloads.size();
  LevelSummaries out;
  std::vector<Where> asked{{}};
  const auto ask = [&](const std::vector<Where>& more, size_t most) {
    if (more.size() * times <= most) asked.insert(asked.end(), more.begin(), more.end());
    else out.left_out += more.size() * times;
  };
  ask(singles, kMostSingles);
  ask(pairs, kMostPairs);
  for (const size_t r : responses)
    for (size_t w = 0; w < samples.workloads.size(); ++w)
      for (const Where& where : asked)
        if (auto summary = summary_of(samples, r, w, units[r][w], where)) out.all.push_back(std::move(*summary));
  return out;
}

}  // namespace stab::report
