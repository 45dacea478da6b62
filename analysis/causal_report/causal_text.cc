// The causal report for people. First what it says of each line, then what that rests on: the null control, baseline windows
// against each other, slopes from both sides, whether cells or layouts differ, how the program goes with load.
#include <algorithm>
#include <cmath>

#include "analysis/causal_report/causal.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/text_table.h"

namespace stab::causal_report {
namespace {

using Align = text::TextTable::Align;

std::string points(double share) {
  std::string out = text::significant(100 * share, 3);
  return share >= 0 ? "+" + out : out;
}
// "+5.2 [+4.1, +6.3]", in percent.
std::string in_percent(const report::Interval& share) {
  return points(share.estimate) + " [" + points(share.low) + ", " + points(share.high) + "]";
}

std::string arm_text(const CausalArm& arm) {
  if (!arm.effect.refused.empty()) return "refused";
  return in_percent(arm.effect.speedup);
}

std::string slope_text(const std::optional<CausalSlope>& slope) {
  if (!slope) return "-";
  return text::significant(slope->slope.estimate, 2) + " [" + text::significant(slope->slope.low, 2) + ", " +
         text::significant(slope->slope.high, 2) + "]";
}

// The end of a long name, which is what tells it from others.
std::string end_of(const std::string& name) {
  constexpr size_t kLongest = 32;
  if (text::display_width(name) <= kLongest) return name;
  size_t at = name.size();
  for (size_t left = kLongest - 1; at > 0 && left > 0; --left)
    do --at;
    while (at > 0 && (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80);
  return "…" + name.substr(at);
}

class CausalText {
 public:
  CausalText(const CausalReport& report, const report::Pen& pen) : report_(report), design_(report.design), pen_(pen) {}

  std::string all() {
    std::string out = header();
    for (uint32_t cell = 0; cell < report_.cells.size(); ++cell)
      for (uint32_t point = 0; point < design_.points.size(); ++point) out += curves(cell, point);
    out += nulls() + alarms() + interactions() + layouts();
    for (const Saturation& saturation : report_.saturations) out += load(saturation);
    return out + caveats();
  }

 private:
  std::string header() const {
    if (design_.loads) return load_header();
    std::string out = pen_.heading("Causal profile of " + (design_.program.empty() ? design_.experiment : design_.program));
    uint64_t trials = 0, windows = 0;
    for (const CausalCellSummary& cell : report_.cells) trials += cell.trials, windows += cell.windows;
    const std::string seen = design_.whole_runs ? plural(windows, "run") + " in " + plural(trials, "block")
                                                : plural(trials, "trial") + ", " + plural(windows, "window");
    return out +
           pen_.note(seen + "; margin " + text::percent(design_.margin) + ", alpha " + report::plain(design_.alpha) +
                     ". If a line took so much less time, the program would take so much less: percent of the program's time, " +
                     report::plain(100 * (1 - design_.alpha)) + " % interval.");
  }

  std::string load_header() const {
    uint64_t trials = 0, windows = 0;
    for (const CausalCellSummary& cell : report_.cells) trials += cell.trials, windows += cell.windows;
    return pen_.heading("Amplified load of " + (design_.program.empty() ? design_.experiment : design_.program)) +
           pen_.note(plural(trials, "trial") + ", " + plural(windows, "window") +
                     ". At load m everything but the arrivals was made m times slower: in the program's own time m times as many "
                     "tasks came. " +
                     report::plain(100 * (1 - design_.alpha)) + " % intervals over trials.");
  }

  std::string verdict(const CausalCurve& curve) const {
    std::string word(name(curve.verdict));
    if (curve.verdict == LineVerdict::kWorthIt) word = pen_.paint("32", word);
    if (curve.verdict == LineVerdict::kHarmful) word = pen_.paint("31", word);
    if (curve.verdict == LineVerdict::kUnsure) {
      word = pen_.paint("33", word);
      uint64_t most = 0;
      for (const CausalArm& arm : curve.arms) most = std::max(most, arm.settles_windows.value_or(0));
      if (most) word += " (" + std::to_string(most) + " windows)";
    }
    return word;
  }

  static double rank_of(const CausalCurve& curve) {
    return curve.best ? curve.arms[*curve.best].effect.log_effect : -INFINITY;
  }

  std::string curves(uint32_t cell, uint32_t point) const {
    std::vector<const CausalCurve*> here;
    for (const CausalCurve& curve : report_.curves)
      if (curve.cell == cell && curve.point == point) here.push_back(&curve);
    if (here.empty()) return {};
    std::stable_sort(here.begin(), here.end(), [](const CausalCurve* a, const CausalCurve* b) {
      return a->exploratory != b->exploratory ? b->exploratory : rank_of(*a) > rank_of(*b);
    });
    std::vector<text::TextTable::ColumnStyle> columns{{"line", Align::kLeft, true}};
    for (const double speedup : design_.speedups)
      columns.push_back({"-" + report::plain(100 * speedup) + " % of the line, %", Align::kRight, true});
    columns.push_back({"slope at 0", Align::kRight, true});
    columns.push_back({"verdict", Align::kLeft, true});
    text::TextTable table(columns);
    bool explored = false, phased = false;
    for (const CausalCurve* curve : here) {
      const CausalLine& line = design_.lines[curve->line];
      std::vector<std::string> row{end_of(line.name)};
      if (curve->exploratory) row[0] += " *";
      if (curve->phase_corrected) row[0] += " †";
      explored = explored || curve->exploratory;
      phased = phased || curve->phase_corrected;
      for (const double speedup : design_.speedups) {
        const auto arm = std::find_if(curve->arms.begin(), curve->arms.end(),
                                      [&](const CausalArm& each) { return each.speedup == speedup; });
        row.push_back(arm == curve->arms.end() ? "-" : arm_text(*arm));
      }
      row.push_back(slope_text(curve->slope));
      row.push_back(verdict(*curve));
      table.add(std::move(row));
    }
    const CausalPoint& at = design_.points[point];
    const std::string where = cell_name(design_, cell);
    std::string out = pen_.heading((at.kind == PointKind::kLatency ? "Latency of '" : "Throughput at '") + at.name + "'" +
                                   (where.empty() ? "" : ", " + where));
    if (!report_.cells[cell].withheld.empty())
      out += pen_.before_table("No verdicts: " + report_.cells[cell].withheld + ".");
    out += pen_.table(table);
    if (explored) out += pen_.note("* not a candidate: tried a little, in a family of its own.");
    if (phased) out += pen_.note("† runs in a part of the run only; what is shown is of the whole run.");
    return out;
  }

  std::string nulls() const {
    text::TextTable table({{"null control", Align::kLeft},
                           {"effect of pausing, %", Align::kRight, true},
                           {"windows", Align::kRight},
                           {"", Align::kLeft, true}});
    for (const NullControl& null : report_.nulls) {
      const std::string where = cell_name(design_, null.cell);
      std::vector<std::string> row{design_.points[null.point].name + (where.empty() ? "" : ", " + where)};
      if (!null.effect.refused.empty()) {
        row.insert(row.end(), {"-", "0", null.effect.refused});
      } else {
        row.insert(row.end(), {in_percent(null.effect.speedup), std::to_string(null.effect.windows),
                               null.holds ? "holds" : null.biased ? pen_.paint("31", "biased") : pen_.paint("33", "too wide")});
      }
      table.add(std::move(row));
    }
    if (table.empty() || design_.lines.empty()) return {};
    return pen_.heading("Where nothing should change") + pen_.table(table);
  }

  std::string alarms() const {
    std::string out;
    for (const CausalAA& aa : report_.aa) {
      const std::string where = cell_name(design_, aa.cell);
      out += pen_.note(
          "Baseline windows against each other, '" + design_.points[aa.point].name + "'" + (where.empty() ? "" : ", " + where) +
          ": " + text::percent(static_cast<double>(aa.alarms) / static_cast<double>(aa.splits), 2) + " of " +
          std::to_string(aa.splits) + " random splits are false alarms; " + text::percent(design_.alpha, 2) +
          " are to be expected.");
    }
    return out;
  }

  std::string interactions() const {
    text::TextTable table({{"line", Align::kLeft}, {"point", Align::kLeft}, {"speedup", Align::kRight}, {"cell", Align::kLeft},
                     {"differs by, points", Align::kRight, true}, {"p (Holm)", Align::kRight}});
    for (const CausalInteraction& each : report_.interactions)
      table.add({design_.lines[each.line].name, design_.points[each.point].name, report::plain(100 * each.speedup) + " %",
                 cell_name(design_, each.cell), in_percent({each.difference, each.low, each.high}),
                 each.withheld ? "withheld" : text::p_text(each.p_holm)});
    if (table.empty()) return {};
    const bool withheld = std::any_of(report_.interactions.begin(), report_.interactions.end(),
                                      [](const CausalInteraction& each) { return each.withheld; });
    std::string out = pen_.heading("Lines against " + cell_name(design_, 0)) + pen_.table(table);
    if (withheld) out += pen_.note("withheld: one of the two cells has no verdict, so the difference may come from its control.");
    return out;
  }

  std::string layouts() const {
    text::TextTable table({{"line", Align::kLeft},
                           {"point", Align::kLeft},
                           {"speedup", Align::kRight},
                           {"layouts", Align::kRight},
                           {"F", Align::kRight},
                           {"p (Holm)", Align::kRight}});
    bool of_trials = false;
    for (const LayoutInteraction& each : report_.layout_interactions) {
      of_trials = of_trials || !each.against_trials;
      table.add({design_.lines[each.line].name, design_.points[each.point].name, report::plain(100 * each.speedup) + " %",
                 std::to_string(each.layouts), text::significant(each.f, 3), text::p_text(each.p_holm)});
    }
    if (table.empty()) return {};
    std::string out = pen_.heading("Does a line's worth depend on the layout?") + pen_.table(table);
    if (of_trials)
      out += pen_.note("Where each trial has a layout of its own, whatever else differs between trials counts as it.");
    return out;
  }

  std::string load(const Saturation& saturation) const {
    text::TextTable table({{"load", Align::kRight}, {"trials", Align::kRight}, {"arrive per second", Align::kRight},
                     {"served per second", Align::kRight, true}, {"latency, ms", Align::kRight, true},
                     {"CPUs busy", Align::kRight}});
    const auto cell = [](const std::optional<report::Interval>& interval, std::optional<double> estimate,
                         double by) -> std::string {
      if (!estimate) return "-";
      if (!interval) return text::significant(by * *estimate, 4);
      return text::significant(by * interval->estimate, 4) + " [" + text::significant(by * interval->low, 4) + ", " +
             text::significant(by * interval->high, 4) + "]";
    };
    for (const LoadPoint& point : saturation.loads)
      table.add({"x " + report::plain(point.load), std::to_string(point.trials),
                 point.offered ? text::significant(*point.offered, 4) : "-", cell(point.throughput, point.throughput_mean, 1),
                 point.grows ? "grows" : cell(point.latency_s, point.latency_mean_s, 1e3),
                 point.busy ? text::percent(*point.busy) : "-"});
    std::string out = pen_.heading("Load: '" + saturation.point + "'" + (saturation.cell.empty() ? "" : ", " + saturation.cell));
    out += pen_.before_table(scaling_text(saturation)) + pen_.table(table);
    if (std::any_of(saturation.loads.begin(), saturation.loads.end(), [](const LoadPoint& point) { return point.grows; }))
      out += pen_.note("grows: more tasks come than are served, so the queue and the time in it grow for as long as they come.");
    return out;
  }

  const CausalReport& report_;
  const CausalData& design_;
  const report::Pen& pen_;

  std::string caveats() const {
    std::string out;
    for (const CausalCaveat& caveat : report_.caveats)
      out += pen_.item(std::string(name(caveat.code)) + ": " + caveat.message + (caveat.hint.empty() ? "" : ". " + caveat.hint));
    return out.empty() ? out : pen_.heading("Be careful") + out;
  }
};

}  // namespace

std::string scaling_text(const Saturation& saturation) {
  if (!saturation.refused.empty()) return "Up to which load it keeps up can't be said: " + saturation.refused + ".";
  const Knee& knee = *saturation.knee;
  const std::string interval = " [" + text::significant(knee.low, 3) + ", " + text::significant(knee.high, 3) + "]";
  switch (saturation.verdict) {
    case ScalingVerdict::kScalesTo:
      return "It scales to " + text::significant(knee.load, 3) + interval + " times the load, " +
             text::significant(knee.throughput, 4) + " a second.";
    case ScalingVerdict::kBeyond:
      return "It keeps up with every load that was tried, to " + text::significant(knee.low, 3) + " times at least.";
    case ScalingVerdict::kSaturated: return "It doesn't keep up with more load from the smallest one on.";
    case ScalingVerdict::kUnsure:
      return "Where it stops keeping up is not sure: " + text::significant(knee.load, 3) + interval +
             " reaches out of the loads that were tried.";
    case ScalingVerdict::kRefused: break;
  }
  return "Up to which load it keeps up can't be said.";
}

std::string render_causal_text(const CausalReport& report, int width, bool colour) {
  return CausalText(report, report::Pen{width, colour, false}).all();
}
std::string render_causal_markdown(const CausalReport& report) { return CausalText(report, report::Pen{100, false, true}).all(); }

}  // namespace stab::causal_report
