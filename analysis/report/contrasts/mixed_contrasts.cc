#include "analysis/report/contrasts/mixed_contrasts.h"

#include <map>
#include <optional>

#include "analysis/report/contrasts/compared_cells.h"
#include "analysis/statistics/models/mixed_model.h"

namespace stab::report {
namespace {

// A fit takes time with their cube: at this number some seconds.
constexpr size_t kMostLevels = 500;
constexpr size_t kMostRows = 20'000;

std::vector<const Trial*> rows_of(const Samples& samples, size_t response) {
  std::vector<const Trial*> rows;
  for (const Trial& trial : samples.trials)
    if (answers(samples, trial) && trial.values[response]) rows.push_back(&trial);
  return rows;
}

// The program of each workload, as a number.
std::vector<uint64_t> programs_of(const Samples& samples) {
  std::vector<uint64_t> out;
  std::map<std::string, uint64_t> numbers;
  for (size_t w = 0; w < samples.workloads.size(); ++w)
    out.push_back(samples.programs.empty() ? w : numbers.try_emplace(samples.programs[w], numbers.size()).first->second);
  return out;
}

// One level for each key that a row has; absent where each row has its own, or all the same: that is no sample.
template <typename Key>
std::optional<statistics::RandomTerm> term_of(std::string name, const std::vector<const Trial*>& rows, const Key& key) {
  statistics::RandomTerm term{std::move(name), {}, 0};
  std::map<std::vector<uint64_t>, uint32_t> numbers;
  for (const Trial* row : rows)
    term.codes.push_back(numbers.try_emplace(key(*row), static_cast<uint32_t>(numbers.size())).first->second);
  term.levels = static_cast<uint32_t>(numbers.size());
  if (term.levels < 2 || term.levels == rows.size()) return {};
  return term;
}

Status check(const Samples& samples, const std::vector<WorkloadUnits>& units, size_t response) {
  const Response& facts = samples.responses[response];
  if (facts.margin_is_share && facts.scale == Scale::kLinear)
    return bad_input(
        "its margin is a share of the baseline's mean, whose own error a mixed model has no place for; give the "
        "response its logarithm, or a margin in its unit");
  for (const Factor& factor : samples.factors) {
    if (factor.levels.size() < 2) continue;
    if (factor.layout)
      return bad_input("levels of '" + factor.name +
                       "' differ in spread by design, and a mixed model has one residual variance "
                       "for all of them; declare it in a plan of treatments alone");
    for (uint32_t level = 0; level < factor.levels.size(); ++level) {
      if (level == factor.baseline) continue;
      const auto at = static_cast<size_t>(&factor - samples.factors.data());
      for (const WorkloadUnits& workload : units)
        if (const auto compared = compared_cells(samples, at, level, workload); !compared) return compared.error();
    }
  }
  return {};
}

std::vector<statistics::RandomTerm> random_terms(const Samples& samples, const std::vector<const Trial*>& rows, bool* is_sample) {
  const std::vector<uint64_t> programs = programs_of(samples);
  const bool several_programs = program_count(samples) > 1, several_machines = samples.machines.size() > 1;
  std::vector<statistics::RandomTerm> random;
  const auto add = [&](std::string name, const auto& key) {
    auto term = term_of(std::move(name), rows, key);
    // The same levels under another name: the first stands for both.
    for (const statistics::RandomTerm& known : random)
      if (term && known.codes == term->codes) return false;
    if (term) random.push_back(std::move(*term));
    return term.has_value();
  };
  using LevelsKey = std::vector<uint64_t>;
  const std::string program = samples.program_word;
  const auto of_program = [&](const Trial& row) { return programs[row.workload]; };
  const auto with_treatments = [&](const std::string& name, const auto& of) {
    for (size_t f = 0; f < samples.factors.size(); ++f)
      if (samples.factors[f].levels.size() > 1)
        add(name + ":" + samples.factors[f].name, [&](const Trial& row) { return LevelsKey{of(row), row.levels[f]}; });
  };
  *is_sample = false;
  if (several_programs) {
    *is_sample |= add(program, [&](const Trial& row) { return LevelsKey{of_program(row)}; });
    with_treatments(program, of_program);
  }
  add(samples.workload_word, [](const Trial& row) { return LevelsKey{row.workload}; });
  if (several_machines) {
    *is_sample |= add("machine", [](const Trial& row) { return LevelsKey{row.machine}; });
    with_treatments("machine", [](const Trial& row) { return uint64_t{row.machine}; });
  }
  *is_sample |= add("layout", [](const Trial& row) { return LevelsKey{row.workload, row.layout}; });
  add(several_programs ? program + ":block" : "block", [&](const Trial& row) { return LevelsKey{of_program(row), row.block}; });
  return random;
}

}  // namespace

Result<MixedContrasts> mixed_contrasts_of(const Samples& samples, const std::vector<WorkloadUnits>& units, size_t response) {
  if (samples.unit == Unit::kRow) return bad_input("rows of a file have no design; 'stabctl stats mixed' takes it from columns");
  STAB_CHECK_OK(check(samples, units, response));
  const std::vector<const Trial*> rows = rows_of(samples, response);
  if (rows.size() > kMostRows)
    return bad_input("it has " + std::to_string(rows.size()) + " trials, and a report fits at most " + std::to_string(kMostRows));
  bool is_sample = false;
  const std::vector<statistics::RandomTerm> random = random_terms(samples, rows, &is_sample);
  if (!is_sample)
    return bad_input("nothing is a sample here: one " + samples.program_word +
                     ", one machine, and no layout that comes back; the "
                     "mean's contrast says all");
  size_t levels = 0;
  for (const statistics::RandomTerm& term : random) levels += term.levels;
  if (levels > kMostLevels)
    return bad_input("its random terms have " + std::to_string(levels) + " levels, and a report fits at most " +
                     std::to_string(kMostLevels) + "; take fewer replicates, or fit the exported rows");
  MixedContrasts out;
  std::vector<std::vector<double>> columns{std::vector<double>(rows.size(), 1.0)};
  std::vector<std::string> names{"(intercept)"};
  for (size_t f = 0; f < samples.factors.size(); ++f) {
    const Factor& factor = samples.factors[f];
    for (uint32_t level = 0; level < factor.levels.size(); ++level) {
      if (level == factor.baseline) continue;
      out.contrasts.push_back({f, level});
      names.push_back(factor.name + ": " + factor.levels[level]);
      std::vector<double>& column = columns.emplace_back();
      for (const Trial* row : rows) column.push_back(row->levels[f] == level ? 1 : 0);
    }
  }
  std::vector<double> values;
  for (const Trial* row : rows) {
    const double value = *row->values[response];
    values.push_back(on_scale(samples.responses[response].scale, value));
  }
  STAB_TRY(const statistics::MixedFit fit,
           statistics::fit_mixed(columns, names, random, values, statistics::DegreesOfFreedom::kKenwardRoger));
  for (size_t i = 0; i < out.contrasts.size(); ++i) {
    const statistics::FixedEffect& effect = fit.fixed[i + 1];
    out.contrasts[i].estimate = effect.estimate;
    out.contrasts[i].standard_error = effect.standard_error;
    out.contrasts[i].df = effect.df;
  }
  for (size_t i = 0; i < fit.variances.size(); ++i)
    out.components.push_back({fit.random_names[i], fit.levels[i], fit.variances[i]});
  out.over_programs = program_count(samples) > 1;
  out.n = fit.levels[0];
  return out;
}

}  // namespace stab::report
