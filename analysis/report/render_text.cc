// The report for people: a terminal or Markdown. One screen first: the answers in sentences, then what differs, by how
// much, how sure, and what to be careful of. Then the tables a statistician asks for, in the order of the questions.
// Rendering computes nothing: numbers come from the report.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/report/caveats.h"
#include "analysis/report/modes.h"
#include "analysis/report/render_estimators.h"
#include "analysis/report/report_pen.h"
#include "analysis/report/run_changes.h"
#include "analysis/text/markup.h"

namespace stab::report {
namespace {

using Align = text::TextTable::Align;

std::string verdict_text(const Pen& pen, const Report& report, const Contrast& contrast) {
  if (!contrast.refused.empty()) return "refused";
  const Response& response = response_of(report, contrast.response);
  std::string word = verdict_word(response, contrast);
  if (contrast.verdict == Verdict::kChanged) {
    const bool up = contrast.interval.estimate > (contrast.scale == Scale::kLog ? 1 : 0);
    word = pen.paint(up != response.higher_is_better ? "31" : "32", word);
  }
  if (contrast.verdict == Verdict::kEquivalent) word = pen.paint("32", word);
  if (contrast.verdict == Verdict::kUnsure) {
    word = pen.paint("33", word);
    if (contrast.settles_n) word += " (n " + std::to_string(*contrast.settles_n) + ")";
  }
  if (contrast.by_alone) word += " (blocks alone)";
  if (contrast.one_layout_a_side) word += " †";
  return word;
}

// "code = stack:heap, stack = code:heap": which effects each factor's contrast stands for, in the primary response.
std::string alias_text(const Report& report) {
  std::string out;
  for (const Factor& factor : report.factors) {
    for (const Contrast& contrast : report.contrasts) {
      if (contrast.response != report.responses[0].name || contrast.factor != factor.name || contrast.aliases.empty()) continue;
      out += (out.empty() ? "" : ", ") + alias_string(factor.name, contrast.aliases);
      break;
    }
  }
  return out;
}

std::string header(const Pen& pen, const Report& report) {
  std::string levels;
  uint64_t crossing = 1;
  for (const Factor& factor : report.factors) {
    levels += (levels.empty() ? "" : " x ") + factor.name + " {";
    for (size_t i = 0; i < factor.levels.size(); ++i) levels += (i ? ", " : "") + factor.levels[i];
    levels += "}";
    crossing *= factor.levels.size();
  }
  const Response& primary = report.responses[0];
  const std::string margin = primary.margin == 0                                       ? "none"
                             : primary.scale == Scale::kLog || primary.margin_is_share ? plain(100 * primary.margin) + " %"
                                                                                       : value_text(primary, primary.margin, 3);
  const std::string name = report.experiment.empty() ? "report" : report.experiment;
  const auto line = [&](const std::string& text) {
    return pen.markdown ? pen.item(text) : text::wrap(text, pen.width, "", "  ");
  };
  std::string out = (pen.markdown ? "# " + text::as_markdown(name) : pen.paint("1", name)) + ": " +
                    plural(report.workloads.size(), report.workload_word) + ", " +
                    (report.cell_count < crossing ? std::to_string(report.cell_count) + " of " : "") + plural(crossing, "cell") +
                    ", " + plural(report.analysed, report.trial_word) + " analysed";
  if (report.excluded) out += ", " + std::to_string(report.excluded) + " excluded";
  if (report.failed) out += ", " + std::to_string(report.failed) + " failed";
  out += "\n";
  if (pen.markdown) out += "\n";
  if (!levels.empty()) out += line("factors: " + levels);
  if (const std::string aliases = alias_text(report); !aliases.empty())
    out += line("fraction: each effect is estimated from all cells, and is that of a sum: " + aliases);
  out += line("response: " + primary.name + (primary.scale == Scale::kLog ? " on a log scale (ratios of geometric means)" : "") +
              ", margin " + margin + ", alpha " + plain(100 * report.alpha) + " %");
  if (!report.stopping.empty()) out += line("stopping: " + report.stopping);
  return out;
}

text::TextTable contrast_table(const Report& report) {
  return text::TextTable({{"factor", Align::kLeft},
                          {"level / base", Align::kLeft},
                          {report.workload_word, Align::kLeft},
                          {"difference", Align::kRight},
                          {plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft, true},
                          {"p (Holm)", Align::kRight},
                          {"verdict", Align::kLeft, true}});
}

void add_contrast(const Pen& pen, const Report& report, const Contrast& contrast, text::TextTable& table) {
  const Response& response = response_of(report, contrast.response);
  std::string where = contrast.workload;
  if (contrast.population == Population::kThese) where = "these " + report.workload_word + "s";
  if (contrast.population == Population::kLikeThese) where = "like these";
  const std::string which = contrast.level + " / " + contrast.baseline;
  if (!contrast.refused.empty()) {
    table.add({contrast.factor, which, where, "-", "-", "-", "refused"});
    return;
  }
  table.add({contrast.factor, which, where, difference_text(response, contrast.interval.estimate),
             interval_text(response, contrast.interval),
             text::p_text(contrast.p_holm), verdict_text(pen, report, contrast)});
}

// Below a table, where one of its lines has the sign.
std::string dagger_note(const Pen& pen, bool dagger) {
  return dagger ? pen.note("† at least one side ran in one layout: the difference holds for this link only") : "";
}

// Up to this many workloads their contrasts are on the first screen; beyond it they are counted there.
constexpr size_t kFirstScreenWorkloads = 4;

std::string verdicts(const Pen& pen, const Report& report) {
  const std::string& primary = report.responses[0].name;
  const bool few = report.workloads.size() <= kFirstScreenWorkloads;
  text::TextTable table = contrast_table(report);
  bool dagger = false, settles = false, links = false;
  std::set<std::string> refusals;
  for (const Factor& factor : report.factors) {
    for (const bool overall : {true, false}) {
      for (const Contrast& contrast : report.contrasts) {
        if (contrast.response != primary || contrast.factor != factor.name) continue;
        if (contrast.workload.empty() != overall || (!overall && !few)) continue;
        add_contrast(pen, report, contrast, table);
        dagger |= contrast.one_layout_a_side && contrast.refused.empty();
        settles |= contrast.settles_n.has_value();
        links |= contrast.settles_n && contrast.by_link;
        if (!contrast.refused.empty()) refusals.insert(contrast.refused);
      }
    }
  }
  if (table.empty()) return {};
  std::string out = pen.heading("What differs") + pen.table(table);
  if (!few) {
    text::TextTable tally({{"factor", Align::kLeft}, {"level / baseline", Align::kLeft}, {"changed", Align::kRight},
                     {"equivalent", Align::kRight}, {"unsure", Align::kRight}, {"other", Align::kRight}});
    for (const Factor& factor : report.factors) {
      for (const std::string& level : factor.levels) {
        uint64_t counts[4] = {};
        std::string baseline;
        for (const Contrast& contrast : report.contrasts) {
          if (contrast.response != primary || contrast.factor != factor.name || contrast.level != level ||
              contrast.workload.empty())
            continue;
          ++counts[static_cast<int>(contrast.verdict)];
          baseline = contrast.baseline;
        }
        if (baseline.empty()) continue;
        tally.add({factor.name, level + " / " + baseline, std::to_string(counts[0]), std::to_string(counts[1]),
                   std::to_string(counts[2]), std::to_string(counts[3])});
      }
    }
    if (!tally.empty()) out += pen.heading("Verdicts by " + report.workload_word + " (each is below)") + pen.table(tally);
  }
  if (report.workloads.size() > 1)
    out += pen.note("these " + report.workload_word + "s: as given, error within cells; like these: " +
                    (report.programs.empty() ? "they are a sample, error between them"
                                             : "their " + report.program_word + "s are a sample, error between them, " +
                                                   report.workload_word + "s of one averaged"));
  if (settles)
    out += pen.note("(n ...): the " + replicates_word(report) + " of each cell" +
                    (links ? ", or links where code is as linked," : "") + " needed to decide, if the estimate is right");
  out += dagger_note(pen, dagger);
  for (const std::string& refusal : refusals) out += pen.note("refused: " + refusal);
  return out;
}

std::string caveats(const Pen& pen, const Report& report) {
  if (report.caveats.empty()) return {};
  std::string out = pen.heading("Read with care");
  for (const Caveat& caveat : report.caveats)
    out += pen.item(caveat.message + "; " + caveat.hint);
  return out;
}

// Of a sliced experiment: what both kinds of blocks say of each question, in the primary response.
std::string slicing(const Pen& pen, const Report& report) {
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

std::string workload_contrasts(const Pen& pen, const Report& report, bool declared) {
  std::string out;
  for (const Response& response : report.responses) {
    if (response.declared != declared || response.is_benchmark()) continue;
    const bool shown = &response == &report.responses[0] && report.workloads.size() <= kFirstScreenWorkloads;
    if (shown) continue;
    text::TextTable table = contrast_table(report);
    bool dagger = false;
    for (const Contrast& contrast : report.contrasts) {
      const bool overall_shown = &response == &report.responses[0] && contrast.workload.empty();
      if (contrast.response != response.name || overall_shown) continue;
      add_contrast(pen, report, contrast, table);
      dagger |= contrast.one_layout_a_side && contrast.refused.empty();
    }
    if (table.empty()) continue;
    out += pen.heading("Differences in " + response.name + (response.declared ? "" : " (exploratory)")) +
           pen.table(table) + dagger_note(pen, dagger);
  }
  return out;
}

// Benchmarks of a program's own output, a table for each family: what changed, largest first, then what is nearest to it and
// unsure. What is the same is counted: of 500 benchmarks most are. All of them are in --json and --csv.
constexpr size_t kShownChanged = 100, kShownUnsure = 10;

using Family = std::vector<const Contrast*>;

std::string family_title(const Report& report, const Response& of, size_t questions) {
  const std::string workload = report.workloads.size() > 1 ? " of " + report.workloads[*of.only_workload] : "";
  if (of.error_rate == ErrorRate::kFamilyWise)
    return "Benchmarks" + workload + ", family " + of.family + " (Holm over " + std::to_string(questions) + ")";
  return "Benchmarks" + workload + ", exploratory (false discovery rate over " + std::to_string(questions) + ")";
}

void by_size(Family& family) {
  const auto size = [](const Contrast* one) { return std::fabs(std::log(one->interval.estimate)); };
  std::stable_sort(family.begin(), family.end(), [&](const Contrast* a, const Contrast* b) { return size(a) > size(b); });
}

std::string family_table(const Pen& pen, const Report& report, const Family& family) {
  Family changed, unsure;
  size_t equivalent = 0;
  std::map<std::string, std::vector<std::string>> refused;
  bool dagger = false;
  for (const Contrast* contrast : family) {
    if (!contrast->refused.empty()) refused[contrast->refused].push_back(contrast->response);
    else if (contrast->verdict == Verdict::kEquivalent) ++equivalent;
    else (contrast->verdict == Verdict::kChanged ? changed : unsure).push_back(contrast);
    dagger |= contrast->one_layout_a_side && contrast->refused.empty();
  }
  by_size(changed);
  by_size(unsure);
  const Response& first = response_of(report, family[0]->response);
  text::TextTable table({{"benchmark", Align::kLeft, true},
                         {"level / baseline", Align::kLeft},
                         {"difference", Align::kRight},
                         {plain(100 * (1 - report.alpha)) + " % interval", Align::kLeft, true},
                         {first.error_rate == ErrorRate::kFamilyWise ? "p (Holm)" : "p (BY)", Align::kRight},
                         {"verdict", Align::kLeft, true}});
  for (const auto& [list, most] : {std::pair{&changed, kShownChanged}, std::pair{&unsure, kShownUnsure}}) {
    for (size_t i = 0; i < std::min(list->size(), most); ++i) {
      const Contrast& contrast = *(*list)[i];
      const Response& response = response_of(report, contrast.response);
      table.add({contrast.response, contrast.factor + ": " + contrast.level + " / " + contrast.baseline,
                 difference_text(response, contrast.interval.estimate), interval_text(response, contrast.interval),
                 text::p_text(contrast.p_holm), verdict_text(pen, report, contrast)});
    }
  }
  std::string out = pen.heading(family_title(report, first, family.size()));
  if (!table.empty()) out += pen.table(table);
  std::string rest = std::to_string(changed.size()) + " changed, " + std::to_string(equivalent) +
                     " the same within the margin, " + std::to_string(unsure.size()) + " without a verdict";
  if (changed.size() > kShownChanged || unsure.size() > kShownUnsure || equivalent > 0) rest += "; --json has each of them";
  out += pen.note(rest) + dagger_note(pen, dagger);
  for (const auto& [why, names] : refused)
    out += pen.note("refused: " + names[0] +
                    (names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "") + ": " + why);
  return out;
}

std::string benchmarks(const Pen& pen, const Report& report) {
  std::map<std::tuple<uint32_t, bool, std::string>, Family> families;  // declared ones first
  for (const Contrast& contrast : report.contrasts) {
    const Response& of = response_of(report, contrast.response);
    if (of.is_benchmark()) families[{*of.only_workload, !of.declared, of.family}].push_back(&contrast);
  }
  std::string out;
  for (const auto& [which, family] : families) out += family_table(pen, report, family);
  return out;
}

std::string anovas(const Pen& pen, const Report& report) {
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

// What treatments do in plain cells and in randomized ones.
std::string halves(const Pen& pen, const Report& report) {
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
             "each row alone, without a verdict: an effect of the treatment shows in both halves, the luck of one layout "
             "in the plain one alone");
}

std::string cells(const Pen& pen, const Report& report) {
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
  bool one_layout = false;
  for (const Cell& cell : report.cells) {
    if (cell.response != primary.name) continue;
    one_layout |= cell.one_layout;
    std::vector<std::string> row{cell.workload};
    for (size_t f : varying) row.push_back(cell.levels[f]);
    row.push_back(std::to_string(cell.n) + (cell.one_layout ? "†" : ""));
    // What the interval is of: on the log scale the geometric mean.
    row.push_back(value_text(primary, cell.mean_interval ? cell.mean_interval->estimate : cell.mean));
    row.push_back(value_text(primary, cell.median));
    row.push_back(cell.sd && cell.mean != 0 ? text::significant(100 * *cell.sd / std::fabs(cell.mean), 2) + " %" : "");
    row.push_back(cell.mean_interval
                      ? between(value_text(primary, cell.mean_interval->low), value_text(primary, cell.mean_interval->high))
                      : "");
    row.push_back(cell.shapiro_w ? text::significant(*cell.shapiro_w, 3) : "");
    row.push_back(cell.shapiro_p ? text::p_text(*cell.shapiro_p) : "");
    table.add(std::move(row));
  }
  const char* means = primary.scale == Scale::kLog ? "; geometric means" : "";
  return pen.heading("Cells: " + primary.name + constant + means + "; W and p: Shapiro-Wilk") + pen.table(table) +
         (one_layout ? pen.note("† n repeats of one layout, not n layouts") : "");
}

// A variance as people say spreads: percent on a log scale.
std::string spread_text(const Response& response, double variance) {
  if (variance <= 0) return "none";
  const double sd = std::sqrt(variance);
  return response.scale == Scale::kLog ? text::percent(sd) : value_text(response, sd, 3);
}

std::string components(const Pen& pen, const Report& report) {
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

// Both questions over machines, and whether they differ; the primary response.
std::string machines(const Pen& pen, const Report& report) {
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

std::string diagnostics(const Pen& pen, const Report& report) {
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

// Cells with several modes, and where the run changes; nothing where there are none.
std::string shapes(const Pen& pen, const Report& report) {
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

// What differed in the machine between trials; one line where nothing did.
std::string environment(const Pen& pen, const Report& report) {
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

std::string doses(const Pen& pen, const Report& report) {
  if (report.doses.empty()) return {};
  text::TextTable table({{report.workload_word, Align::kLeft}, {"factor", Align::kLeft}, {"level", Align::kLeft},
                   {"trials", Align::kRight}, {"layouts (median)", Align::kRight}, {"least", Align::kRight},
                   {"most", Align::kRight}, {"moved, padded or served", Align::kRight}});
  const auto count = [](const std::optional<double>& layouts) { return layouts ? plain(*layouts) : "-"; };
  for (const DoseSummary& dose : report.doses)
    table.add({dose.workload, dose.factor, dose.level, std::to_string(dose.trials), count(dose.median),
               count(dose.minimum), count(dose.maximum), text::percent(dose.share)});
  return pen.heading("Doses: layouts that trials really ran in") + pen.table(table);
}

std::string validity(const Pen& pen, const Report& report) {
  if (report.validity.empty()) return {};
  text::TextTable table({{"what happened", Align::kLeft}, {"trials", Align::kRight}});
  for (const ValidityCount& count : report.validity) table.add({count.what, std::to_string(count.trials)});
  return pen.heading("Validity") + pen.table(table);
}

}  // namespace

namespace {

std::string render(const Pen& pen, const Report& report) {
  return header(pen, report) + answer(pen, report) + verdicts(pen, report) + caveats(pen, report) + slicing(pen, report) +
         estimators_text(pen, report) +
         machines(pen, report) +
         workload_contrasts(pen, report, true) + benchmarks(pen, report) + halves(pen, report) + anovas(pen, report) +
         cells(pen, report) + components(pen, report) +
         diagnostics(pen, report) + shapes(pen, report) + environment(pen, report) + doses(pen, report) + validity(pen, report) +
         workload_contrasts(pen, report, false);
}

}  // namespace

std::string render_terminal(const Report& report, int width, bool colour) {
  return render(Pen{std::clamp(width, 60, 200), colour, false}, report);
}

std::string render_markdown(const Report& report) { return render(Pen{200, false, true}, report); }

}  // namespace stab::report
