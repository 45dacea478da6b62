// Means are of the runs as they are; what layouts add to their spread is the report's variance component (report.h), of the CPU
// time, since others on the machine add to the wall time.
#include "analysis/commands/time/time_answer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/markup.h"
#include "analysis/text/text_table.h"
#include "base/printable.h"

namespace stab::commands {
namespace {

// Two layouts, drawn at random, differ by less than this many standard deviations of one in 19 of 20 cases.
constexpr double kTwoDraws = 1.96 * M_SQRT2;

std::string per_cent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, share < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * share);
  return text;
}

struct LayoutSpread {
  double layout = 0, run = 0;  // log standard deviations
  uint64_t layouts = 0;
  double most = 0;  // of layouts, at 95 %: what layouts of this spread were not seen to exceed
};

// `of.layout` is a difference of two variances, and 0 or below where runs explain all of it: then layouts are not seen to matter,
// which is no zero. What runs make of the layouts' means is the least that these are taken to vary.
double most_of_layouts(const report::SpreadComponents& of) {
  if (of.layouts < 2) return 0;
  const double of_runs = *of.run / of.runs_per_layout, df = static_cast<double>(of.layouts - 1);
  const double upper = df * std::max(of_runs, of.layout + of_runs) / statistics::chi_squared_quantile(0.05, df);
  return std::sqrt(std::max(0.0, upper - of_runs));
}

std::optional<LayoutSpread> layout_spread(const report::Report& report) {
  for (const report::SpreadComponents& of : report.components)
    if (of.response == "cpu_time" && of.run)
      return LayoutSpread{std::sqrt(std::max(0.0, of.layout)), std::sqrt(std::max(0.0, *of.run)), of.layouts,
                          most_of_layouts(of)};
  return {};
}

std::string seconds_text(double seconds) {
  return seconds > 0 ? report::value_text({.name = "time", .unit = "s"}, seconds) : std::string("0 s");
}

std::string time_line(const char* name, const RunSummary& runs) {
  return std::string(name) + "  " + seconds_text(runs.mean) + " +- " + seconds_text(runs.sd) + "  (median " +
         seconds_text(runs.median) + ", " + seconds_text(runs.least) + " to " + seconds_text(runs.most) + ")";
}

// What the machine does lasts longer than two runs, so where it does much, it is in the difference of two layouts, too.
constexpr double kMostOfRuns = 0.02;

bool is_hidden(const LayoutSpread& spread) {
  return std::expm1(spread.run) > kMostOfRuns;
}

std::string layout_line(const LayoutSpread& spread) {
  if (is_hidden(spread))
    return "what layout does is hidden by the machine: the runs of one layout differ by " + per_cent(std::expm1(spread.run)) +
           " (sd); ask again when fewer other programs run";
  const std::string runs = "; runs of one layout: " + per_cent(std::expm1(spread.run)) + ")";
  if (!(spread.layout > 0))
    return "layout alone moves its CPU time by at most " + per_cent(std::expm1(spread.most)) + " (sd, at 95 %, over " +
           plural(spread.layouts, "layout") + runs + ": two builds that differ in layout alone may differ by up to " +
           per_cent(std::expm1(kTwoDraws * spread.most));
  return "layout alone moves its CPU time by " + per_cent(std::expm1(spread.layout)) + " (sd over " +
         plural(spread.layouts, "layout") + runs + ": two builds that differ in layout alone may differ by " +
         per_cent(std::expm1(kTwoDraws * spread.layout));
}

// Where others take less, it is lost in what runs differ by anyway.
constexpr double kMuchWaited = 0.05;

std::string waiting_line(double share) {
  return "care: other programs had its CPU for " + per_cent(share) +
         " of its wall time; go by its CPU time, or ask again when fewer of them run";
}

void clock(text::JsonWriter& json, std::string_view key, const RunSummary& of) {
  json.begin_object(key).value("mean_s", of.mean).value("sd_s", of.sd).value("median_s", of.median);
  json.value("min_s", of.least).value("max_s", of.most).end();
}

void baseline_json(text::JsonWriter& json, const BaselineAnswer& of) {
  json.begin_object("baseline").value("answer", of.word()).value("sessions", of.sessions).value("left_out", of.left_out);
  json.value("margin", of.margin).value("before_s", of.sessions > 0 ? std::optional(of.before_s) : std::nullopt);
  json.value("now_s", of.now_s).value("ratio", of.ratio).value("conf_low", of.low).value("conf_high", of.high);
  json.value("between_log_sd", of.between_sd).end();
}

}  // namespace

