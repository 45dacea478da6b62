#include "analysis/commands/bisect/series_trend.h"

#include <algorithm>
#include <cmath>

#include "analysis/commands/bisect/change_place.h"
#include "analysis/report/rendering/json_parts.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

// Below it the parts contradict each other more than their errors explain.
constexpr double kDisagree = 0.01;

std::string about(const report::TrendLine& line, size_t workloads) {
  return line.workload.empty() ? "over all " + std::to_string(workloads) + " workloads, as given" : line.workload;
}

std::string step_word(const report::Trend& trend, const report::TrendPoint& point) {
  if (!point.step) return point.refused.empty() ? "" : "no answer";
  if (point.verdict != report::Verdict::kChanged) return std::string(name(point.verdict));
  return report::change_word(trend.response, point.step->estimate);
}

// Where a level is the first that lies elsewhere than those before.
const report::TrendChange* change_at(const report::TrendLine& line, size_t point) {
  for (const report::TrendChange& change : line.changes.found)
    if (change.point == point) return &change;
  return nullptr;
}

std::string table_of(const report::Trend& trend, const report::TrendLine& line, const report::Pen& pen) {
  using Align = text::TextTable::Align;
  text::TextTable table({{trend.factor},
                         {"since"},
                         {"against " + trend.anchor, Align::kRight},
                         {"interval", Align::kLeft, true},
                         {"step", Align::kRight},
                         {"interval", Align::kLeft, true},
                         {"verdict"}});
  for (size_t i = 0; i < line.points.size(); ++i) {
    const report::TrendPoint& point = line.points[i];
    const bool is_anchor = point.level == trend.anchor;
    std::vector<std::string> row = {point.level, point.since};
    row.push_back(point.against_anchor ? report::difference_text(trend.response, point.against_anchor->estimate)
                  : is_anchor          ? "anchor"
                                       : "-");
    row.push_back(point.against_anchor ? report::interval_text(trend.response, *point.against_anchor) : "");
    row.push_back(point.step ? report::difference_text(trend.response, point.step->estimate) : "");
    row.push_back(point.step ? report::interval_text(trend.response, *point.step) : "");
    const std::string word = step_word(trend, point);
    row.push_back(!change_at(line, i) ? word : word.empty() ? "lasting change" : word + ", lasting change");
    table.add(std::move(row));
  }
  return pen.table(table);
}

// "+2.00 % (slower)"
std::string shift_text(const report::Trend& trend, const report::TrendChange& change) {
  return report::difference_text(trend.response, change.shift) + " (" + report::change_word(trend.response, change.shift) + ")";
}

std::string changes_text(const report::Trend& trend, const report::TrendLine& line, const report::Pen& pen) {
  const report::TrendChanges& changes = line.changes;
  if (!changes.asked) return pen.note("Lasting changes: not asked; " + changes.refused + ".");
  const std::string level = report::plain(100 * changes.alpha) + " %";
  if (changes.found.empty())
    return pen.note("Lasting changes: none at " + level +
                    (changes.p_of_next ? " (p " + text::p_text(*changes.p_of_next) + ")" : "") + ".");
  std::string out;
  for (const report::TrendChange& change : changes.found) {
    const report::TrendPoint& point = line.points[change.point];
    out += pen.item("a lasting change at " + point.level + " (" + point.since + "): the " +
                    plural(change.levels_after, "level") + " from there on " +
                    (change.levels_after == 1 ? "lies " : "lie ") + shift_text(trend, change) + " from the " +
                    std::to_string(change.levels_before) + " before; p " + text::p_text(change.p_value) + " at " + level);
    out += place_text(place_of(trend, line, change), pen.width, "    ");
  }
  return out;
}

// "0.21 %", or in the response's unit
std::string size_text(const report::Trend& trend, double on_scale) {
  const bool is_ratio = trend.response.scale == report::Scale::kLog;
  return text::significant(is_ratio ? 100 * std::expm1(on_scale) : on_scale, 2) + " " + (is_ratio ? "%" : trend.response.unit);
}

