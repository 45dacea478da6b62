// The tables that a statistician asks for: both kinds of blocks of a sliced experiment, the analysis of variance, plain and
// randomized cells, each cell, where the spread comes from, and machines.
#include "analysis/report/rendering/report_sections.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/text_table.h"

namespace stab::report {
namespace {

using Align = text::TextTable::Align;

// A variance as people say spreads: percent on a log scale.
std::string spread_text(const Response& response, double variance) {
  if (variance <= 0) return "none";
  const double sd = std::sqrt(variance);
  return response.scale == Scale::kLog ? text::percent(sd) : value_text(response, sd, 3);
}

}  // namespace

std::string slicing_section(const Pen& pen, const Report& report) {
  if (!report.slicing) return {};
  const Slicing& of = *report.slicing;
  const Response& primary = report.responses[0];
  std::string out = pen.heading("Slicing: " + plural(of.sliced_blocks, "block") + " sliced, " + std::to_string(of.alone_blocks) +
                                " alone, and the difference between the two kinds");
  if (!of.refused.empty()) return out + pen.note(of.refused);
  text::TextTable table({{"factor", Align::kLeft}, {"level / base", Align::kLeft}, {report.workload_word, Align::kLeft},
                   {"sliced", Align::kRight}, {"alone", Align::kRight}, {"difference", Align::kRight},
                   {plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft, true}, {"p (Holm)", Align::kRight},
                   {"answered by", Align::kLeft}});
  std::set<std::string> refusals;
  for (const SlicingBias& bias : of.biases) {
    if (bias.response != primary.name) continue;
    const std::string where = bias.population == Population::kThese       ? "these " + report.workload_word + "s"
                              : bias.population == Population::kLikeThese ? "like these"
                                                                          : bias.workload;
    std::vector<std::string> row{bias.factor, bias.level + " / " + bias.baseline, where};
    if (!bias.refused.empty()) {
      row.insert(row.end(), {"-", "-", "-", "-", "-", "refused"});
      refusals.insert(bias.refused);
    } else {
      row.insert(row.end(), {difference_text(primary, bias.sliced.estimate), difference_text(primary, bias.alone.estimate),
                             difference_text(primary, bias.bias.estimate), interval_text(primary, bias.bias),
                             text::p_text(bias.p_holm), bias.moves ? "blocks alone" : "sliced blocks"});
    }
    table.add(row);
  }
  if (!table.empty()) out += pen.table(table);
  for (const std::string& refusal : refusals) out += pen.note("refused: " + refusal);
  return out;
}

std::string anovas_section(const Pen& pen, const Report& report) {
  std::string out;
  for (const AnovaTable& anova : report.anovas) {
    const bool primary = anova.response == report.responses[0].name;
    if (!primary) continue;  // other responses: --json
    constexpr const char* kTypes[] = {"", "; type I", "; type II", "; type III"};
    out += pen.heading("Analysis of variance, " +
                       (anova.workload.empty() ? "others like these " + report.program_word + "s" : anova.workload));
    out += pen.before_table(anova.title + (anova.within_subjects ? "" : kTypes[anova.type]) +
                            (anova.scale == Scale::kLog ? ", log scale" : ""));
    if (!anova.refused.empty()) {
      out += pen.note("refused: " + anova.refused);
      continue;
    }
    std::vector<text::TextTable::ColumnStyle> columns{{"term", Align::kLeft}, {"df", Align::kRight},
                                                {"sum of squares", Align::kRight}, {"F", Align::kRight},
                                                {"p", Align::kRight}, {"part. eta²", Align::kRight},
                                                {"part. omega²", Align::kRight}};
    const bool robust = !anova.p_robust.empty();
    if (robust) columns.insert(columns.begin() + 5, {"p (" + anova.robust_method + ")", Align::kRight});
    if (anova.within_subjects) {
      columns.insert(columns.begin() + 2, {"error df", Align::kRight});
      columns.push_back({"p (GG)", Align::kRight});
    }
    constexpr size_t kShownLeftOut = 6;
    constexpr size_t kShownAliases = 2;  // a column's width; the others are in --json
    text::TextTable table(columns);
    for (size_t i = 0; i < anova.rows.size(); ++i) {
      const statistics::AnovaRow& row = anova.rows[i];
      const bool aliased = i < anova.aliases.size() && !anova.aliases[i].empty();
      std::vector<std::string> cells{aliased ? alias_string(row.term, anova.aliases[i], kShownAliases) : row.term,
                                     text::significant(row.df, 4)};
      const bool whole = row.df == std::floor(row.df);
      if (whole) cells[1] = std::to_string(static_cast<long>(row.df));
      if (anova.within_subjects) cells.push_back(std::to_string(static_cast<long>(anova.errors[i].df)));
      cells.push_back(text::significant(row.sum_squares));
      cells.push_back(row.f ? text::significant(*row.f) : "");
      cells.push_back(row.p_value ? text::p_text(*row.p_value) : "");
      if (robust) cells.push_back(anova.p_robust[i] ? text::p_text(*anova.p_robust[i]) : "");
      cells.push_back(row.partial_eta_squared ? text::significant(*row.partial_eta_squared, 3) : "");
      cells.push_back(row.partial_omega_squared ? text::significant(*row.partial_omega_squared, 3) : "");
      if (anova.within_subjects) cells.push_back(text::p_text(anova.errors[i].p_greenhouse_geisser));
      table.add(std::move(cells));
    }
    out += pen.table(table);
    std::string left_out;
    for (size_t i = 0; i < std::min(anova.left_out.size(), kShownLeftOut); ++i) left_out += (i ? ", " : "") + anova.left_out[i];
    if (anova.left_out.size() > kShownLeftOut)
      left_out += " and " + std::to_string(anova.left_out.size() - kShownLeftOut) + " more";
    if (!left_out.empty()) out += pen.note("left out, the cells can't tell them from the terms above: " + left_out);
  }
  return out;
}

std::string halves_section(const Pen& pen, const Report& report) {
  if (report.halves.empty()) return {};
  const Response& primary = report.responses[0];
  std::vector<text::TextTable::ColumnStyle> columns{{"half", Align::kLeft}};
  const bool several = report.workloads.size() > 1;
  if (several) columns.push_back({report.workload_word, Align::kLeft, true});
  for (const text::TextTable::ColumnStyle& column : std::vector<text::TextTable::ColumnStyle>{
           {"level / baseline", Align::kLeft, true}, {"n", Align::kRight}, {"difference", Align::kRight},
           {plain(100 * (1 - report.interval_level)) + " % interval", Align::kLeft, true}, {"cells", Align::kLeft}})
    columns.push_back(column);
  text::TextTable table(columns);
  for (const HalfContrast& half : report.halves) {
    const bool refused = !half.refused.empty();
    std::vector<std::string> row{half.randomized ? "randomized" : "plain"};
    if (several) row.push_back(half.workload);
    row.insert(row.end(), {half.factor + ": " + half.level + " / " + half.baseline, std::to_string(half.n),
                           refused ? "" : difference_text(primary, half.interval.estimate),
                           refused ? "refused: " + half.refused : interval_text(primary, half.interval), half.within});
    table.add(std::move(row));
  }
  return pen.heading("Plain and randomized cells: " + primary.name) + pen.table(table) +
         pen.note(
             "each row alone, without a verdict: an effect of the treatment shows in both halves, the bias of one layout "
             "in the plain one alone");
}

// Digits of means that show two of each interval: counts of instructions agree in the first five.
int digits_of_means(const Report& report) {
  constexpr double kUsual = 4, kMost = 10;
  double digits = kUsual;
  for (const Cell& cell : report.cells) {
    if (cell.response != report.responses[0].name || !cell.mean_interval) continue;
    const Interval& mean = *cell.mean_interval;
    const double share = (mean.high - mean.low) / 2 / std::fabs(mean.estimate);
    if (share > 0 && std::isfinite(share)) digits = std::max(digits, std::ceil(-std::log10(share)) + 1);
  }
  return static_cast<int>(std::min(digits, kMost));
}

std::string cells_section(const Pen& pen, const Report& report) {
  const Response& primary = report.responses[0];
  std::vector<text::TextTable::ColumnStyle> columns{{report.workload_word, Align::kLeft}};
  // A factor of one level is said once, in the heading.
  std::vector<size_t> varying;
  std::string constant;
  for (size_t f = 0; f < report.factors.size(); ++f) {
    const Factor& factor = report.factors[f];
    if (factor.levels.size() == 1) {
      constant += ", " + factor.name + "=" + factor.levels[0];
      continue;
    }
    varying.push_back(f);
    columns.push_back({factor.name, Align::kLeft});
  }
  for (const char* title : {"n", "mean", "median", "sd"}) columns.push_back({title, Align::kRight});
  columns.push_back({plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft, true});
  columns.push_back({"W", Align::kRight});
  columns.push_back({"p", Align::kRight});
  text::TextTable table(columns);
  const int digits = digits_of_means(report);
  bool one_layout = false;
  for (const Cell& cell : report.cells) {
    if (cell.response != primary.name) continue;
    one_layout |= cell.one_layout;
    std::vector<std::string> row{cell.workload};
    for (size_t f : varying) row.push_back(cell.levels[f]);
    row.push_back(std::to_string(cell.n) + (cell.one_layout ? "†" : ""));
    // What the interval is of: on the log scale the geometric mean.
    row.push_back(value_text(primary, cell.mean_interval ? cell.mean_interval->estimate : cell.mean, digits));
    row.push_back(value_text(primary, cell.median, digits));
    row.push_back(cell.sd && cell.mean != 0 ? text::significant(100 * *cell.sd / std::fabs(cell.mean), 2) + " %" : "");
    row.push_back(cell.mean_interval
                      ? between(value_text(primary, cell.mean_interval->low, digits),
                                value_text(primary, cell.mean_interval->high, digits))
                      : "");
    row.push_back(cell.shapiro_w ? text::significant(*cell.shapiro_w, 3) : "");
    row.push_back(cell.shapiro_p ? text::p_text(*cell.shapiro_p) : "");
    table.add(std::move(row));
  }
  const char* means = primary.scale == Scale::kLog ? "; geometric means" : "";
  return pen.heading("Cells: " + primary.name + constant + means + "; W and p: Shapiro-Wilk") + pen.table(table) +
         (one_layout ? pen.note("† n repeats of one layout, not n layouts") : "");
}

std::string components_section(const Pen& pen, const Report& report) {
  const Response& primary = report.responses[0];
  std::vector<text::TextTable::ColumnStyle> columns{{report.workload_word, Align::kLeft}, {"layouts", Align::kRight},
                                                    {"runs each", Align::kRight},         {"sd of layouts", Align::kRight},
                                                    {"sd of runs", Align::kRight},        {"layout + run", Align::kRight}};
  if (report.slicing) columns.push_back({"sd of blocks", Align::kRight});
  text::TextTable table(columns);
  for (const SpreadComponents& part : report.components) {
    if (part.response != primary.name) continue;
    std::vector<std::string> row{part.workload,
                                 std::to_string(part.layouts),
                                 plain(part.runs_per_layout),
                                 part.run ? spread_text(primary, part.layout) : "",
                                 part.run ? spread_text(primary, *part.run) : "",
                                 part.run ? "" : spread_text(primary, part.layout)};
    if (report.slicing) row.push_back(part.block ? spread_text(primary, *part.block) : "");
    table.add(row);
  }
  if (table.empty()) return {};
  return pen.heading("Where the spread within cells comes from") + pen.table(table) +
         (report.slicing ? pen.note("sd of blocks: what a block's trials have in common; it is in no difference between them")
                         : "");
}

std::string machines_section(const Pen& pen, const Report& report) {
  if (report.machine_contrasts.empty()) return {};
  const Response& primary = report.responses[0];
  text::TextTable table({{"factor", Align::kLeft}, {"level / base", Align::kLeft}, {report.workload_word, Align::kLeft},
                   {"machines", Align::kLeft}, {"difference", Align::kRight},
                   {plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft, true}, {"df", Align::kRight},
                   {"p", Align::kRight}});
  std::string notes;
  for (const MachineContrast& contrast : report.machine_contrasts) {
    if (contrast.response != primary.name) continue;
    const std::string where = contrast.workload.empty() ? "these " + report.workload_word + "s" : contrast.workload;
    const std::string which = contrast.level + " / " + contrast.baseline;
    for (const MachineContrast::One& one : contrast.machines)
      table.add({contrast.factor, which, where, one.machine, difference_text(primary, one.interval.estimate),
                 interval_text(primary, one.interval), "", ""});
    if (!contrast.refused.empty()) {
      table.add({contrast.factor, which, where, "together", "-", "-", "-", "refused"});
      notes += pen.note(contrast.factor + " " + which + ", " + where + ": " + contrast.refused);
      continue;
    }
    table.add({contrast.factor, which, where, "these machines", difference_text(primary, contrast.these.estimate),
               interval_text(primary, contrast.these), text::significant(contrast.these_df, 3), text::p_text(contrast.these_p)});
    table.add({contrast.factor, which, where, "machines like these", difference_text(primary, contrast.like_these.estimate),
               interval_text(primary, contrast.like_these), text::significant(contrast.like_df, 3),
               text::p_text(contrast.like_p)});
    notes += pen.note(contrast.factor + " " + which + ", " + where + ": do machines differ? F(" +
                      text::significant(contrast.f_df1, 3) + ", " + text::significant(contrast.f_df2, 3) +
                      ") = " + text::significant(contrast.f, 3) + ", p " + text::p_text(contrast.f_p) +
                      "; between machines: sd " + spread_text(primary, contrast.between));
  }
  if (table.empty()) return {};
  return pen.heading("Machines: each by itself, these machines, and machines like these") + pen.table(table) + notes;
}

}  // namespace stab::report