Result<TimeOutput> time_answer(const report::Samples& samples, const TimedRuns& wall, const TimedRuns& cpu,
                               const TimeFacts& facts, int width) {
  if (wall.times.size() < 2)
    return bad_input((facts.unfinished.empty() ? "" : facts.unfinished + ": ") +
                     "two runs are needed to tell how times spread, and there " + (wall.times.empty() ? "is none" : "is one"));
  STAB_TRY(const report::Report report, report::analyse(samples));
  const RunSummary of_wall = summary_of(wall), of_cpu = summary_of(cpu);
  const std::optional<LayoutSpread> spread = layout_spread(report);
  TimeOutput out;
  out.text = one_line(facts.command) + "\n" + time_line("wall", of_wall) + "; " + plural(of_wall.n, "run") + "\n" +
             time_line("CPU ", of_cpu) + "; user " + seconds_text(of_wall.user) + ", system " + seconds_text(of_wall.system) +
             "\n";
  if (facts.against) out.text += baseline_text(*facts.against, facts.baseline, width);
  if (!facts.stored.empty()) out.text += "stored in " + one_line(facts.stored) + "\n";
  out.text += "\n";
  if (facts.against) out.exit_code = exit_code_of(facts.against->worse);
  if (spread) out.text += text::wrap(layout_line(*spread), width, "", "  ");
  if (facts.waited > kMuchWaited) out.text += text::wrap(waiting_line(facts.waited), width, "", "  ");
  if (!facts.unfinished.empty()) out.text += text::wrap(facts.unfinished, width, "", "  ");
  std::string failures;
  for (const report::Caveat& caveat : report.caveats)
    if (caveat.code == report::CaveatCode::kFailedTrials)
      failures = "care: " + caveat.message + "; 'stabctl logs' says why; those that ended well may differ from these";
  if (!failures.empty()) out.text += text::wrap(failures, width, "", "  ");
  out.text += text::wrap(facts.about, width, "", "  ") + "\nnext: " + facts.next + "\n";
  text::JsonWriter json;
  json.begin_object().value("format", "stab-time").value("version", 1).value("command", facts.command);
  json.value("runs", of_wall.n).value("failed_runs", samples.failed + samples.repeated);
  clock(json, "wall", of_wall);
  clock(json, "cpu", of_cpu);
  json.value("user_s", of_wall.user).value("system_s", of_wall.system).value("waited", facts.waited);
  json.value("layouts", spread ? std::optional(spread->layouts) : std::nullopt);
  json.value("layout_log_sd", spread && !is_hidden(*spread) ? std::optional(spread->layout) : std::nullopt);
  json.value("layout_log_sd_most", spread && !is_hidden(*spread) ? std::optional(spread->most) : std::nullopt);
  json.value("run_log_sd", spread ? std::optional(spread->run) : std::nullopt);
  if (facts.against) baseline_json(json, *facts.against);
  json.value("experiment", facts.experiment).value("unfinished", facts.unfinished).value("about", facts.about).end();
  out.json = json.take();
  const auto cell = [](const std::string& text) { return " " + text::as_markdown(text::as_line(text)) + " |"; };
  const auto row = [&](const char* name, const RunSummary& of) {
    const auto text = [&](double value) { return cell(seconds_text(value)); };
    return "|" + cell(name) + text(of.mean) + text(of.sd) + text(of.median) + text(of.least) + text(of.most) + "\n";
  };
  out.markdown = "| " + text::as_markdown(text::as_line(facts.command)) +
                 " | mean | sd | median | min | max |\n|---|---:|---:|---:|---:|---:|\n" + row("wall", of_wall) +
                 row("CPU", of_cpu) + "\n" + (spread ? text::as_markdown(layout_line(*spread)) + "\n" : "") +
                 (facts.waited > kMuchWaited ? text::as_markdown(waiting_line(facts.waited)) + "\n" : "");
  for (const std::string& line : {facts.unfinished, failures})
    if (!line.empty()) out.markdown += "\n" + text::as_markdown(line) + "\n";
  constexpr int kOneLine = 1 << 20;
  if (facts.against) out.markdown += "\n" + text::as_markdown(baseline_text(*facts.against, facts.baseline, kOneLine));
  return out;
}

}  // namespace stab::commands
