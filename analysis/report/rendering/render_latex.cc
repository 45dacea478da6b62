// The main tables for a paper: what differs, the cells behind it, the analysis of variance, and what to be careful of. Estimates
// and ends of intervals have columns of their own, so that a paper's author can drop some.
#include <algorithm>
#include <cmath>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/latex.h"

namespace stab::report {
namespace {

using Align = text::TextTable::Align;

std::string caption(const Report& report, const std::string& text) {
  return (report.experiment.empty() ? "" : report.experiment + ": ") + text;
}

std::string percent_level(const Report& report) { return plain(100 * (1 - report.alpha)) + " %"; }

std::string contrasts(const Report& report) {
  std::string out;
  for (const Response& response : report.responses) {
    if (!response.declared) continue;
    text::TextTable table({{"factor", Align::kLeft}, {"level / base", Align::kLeft}, {report.workload_word, Align::kLeft},
                     {"difference", Align::kRight}, {"low", Align::kRight}, {"high", Align::kRight}, {"n", Align::kRight},
                     {"p (Holm)", Align::kRight}, {"verdict", Align::kLeft}});
    for (const Contrast& contrast : report.contrasts) {
      if (contrast.response != response.name) continue;
      const std::string where = contrast.population == Population::kThese       ? "these " + report.workload_word + "s"
                                : contrast.population == Population::kLikeThese ? report.program_word + "s like these"
                                                                                : contrast.workload;
      const std::string which = contrast.level + " / " + contrast.baseline;
      if (!contrast.refused.empty()) {
        table.add({contrast.factor, which, where, "–", "–", "–", "–", "–", "refused"});
        continue;
      }
      table.add({contrast.factor, which, where, difference_text(response, contrast.interval.estimate),
                 difference_text(response, contrast.interval.low), difference_text(response, contrast.interval.high),
                 std::to_string(contrast.n), text::p_text(contrast.p_holm),
                 verdict_word(response, contrast) + (contrast.by_alone ? " (blocks alone)" : "") +
                     (contrast.one_layout_a_side ? " †" : "")});
    }
    if (table.empty()) continue;
    out += table.latex(caption(report, response.name + ", differences with " + percent_level(report) +
                                           " intervals; smallest difference that matters: " +
                                           (response.margin == 0 ? "none" : margin_text(response)) +
                                           "; † at least one side ran in one layout"));
  }
  return out;
}

std::string cells(const Report& report) {
  std::string out;
  for (const Response& response : report.responses) {
    if (!response.declared) continue;
    std::vector<text::TextTable::ColumnStyle> columns{{report.workload_word, Align::kLeft}};
    for (const Factor& factor : report.factors) columns.push_back({factor.name, Align::kLeft});
    for (const char* title : {"n", "mean", "low", "high", "median", "sd"}) columns.push_back({title, Align::kRight});
    text::TextTable table(columns);
    for (const Cell& cell : report.cells) {
      if (cell.response != response.name) continue;
      std::vector<std::string> row{cell.workload};
      for (const std::string& level : cell.levels) row.push_back(level);
      row.push_back(std::to_string(cell.n));
      const bool has = cell.mean_interval.has_value();
      row.push_back(value_text(response, has ? cell.mean_interval->estimate : cell.mean));
      row.push_back(has ? value_text(response, cell.mean_interval->low) : "–");
      row.push_back(has ? value_text(response, cell.mean_interval->high) : "–");
      row.push_back(value_text(response, cell.median));
      row.push_back(cell.sd ? value_text(response, *cell.sd, 3) : "–");
      table.add(row);
    }
    if (!table.empty())
      out += table.latex(caption(report, response.name + ", cells: " +
                                             (response.scale == Scale::kLog ? "geometric means" : "means") + " with " +
                                             percent_level(report) + " intervals"));
  }
  return out;
}

std::string number_or_dash(const std::optional<double>& x, int digits) { return x ? text::significant(*x, digits) : "–"; }
std::string p_or_dash(const std::optional<double>& p) { return p ? text::p_text(*p) : "–"; }
std::string df_text(double df) { return df == std::floor(df) ? std::to_string(static_cast<long>(df)) : text::significant(df, 4); }

// Those of single workloads whose second p, beside that of equal spread, is of this method; empty: they have none.
std::string variance_within(const Report& report, const std::string& method) {
  std::vector<text::TextTable::ColumnStyle> columns{
      {report.workload_word, Align::kLeft},  {"term", Align::kLeft}, {"df", Align::kRight},
      {"sum of squares", Align::kRight},     {"F", Align::kRight},   {"p", Align::kRight},
      {"partial eta squared", Align::kRight}};
  if (!method.empty()) columns.insert(columns.begin() + 6, {"p (" + method + ")", Align::kRight});
  text::TextTable table(columns);
  for (const AnovaTable& one : report.anovas) {
    if (one.response != report.responses[0].name || !one.refused.empty() || one.within_subjects || one.robust_method != method)
      continue;
    for (size_t i = 0; i < one.rows.size(); ++i) {
      const statistics::AnovaRow& row = one.rows[i];
      std::vector<std::string> cells{one.workload, row.term, df_text(row.df), text::significant(row.sum_squares, 4),
                                     number_or_dash(row.f, 4), p_or_dash(row.p_value)};
      if (!method.empty()) cells.push_back(p_or_dash(one.p_robust[i]));
      cells.push_back(number_or_dash(row.partial_eta_squared, 3));
      table.add(std::move(cells));
    }
  }
  return table.empty() ? "" : table.latex(caption(report, report.responses[0].name + ", analysis of variance"));
}

std::string variance_over_programs(const Report& report) {
  text::TextTable table({{"term", Align::kLeft}, {"df", Align::kRight}, {"error df", Align::kRight},
                   {"sum of squares", Align::kRight}, {"F", Align::kRight}, {"p", Align::kRight}, {"p (GG)", Align::kRight},
                   {"partial eta squared", Align::kRight}});
  for (const AnovaTable& one : report.anovas) {
    if (one.response != report.responses[0].name || !one.refused.empty() || !one.within_subjects) continue;
    for (size_t i = 0; i < one.rows.size(); ++i) {
      const statistics::AnovaRow& row = one.rows[i];
      table.add({row.term, df_text(row.df), df_text(one.errors[i].df), text::significant(row.sum_squares, 4),
                 number_or_dash(row.f, 4), p_or_dash(row.p_value), text::p_text(one.errors[i].p_greenhouse_geisser),
                 number_or_dash(row.partial_eta_squared, 3)});
    }
  }
  return table.empty() ? ""
                       : table.latex(caption(report, report.responses[0].name + ", analysis of variance for others like these " +
                                                         report.program_word + "s; terms against their variation between " +
                                                         report.program_word + "s, GG: corrected for sphericity"));
}

std::string variance(const Report& report) {
  std::vector<std::string> methods;
  for (const AnovaTable& one : report.anovas)
    if (!one.within_subjects && std::find(methods.begin(), methods.end(), one.robust_method) == methods.end())
      methods.push_back(one.robust_method);
  std::string out;
  for (const std::string& method : methods) out += variance_within(report, method);
  return out + variance_over_programs(report);
}

std::string caveats(const Report& report) {
  if (report.caveats.empty()) return "% no check raised a caveat\n";
  std::string out = "\\begin{itemize}\n";
  for (const Caveat& caveat : report.caveats)
    out += "\\item " + text::as_latex(caveat.message) + "; " + text::as_latex(caveat.hint) + "\n";
  return out + "\\end{itemize}\n";
}

}  // namespace

std::string render_latex(const Report& report) {
  return "% tables of stabctl; the preamble needs \\usepackage{booktabs,longtable} and, before LaTeX of 2018,\n"
         "% \\usepackage[utf8]{inputenc}\n" +
         contrasts(report) + cells(report) + variance(report) + caveats(report);
}

}  // namespace stab::report
