// What the trials of a report ran under: whether their values are as the tests assume, what changed within the run and in the
// machine, how much was randomized, and what happened to trials.
#include "analysis/report/rendering/report_sections.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/conditions/modes.h"
#include "analysis/report/conditions/run_changes.h"
#include "analysis/report/report_data/environment.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/text_table.h"

namespace stab::report {
namespace {

using Align = text::TextTable::Align;

}  // namespace

std::string diagnostics_section(const Pen& pen, const Report& report) {
  text::TextTable table({{"check", Align::kLeft}, {report.workload_word, Align::kLeft}, {"n", Align::kRight},
                   {"statistic", Align::kRight}, {"p", Align::kRight}, {"", Align::kLeft}});
  for (const Diagnostic& diagnostic : report.diagnostics) {
    if (diagnostic.response != report.responses[0].name) continue;
    table.add({diagnostic.name, diagnostic.workload, std::to_string(diagnostic.n),
               diagnostic.refused.empty() ? diagnostic.statistic_name + " = " + text::significant(diagnostic.statistic) : "-",
               diagnostic.p_value ? text::p_text(*diagnostic.p_value) : "-", diagnostic.refused});
  }
  if (table.empty()) return {};
  return pen.heading("Assumptions, on residuals (they never choose the method)") + pen.table(table);
}

std::string shapes_section(const Pen& pen, const Report& report) {
  text::TextTable table({{"response", Align::kLeft}, {"cell", Align::kLeft}, {"dip", Align::kRight}, {"p (Holm)", Align::kRight},
                   {"groups", Align::kLeft, true}});
  for (const Cell& cell : report.cells)
    if (!cell.modes.empty())
      table.add({cell.response, cell_text(report, cell), text::significant(*cell.dip, 3), text::p_text(*cell.dip_p_holm),
                 modes_text(response_of(report, cell.response), cell)});
  std::string out;
  if (!table.empty()) out += pen.heading("Cells with more than one mode") + pen.table(table);
  std::string changes;
  for (const RunChanges& run : report.run_changes)
    for (size_t i = 0; i < run.changes.size(); ++i)
      changes += pen.item(run.response + (run.machine.empty() ? "" : " on " + run.machine) + ": " +
                          run_change_text(response_of(report, run.response), run, i));
  if (report.runs_not_searched > 0) changes += pen.item(runs_not_searched_text(report.runs_not_searched));
  if (!changes.empty()) out += pen.heading("Changes within the run, all workloads together") + changes;
  return out;
}

std::string environment_section(const Pen& pen, const Report& report) {
  const EnvironmentTable& of = report.environment;
  if (of.compared == 0) return {};
  std::string notes;
  if (of.unrecorded_trials > 0)
    notes += pen.note("of " + plural(of.unrecorded_trials, report.trial_word) +
                      " only boot and CPU were recorded: they are of an older version of Stab");
  if (of.differences.empty())
    return pen.heading("The environment of the trials") +
           pen.note("no difference: " + plural(of.compared, "recorded fact") + " of the machine, the same for all of " +
                    plural(of.trials, report.trial_word)) +
           notes;
  const bool several = std::any_of(of.differences.begin(), of.differences.end(), [](const EnvironmentDifference& one) {
    return !one.values[0].machines.empty();
  });
  std::vector<text::TextTable::ColumnStyle> columns{{"fact", Align::kLeft}, {"value", Align::kLeft}, {"trials", Align::kRight},
                                              {"blocks", Align::kLeft, true}};
  if (several) columns.push_back({"machines", Align::kLeft});
  text::TextTable table(columns);
  constexpr size_t kShownValues = 8;  // of one fact; the others are in --json
  for (const EnvironmentDifference& one : of.differences) {
    const std::vector<std::string> shown = shown_values(one);
    for (size_t v = 0; v < std::min(one.values.size(), kShownValues); ++v) {
      const EnvironmentValue& value = one.values[v];
      std::string blocks = std::to_string(value.first_block);
      if (value.blocks > 1) blocks += " to " + std::to_string(value.last_block) + " (" + std::to_string(value.blocks) + ")";
      std::vector<std::string> row{v == 0 ? one.fact : "", shown[v], std::to_string(value.trials), blocks};
      std::string machines;
      for (const std::string& machine : value.machines) machines += (machines.empty() ? "" : ", ") + machine;
      if (several) row.push_back(machines);
      table.add(row);
    }
    if (one.values.size() > kShownValues)
      notes += pen.note(one.fact + ": " + plural(one.values.size() - kShownValues, "more value") + " in --json");
    for (const EnvironmentSplit& split : one.splits)
      notes += pen.note("not shared out evenly: " + split_words(one, shown, split));
  }
  return pen.heading("The environment of the trials: what differed, of " + plural(of.compared, "recorded fact")) +
         pen.table(table) + notes;
}

std::string doses_section(const Pen& pen, const Report& report) {
  if (report.doses.empty()) return {};
  text::TextTable table({{report.workload_word, Align::kLeft}, {"factor", Align::kLeft}, {"level", Align::kLeft},
                   {"trials", Align::kRight}, {"layouts (median)", Align::kRight}, {"least", Align::kRight},
                   {"most", Align::kRight}, {"moved, padded or served", Align::kRight}});
  const auto count = [](const std::optional<double>& layouts) { return layouts ? plain(*layouts) : "-"; };
  for (const DoseSummary& dose : report.doses)
    table.add({dose.workload, dose.factor, dose.level, std::to_string(dose.trials), count(dose.median),
               count(dose.minimum), count(dose.maximum), text::percent(dose.share)});
  return pen.heading("Layouts that trials really ran in") + pen.table(table);
}

std::string validity_section(const Pen& pen, const Report& report) {
  if (report.validity.empty()) return {};
  text::TextTable table({{"what happened", Align::kLeft}, {"trials", Align::kRight}});
  for (const ValidityCount& count : report.validity) table.add({count.what, std::to_string(count.trials)});
  return pen.heading("Validity") + pen.table(table);
}

}  // namespace stab::report