void write_sessions(text::JsonWriter& json, const report::TrendSessions& known) {
  using Source = report::TrendSessions::Source;
  json.begin_object("sessions").value("in_interval", known.source != Source::kNone);
  json.value("source", known.source == Source::kNone ? "none" : known.source == Source::kRepeats ? "repeats" : "steps");
  json.value("repeats", known.repeats).value("controls", known.controls).value("steps", known.steps);
  const auto of = [&](double value) { return known.source == Source::kNone ? std::nullopt : std::optional(value); };
  json.value("sd", of(known.sd)).value("sd_low", of(known.low)).value("sd_high", of(known.high));
  json.value("p_value", known.p_value).end();
}

void interval_or_null(text::JsonWriter& json, const char* key, const std::optional<report::Interval>& interval) {
  if (interval) report::write_interval(json, key, *interval);
  else json.value(key, std::optional<double>());
}

void write_changes(text::JsonWriter& json, const report::Trend& trend, const report::TrendLine& line) {
  const report::TrendChanges& changes = line.changes;
  json.begin_object("changes").value("asked", changes.asked);
  if (!changes.asked) {
    json.value("refused", changes.refused).end();
    return;
  }
  json.value("alpha", changes.alpha).value("p_of_next", changes.p_of_next).begin_array("found");
  for (const report::TrendChange& change : changes.found) {
    json.begin_object().value("level", line.points[change.point].level).value("point", change.point);
    json.value("levels_before", change.levels_before).value("levels_after", change.levels_after).value("shift", change.shift);
    json.value("statistic", change.statistic).value("p_value", change.p_value);
    write_place(json, place_of(trend, line, change));
    json.end();
  }
  json.end().begin_array("segments");
  for (const report::TrendSegment& segment : changes.segments)
    json.begin_object().value("first", segment.first).value("last", segment.last).value("mean", segment.mean).end();
  json.end().end();
}

std::string json_of(const report::Trend& trend, const TrendOptions& options, const std::vector<std::string>& left_out) {
  text::JsonWriter json;
  json.begin_object().value("series", options.series).value("response", trend.response.name).value("unit", trend.response.unit);
  json.value("scale", report::scale_name(trend.response.scale))
      .value("higher_is_better", trend.response.higher_is_better)
      .value("factor", trend.factor)
      .value("anchor", trend.anchor);
  json.value("alpha", trend.alpha).begin_array("lines");
  for (const report::TrendLine& line : trend.lines) {
    json.begin_object()
        .value("workload", line.workload)
        .value("margin", line.margin)
        .value("q", line.q)
        .value("q_df", line.q_df)
        .value("q_df2", line.q_df2);
    json.value("q_p", line.q_p);
    write_sessions(json, line.sessions);
    write_changes(json, trend, line);
    json.begin_array("points");
    for (const report::TrendPoint& point : line.points) {
      json.begin_object().value("level", point.level).value("since", point.since).value("experiments", point.parts);
      interval_or_null(json, "against_anchor", point.against_anchor);
      json.value("standard_error", point.standard_error).value("df", point.df);
      json.value("standard_error_within", point.within_error).value("df_within", point.within_df).value("before", point.before);
      interval_or_null(json, "step", point.step);
      interval_or_null(json, "step_within", point.step_within);
      json.value("p_value", point.p_value).value("p_holm", point.p_holm).value("p_equivalence", point.p_equivalence);
      json.value("p_equivalence_holm", point.p_equivalence_holm).value("verdict", name(point.verdict));
      json.value("refused", point.refused).end();
    }
    json.end().end();
  }
  json.end().begin_array("left_out");
  for (const std::string& one : left_out) json.element(one);
  json.end().end();
  return json.take();
}

// The workloads in which a step has changed something, or a level for good, for whoever reads the first table alone.
std::string elsewhere(const report::Trend& trend, const report::Pen& pen) {
  std::string out;
  for (size_t i = 1; i < trend.lines.size(); ++i) {
    for (const report::TrendPoint& point : trend.lines[i].points)
      if (point.verdict == report::Verdict::kChanged)
        out += pen.item(trend.lines[i].workload + ": " + point.before + " to " + point.level + " " +
                        report::difference_text(trend.response, point.step->estimate) + " (" +
                        report::interval_text(trend.response, *point.step) + ")");
    for (const report::TrendChange& change : trend.lines[i].changes.found)
      out += pen.item(trend.lines[i].workload + ": a lasting change at " + trend.lines[i].points[change.point].level + ", " +
                      shift_text(trend, change) + " (p " + text::p_text(change.p_value) + ")") +
             place_text(place_of(trend, trend.lines[i], change), pen.width, "    ");
  }
  return out;
}

}  // namespace

