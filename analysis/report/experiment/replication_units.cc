// The unit of replication. Where code is shuffled each trial draws its own layout from its seed; where it is not,
// the linker drew it, once for each link. Thirty runs of one binary with code off repeat one draw thirty times:
// they say how noisy that layout is, not how another would do.
#include "analysis/report/experiment/replication_units.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stab::report {

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

bool has_code_factor(const Samples& samples) {
  return std::any_of(samples.factors.begin(), samples.factors.end(),
                     [](const Factor& factor) { return factor.layout && factor.name == "code"; });
}

statistics::FactorCodes cell_codes(const Samples& samples, const std::vector<CellUnits>& cells) {
  statistics::FactorCodes codes;
  codes.codes.resize(samples.factors.size());
  for (const Factor& factor : samples.factors) {
    codes.names.push_back(factor.name);
    codes.level_names.push_back(factor.levels);
  }
  for (const CellUnits& cell : cells)
    for (size_t f = 0; f < samples.factors.size(); ++f) codes.codes[f].push_back(cell.levels[f]);
  return codes;
}

std::string text_of_levels(const Samples& samples, const std::vector<uint32_t>& levels, std::optional<size_t> but) {
  std::string out;
  for (size_t f = 0; f < samples.factors.size(); ++f)
    if (f != but && samples.factors[f].levels.size() > 1)
      out += (out.empty() ? "" : ", ") + samples.factors[f].name + "=" + samples.factors[f].levels[levels[f]];
  return out;
}

WorkloadUnits units_of(const Samples& samples, uint32_t workload, size_t response) {
  const bool log_scale = samples.responses[response].scale == Scale::kLog;
  std::vector<std::pair<std::vector<uint32_t>, const Trial*>> rows;
  for (const Trial& trial : samples.trials) {
    if (trial.workload != workload || !answers(samples, trial) || !trial.values[response]) continue;
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
    const bool code_fixed = rows[first].second->fixed_code;
    std::map<uint64_t, std::vector<const Trial*>> units;
    std::vector<uint64_t> order_of_units;
    bool several_layouts = false;
    for (size_t row = first; row < end; ++row) {
      const Trial& trial = *rows[row].second;
      several_layouts |= trial.layout != rows[first].second->layout;
      const uint64_t key = samples.unit == Unit::kRow ? row : trial.layout;
      auto [it, fresh] = units.try_emplace(key);
      if (fresh) order_of_units.push_back(key);
      it->second.push_back(&trial);
      cell.raw.push_back(*trial.values[response]);
      if (samples.unit == Unit::kRow) continue;
      cell.trial_values.push_back(log_scale ? std::log(cell.raw.back()) : cell.raw.back());
      cell.trial_blocks.push_back(trial.block);
      cell.trial_links.push_back(trial.link);
      cell.trial_layouts.push_back(trial.layout);
      cell.trial_orders.push_back(trial.order);
    }
    cell.code_fixed = code_fixed;
    cell.sliced = samples.is_sliced;
    cell.one_layout = samples.unit == Unit::kLayout && code_fixed && !several_layouts;
    if (cell.one_layout) {  // repeats: kept one by one, so that the cell can at least be described
      units.clear();
      order_of_units.clear();
      for (size_t row = first; row < end; ++row) {
        units[row] = {rows[row].second};
        order_of_units.push_back(row);
      }
    }
    for (const uint64_t key : order_of_units) {
      const std::vector<const Trial*>& members = units[key];
      std::vector<double> scaled;
      for (const Trial* trial : members) {
        const double value = *trial->values[response];
        scaled.push_back(log_scale ? std::log(value) : value);
      }
      const statistics::Moments unit = statistics::moments(scaled);
      cell.values.push_back(unit.mean);
      cell.blocks.push_back(members[0]->block);
      cell.orders.push_back(members[0]->order);
      for (const Trial* trial : members) cell.spans_blocks |= trial->block != members[0]->block;
      cell.within_unit_m2 += unit.m2;
      cell.within_unit_df += unit.n - 1;
    }
    result.spans_blocks |= cell.spans_blocks;
    cell.moments = statistics::moments(cell.values);
    result.cells.push_back(std::move(cell));
    first = end;
  }
  return result;
}

bool has_blocks(const Samples& samples) {
  std::map<std::pair<uint32_t, uint32_t>, const Trial*> of_block;  // by workload and block
  std::map<uint32_t, const Trial*> of_workload;
  bool are_several = false;
  for (const Trial& trial : samples.trials) {
    if (trial.levels != of_block.try_emplace({trial.workload, trial.block}, &trial).first->second->levels) return true;
    are_several |= trial.levels != of_workload.try_emplace(trial.workload, &trial).first->second->levels;
  }
  return !are_several;
}

}  // namespace stab::report
