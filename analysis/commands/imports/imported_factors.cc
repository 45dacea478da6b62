// Each benchmark is a response, each of its times a row: its side, the values of its parameters, and its process, which clusters
// rows.
#include "analysis/commands/imports/imported_factors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/commands/answers/render.h"
#include "analysis/commands/table/row_units.h"

namespace stab::commands {
namespace {

constexpr size_t kFewestProcesses = 2;  // processes in each combination: fewer say nothing of what another would take

using Combination = std::vector<std::string>;

std::vector<std::string> names_of(const ImportedTime& time) {
  std::vector<std::string> names;
  for (const auto& [name, value] : time.parameters) names.push_back(name);
  return names;
}

Combination values_of(const ImportedTime& time) {
  Combination values;
  for (const auto& [name, value] : time.parameters) values.push_back(value);
  return values;
}

// The same parameters everywhere; nothing: there are none, or they differ.
std::optional<std::vector<ImportedFactor>> shared_parameters(const std::vector<ImportedSide>& sides) {
  std::optional<std::vector<ImportedFactor>> shared;
  for (const ImportedSide& side : sides) {
    for (const ImportedTime& time : side.times) {
      const std::vector<std::string> names = names_of(time);
      if (names.empty()) return {};
      if (!shared) {
        shared.emplace();
        for (const std::string& name : names) shared->push_back({name, {}});
      }
      if (names.size() != shared->size()) return {};
      for (size_t i = 0; i < names.size(); ++i) {
        ImportedFactor& factor = (*shared)[i];
        if (factor.name != names[i] || factor.name == "side") return {};
        const std::string& value = time.parameters[i].second;
        if (std::find(factor.levels.begin(), factor.levels.end(), value) == factor.levels.end()) factor.levels.push_back(value);
      }
    }
  }
  return shared;
}

// Whether each benchmark has each combination that any has, and on each side.
bool is_complete(const std::vector<ImportedSide>& sides) {
  std::set<Combination> all;
  std::map<std::string, std::vector<std::set<Combination>>> of;
  for (size_t side = 0; side < sides.size(); ++side) {
    for (const ImportedTime& time : sides[side].times) {
      const Combination values = values_of(time);
      all.insert(values);
      of.try_emplace(time.plain, sides.size()).first->second[side].insert(values);
    }
  }
  for (const auto& [benchmark, by_side] : of)
    for (const std::set<Combination>& here : by_side)
      if (here != all) return false;
  return true;
}

// Rows of one benchmark.
struct Rows {
  std::vector<double> logs;
  std::vector<CsvColumn> factors;
  CsvColumn process;
  std::vector<size_t> in_cell;  // processes, by side and combination
};

CsvColumn empty_column(const std::string& name, const std::vector<std::string>& levels) {
  CsvColumn column;
  column.name = name;
  column.levels = levels;
  return column;
}

Rows rows_of(const std::vector<ImportedSide>& sides, const std::vector<report::Factor>& factors, const std::string& benchmark) {
  Rows rows;
  for (const report::Factor& factor : factors) rows.factors.push_back(empty_column(factor.name, factor.levels));
  std::map<std::pair<size_t, size_t>, uint32_t> processes;
  const bool has_sides = sides.size() > 1;
  for (size_t side = 0; side < sides.size(); ++side) {
    for (const ImportedTime& time : sides[side].times) {
      if (time.plain != benchmark) continue;
      rows.logs.push_back(std::log(time.seconds));
      if (has_sides) rows.factors[0].codes.push_back(static_cast<uint32_t>(side));
      for (size_t f = has_sides; f < factors.size(); ++f) {
        const auto given = std::find_if(time.parameters.begin(), time.parameters.end(),
                                        [&](const auto& one) { return one.first == factors[f].name; });
        const auto level = std::find(factors[f].levels.begin(), factors[f].levels.end(), given->second);
        rows.factors[f].codes.push_back(static_cast<uint32_t>(level - factors[f].levels.begin()));
      }
      const auto [at, fresh] = processes.try_emplace({side, time.process}, static_cast<uint32_t>(processes.size()));
      if (fresh) rows.process.levels.push_back(std::to_string(processes.size()));
      rows.process.codes.push_back(at->second);
    }
  }
  rows.process.name = "process";
  return rows;
}

// A combination that too few processes have measured; empty: none.
std::string thin_cell(const Rows& rows, const RowCells& cells) {
  std::map<uint32_t, std::set<uint32_t>> processes;
  for (size_t row = 0; row < rows.logs.size(); ++row) processes[cells.of_row[row]].insert(rows.process.codes[row]);
  for (size_t row = 0; row < rows.logs.size(); ++row) {
    if (processes[cells.of_row[row]].size() >= kFewestProcesses) continue;
    std::string words;
    for (const CsvColumn& factor : rows.factors)
      words += (words.empty() ? "" : ", ") + factor.name + "=" + factor.levels[factor.codes[row]];
    return words;
  }
  return {};
}

}  // namespace

std::optional<std::vector<ImportedFactor>> factors_of(const std::vector<ImportedSide>& sides) {
  auto shared = shared_parameters(sides);
  if (!shared || !is_complete(sides)) return {};
  std::erase_if(*shared, [](const ImportedFactor& factor) { return factor.levels.size() < 2; });
  if (shared->empty()) return {};
  return shared;
}

CommandOutput run_with_factors(const std::vector<ImportedSide>& sides, const std::vector<ImportedFactor>& factors, double margin,
                               const ReportOptions& options) {
  report::Samples design;
  design.experiment = "imported times";
  design.unit = report::Unit::kRow;
  design.row_word = "process mean";
  design.workload_word = design.program_word = "suite";
  design.workloads = {"all processes"};
  if (sides.size() > 1) {
    design.factors.push_back({.name = "side", .levels = {}});
    for (const ImportedSide& side : sides) design.factors[0].levels.push_back(side.name);
  }
  for (const ImportedFactor& factor : factors) design.factors.push_back({.name = factor.name, .levels = factor.levels});
  std::vector<std::vector<report::WorkloadUnits>> units;
  std::set<std::string> seen;
  for (const ImportedSide& side : sides) {
    for (const ImportedTime& time : side.times) {
      if (!seen.insert(time.plain).second) continue;
      const Rows rows = rows_of(sides, design.factors, time.plain);
      const RowCells cells = row_cells(rows.logs.size(), rows.factors, nullptr);
      if (const std::string thin = thin_cell(rows, cells); !thin.empty())
        return refused(Error{ErrorCode::kBadInput,
                             "'" + time.plain + "' was measured by one process at " + thin +
                                 ", which says nothing of what another "
                                 "would take; give files of at least 2 processes a side, better 10",
                             {}});
      auto grouped = grouped_cells(rows.logs, cells, rows.factors, nullptr, &rows.process, true);
      if (!grouped) return refused(grouped.error());
      units.push_back(*std::move(grouped));
      const std::string unit = time.is_count ? "" : "s";
      design.responses.push_back({.name = time.plain, .unit = unit, .scale = report::Scale::kLog, .margin = margin});
    }
  }
  const Result<report::Report> report = report::analyse_units(design, units);
  if (!report) return refused(report.error());
  return render(*report, design, units, options);
}

}  // namespace stab::commands