std::string between_sessions_text(const report::Trend& trend, const report::TrendLine& line) {
  using Source = report::TrendSessions::Source;
  const report::TrendSessions& known = line.sessions;
  if (known.source == Source::kNone)
    return "What changes between sessions (machine, boot, day) is not in the intervals: that takes 3 comparisons that "
           "sessions repeat, and there " +
           std::string(known.repeats == 1 ? "is " : "are ") + std::to_string(known.repeats) +
           ". Let each night have the anchor and the level of the night before.";
  std::string by = known.repeats > 0 ? plural(known.repeats, "comparison") + " that sessions repeat" : "";
  if (known.controls > 0) by += (known.repeats > 0 ? " and " : "") + plural(known.controls, "A/A control");
  if (known.source == Source::kSteps)
    by = plural(known.steps, "step") + ", of which one in ten may be a change, as sessions repeat too few comparisons";
  return "Between sessions (machine, boot, day) equal levels differ by " + size_text(trend, known.sd) + " (sd, " +
         size_text(trend, known.low) + " to " + size_text(trend, known.high) + ", by " + by +
         "). Intervals and lasting changes allow for it.";
}

std::string contradiction_text(const report::TrendLine& line) {
  if (line.q_df == 0 || line.q_p >= kDisagree) return "";
  return "The experiments contradict each other more than their errors explain (Q " + text::significant(line.q, 3) + ", " +
         plural(line.q_df, "degree") + " of freedom, p " + text::p_text(line.q_p) +
         "): the machine, or what was built, was not the same every time" +
         (line.sessions.source == report::TrendSessions::Source::kNone ? "." : "; intervals allow for it.");
}

Result<report::Trend> made_trend(const std::vector<report::SeriesPart>& parts, const TrendOptions& options) {
  if (parts.empty() && !options.left_out.empty())
    return bad_input("no experiment of the series '" + options.series + "' is over: " + options.left_out[0]);
  return report::trend_of(parts, options.request);
}

std::vector<std::string> all_left_out(const report::Trend& trend, const TrendOptions& options) {
  std::vector<std::string> out = options.left_out;
  out.insert(out.end(), trend.left_out.begin(), trend.left_out.end());
  return out;
}

CommandOutput trend_output(const report::Trend& trend, const TrendOptions& options) {
  const std::vector<std::string> left_out = all_left_out(trend, options);
  CommandOutput output;
  if (options.json) {
    output.out = json_of(trend, options, left_out);
    return output;
  }
  report::Pen pen;
  pen.width = options.width;
  pen.colour = options.colour;
  const size_t workloads = trend.lines.size() - (trend.lines[0].workload.empty() ? 1 : 0);
  const size_t shown = options.full ? trend.lines.size() : 1;
  output.out = pen.heading("Series " + options.series + ": " + trend.response.name + " by " + trend.factor);
  for (size_t i = 0; i < shown; ++i) {
    const report::TrendLine& line = trend.lines[i];
    output.out += pen.before_table(about(line, workloads)) + table_of(trend, line, pen);
    output.out += changes_text(trend, line, pen);
    output.out += pen.note(between_sessions_text(trend, line));
    if (const std::string contradiction = contradiction_text(line); !contradiction.empty()) output.out += pen.note(contradiction);
  }
  if (!options.full && workloads > 1) {
    const std::string changed = elsewhere(trend, pen);
    output.out += changed.empty() ? pen.note("No step of one workload is shown to have changed it; --full has each of them.")
                                  : pen.before_table("steps that have changed one workload (--full has all)") + changed;
  }
  output.out +=
      pen.note("Each difference is a product of ratios that were measured within blocks of one experiment; intervals are " +
               report::plain(100 * (1 - trend.alpha)) + " %, verdicts are of steps and survive Holm over all of them.");
  for (const std::string& one : left_out) output.out += pen.item("left out: " + one);
  return output;
}

CommandOutput run_trend(const std::vector<report::SeriesPart>& parts, const TrendOptions& options) {
  const Result<report::Trend> trend = made_trend(parts, options);
  return trend ? trend_output(*trend, options) : refused(trend.error());
}

}  // namespace stab::commands
