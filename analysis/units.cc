// The unit of replication. Where code is shuffled each trial draws its own layout from its seed; where it is not,
// the linker drew it, once for each link. Thirty runs of one binary with code off repeat one draw thirty times:
// they say how noisy that layout is, not how another would do.
#include "analysis/units.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stab::analysis {

bool fixes_layout(std::string_view level) {
  constexpr std::string_view kFixed[] = {"off", "none", "no", "copy", "zero", "base", "0", "false"};
  return std::find(std::begin(kFixed), std::end(kFixed), level) != std::end(kFixed);
}

namespace {

// By workload: the number of its program, from 0 in order of their first workload.
std::vector<size_t> numbered_programs(const Samples& samples) {
  std::vector<size_t> numbers;
  std::map<std::string_view, size_t> known;
  for (size_t w = 0; w < samples.workloads.size(); ++w) {
    const std::string_view program = samples.programs.empty() ? samples.workloads[w] : samples.programs[w];
    numbers.push_back(known.try_emplace(program, known.size()).first->second);
  }
  return numbers;
}

}  // namespace

size_t program_count(const Samples& samples) {
  const std::vector<size_t> numbers = numbered_programs(samples);
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
}

std::vector<double> means_by_program(const Samples& samples, const std::vector<double>& of_workloads) {
  const std::vector<size_t> numbers = numbered_programs(samples);
  std::vector<double> means(program_count(samples)), counts(means.size());
  for (size_t w = 0; w < numbers.size(); ++w) {
    means[numbers[w]] += of_workloads[w];
    counts[numbers[w]] += 1;
  }
  for (size_t p = 0; p < means.size(); ++p) means[p] /= counts[p];
  return means;
}

const Factor* code_factor(const Samples& samples, size_t* index) {
  for (size_t f = 0; f < samples.factors.size(); ++f) {
    if (samples.factors[f].name != "code" || !samples.factors[f].layout) continue;
    if (index) *index = f;
    return &samples.factors[f];
  }
  return nullptr;
}

WorkloadUnits units_of(const Samples& samples, uint32_t workload, size_t response) {
  const bool log_scale = samples.responses[response].scale == Scale::kLog;
  size_t code_index = 0;
  const Factor* code = code_factor(samples, &code_index);
  std::vector<std::pair<std::vector<uint32_t>, const Trial*>> rows;
  for (const Trial& trial : samples.trials) {
    if (trial.workload != workload || !trial.excluded.empty() || !trial.values[response]) continue;
    rows.emplace_back(std::vector<uint32_t>(trial.levels.begin(), trial.levels.end()), &trial);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->order < b.second->order;
  });

  WorkloadUnits result;
  for (size_t first = 0; first < rows.size();) {
    size_t end = first;
    while (end < rows.size() && rows[end].first == rows[first].first) ++end;
    CellUnits cell;
    cell.levels = rows[first].first;
    const bool code_fixed = !code || fixes_layout(code->levels[cell.levels[code_index]]);
    // Which trials share a layout.
    std::map<std::pair<uint64_t, uint64_t>, std::vector<const Trial*>> units;
    std::vector<std::pair<uint64_t, uint64_t>> order_of_units;
    bool several_links = false;
    for (size_t row = first; row < end; ++row) {
      const Trial& trial = *rows[row].second;
      several_links |= trial.link != rows[first].second->link;
      std::pair<uint64_t, uint64_t> key{trial.link, code_fixed ? 0 : trial.seed};
      if (samples.unit == Unit::kRow) key = {row, 0};
      auto [it, fresh] = units.try_emplace(key);
      if (fresh) order_of_units.push_back(key);
      it->second.push_back(&trial);
      cell.raw.push_back(*trial.values[response]);
      if (samples.unit == Unit::kRow) continue;
      cell.trial_values.push_back(log_scale ? std::log(cell.raw.back()) : cell.raw.back());
      cell.trial_blocks.push_back(trial.block);
      cell.trial_links.push_back(trial.link);
    }
    cell.code_fixed = code_fixed;
    cell.one_layout = samples.unit == Unit::kLayout && code_fixed && !several_links;
    if (cell.one_layout) {  // repeats: kept one by one, so that the cell can at least be described
      units.clear();
      order_of_units.clear();
      for (size_t row = first; row < end; ++row) {
        units[{row, 0}] = {rows[row].second};
        order_of_units.push_back({row, 0});
      }
    }
    for (const auto& key : order_of_units) {
      const std::vector<const Trial*>& members = units[key];
      std::vector<double> scaled;
      for (const Trial* trial : members) {
        const double value = *trial->values[response];
        scaled.push_back(log_scale ? std::log(value) : value);
      }
      const Moments unit = moments(scaled);
      cell.values.push_back(unit.mean);
      cell.blocks.push_back(members[0]->block);
      cell.orders.push_back(members[0]->order);
      cell.within_unit_m2 += unit.m2;
      cell.within_unit_df += unit.n - 1;
    }
    result.collapsed |= cell.within_unit_df > 0;
    cell.moments = moments(cell.values);
    result.cells.push_back(std::move(cell));
    first = end;
  }
  return result;
}

}  // namespace stab::analysis
