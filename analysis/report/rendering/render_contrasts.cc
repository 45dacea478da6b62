// The parts of a report that say what differs: the contrasts of the primary response, those of other responses, and those of
// benchmarks in a program's own output.
#include "analysis/report/rendering/report_sections.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/text_table.h"

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

}  // namespace

std::string verdicts_section(const Pen& pen, const Report& report) {
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

std::string workload_contrasts_section(const Pen& pen, const Report& report, bool declared) {
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

namespace {

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

}  // namespace

std::string benchmarks_section(const Pen& pen, const Report& report) {
  std::map<std::tuple<uint32_t, bool, std::string>, Family> families;  // declared ones first
  for (const Contrast& contrast : report.contrasts) {
    const Response& of = response_of(report, contrast.response);
    if (of.is_benchmark()) families[{*of.only_workload, !of.declared, of.family}].push_back(&contrast);
  }
  std::string out;
  for (const auto& [which, family] : families) out += family_table(pen, report, family);
  return out;
}

}  // namespace stab::report
