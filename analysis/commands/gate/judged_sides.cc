// The exit status is the gate's: whether a side is shown to be slower, or shown not to be slower by the margin (worse.h).
#include "analysis/commands/gate/judged_sides.h"

#include <algorithm>
#include <cmath>

#include "analysis/commands/gate/gate.h"
#include "analysis/report/conditions/cpu_time.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/settling.h"
#include "analysis/report/report_data/side_values.h"
#include "analysis/text/text_table.h"
#include "base/printable.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

bool is_treatment(const report::Contrast& contrast) {
  return !contrast.layout && contrast.population == report::Population::kOneWorkload;
}

std::string word_of(const report::Report& report, const report::Contrast& contrast, report::Worse worse) {
  switch (contrast.refused.empty() ? contrast.verdict : report::Verdict::kUnsure) {
    case report::Verdict::kChanged:
      if (contrast.interval.estimate < 1) return "faster";
      return worse == report::Worse::kNo ? "slower, by less than " + margin_text(report) : "slower";
    case report::Verdict::kEquivalent:
      return "same within " + margin_text(report);
    case report::Verdict::kUnsure:
    case report::Verdict::kWithheld:
      break;
  }
  return worse == report::Worse::kNo ? "unsure, but not slower by " + margin_text(report) : "unsure";
}

// What copies may have made of it is a part of no answer: one that doesn't hold whatever that is, is none.
void allow_for_copies(const report::Report& report, const CopyFacts& facts, JudgedSide& side) {
  const report::Contrast& contrast = *side.contrast;
  const statistics::CopyPrice price = price_of(facts);
  const double up = std::exp(-price.low), down = std::exp(-price.high), most = 1 + report.responses[0].margin;
  const bool is_slower = contrast.interval.low * down > 1, is_faster = contrast.interval.high * up < 1;
  const bool is_same = contrast.equivalence.high * up < most && contrast.equivalence.low * down > 1 / most;
  side.worse = with_copies(side.worse, report.responses[0].margin, contrast, facts);
  const bool holds = side.word.starts_with("slower") ? is_slower : side.word == "faster" ? is_faster : is_same;
  if (!holds) side.word = side.worse == report::Worse::kNo ? "unsure, but not slower by " + margin_text(report) : "unsure";
}

}  // namespace

Result<std::vector<JudgedSide>> judged_sides(const report::Report& report, const CompareFacts& facts) {
  std::vector<JudgedSide> out;
  for (const report::Contrast& contrast : report.contrasts) {
    if (!is_treatment(contrast) || contrast.response != report.responses[0].name || out.size() == facts.others.size()) continue;
    JudgedSide side{.side = &facts.others[out.size()], .contrast = &contrast, .response = &report.responses[0], .word = {}};
    const report::SideValues values = report::side_values(report, contrast);
    side.before = values.before.value_or(0);
    side.after = values.after.value_or(0);
    side.worse = report::worse_by(*side.response, contrast, report.alpha, contrast.p_holm);
    side.word = word_of(report, contrast, side.worse);
    const std::optional<CopyFacts>& copies = side.side->copies;
    if (copies_count(copies) && side.is_known()) allow_for_copies(report, *copies, side);
    out.push_back(std::move(side));
  }
  if (out.empty() || out.size() != facts.others.size()) return bad_input("this experiment compares other programs than these");
  return out;
}

report::Worse worst_of(const std::vector<JudgedSide>& sides) {
  const auto has = [&](report::Worse worse) {
    return std::any_of(sides.begin(), sides.end(), [&](const JudgedSide& side) { return side.worse == worse; });
  };
  return has(report::Worse::kYes)      ? report::Worse::kYes
         : has(report::Worse::kUnsure) ? report::Worse::kUnsure
                                       : report::Worse::kNo;
}

std::optional<CpuTime> cpu_time_of(const report::Report& report, const JudgedSide& side) {
  for (const report::Contrast* of : report::cpu_times_beside(report))
    if (is_treatment(*of) && of->level == side.contrast->level) {
      const report::SideValues values = report::side_values(report, *of);
      return CpuTime{values.before.value_or(0), values.after.value_or(0), of->interval};
    }
  return {};
}

std::string margin_text(const report::Report& report) {
  return report::plain(100 * report.responses[0].margin) + " %";
}

std::string difference(const JudgedSide& side) {
  return side.is_known() ? report::change_and_interval(side.contrast->interval) : "-";
}

std::string refusal_of(const JudgedSide& side, const CompareFacts& facts) {
  const bool has_old = side.before > 0, has_new = side.after > 0;
  if (has_old == has_new) return side.contrast->refused;
  return "no run of '" + one_line(has_old ? side.side->command : facts.baseline) +
         "' gave a time, though its first one did: " + in_quotes(facts.logs) + " says why" +
         (facts.shares.empty() ? "" : "; " + facts.shares);
}

std::string cpu_time_text(const report::Report& report, const JudgedSide& side) {
  const std::optional<CpuTime> cpu = cpu_time_of(report, side);
  if (!cpu) return {};
  const report::Response seconds{.name = "cpu_time", .unit = "s"};
  return "their CPU time, which decides nothing here: " + report::value_text(seconds, cpu->before) + " -> " +
         report::value_text(seconds, cpu->after) + "  " + report::change_and_interval(cpu->ratio);
}

std::string margin_kept_text(const report::Report& report, const JudgedSide& side) {
  const report::Contrast& contrast = *side.contrast;
  const report::Interval &shown = contrast.interval, &kept = contrast.equivalence;
  const double most = 1 + report.responses[0].margin;
  const bool is_same = side.word.starts_with("same");
  const bool is_within = shown.high < most && (!is_same || shown.low > 1 / most);
  if (!side.is_known() || side.worse != report::Worse::kNo || is_within) return {};
  if (!is_same && contrast.verdict == report::Verdict::kChanged && contrast.interval.estimate < 1) return {};
  if (kept.high >= most) return {};
  return "that it is " + std::string(is_same ? "the same within " : "not slower by ") + margin_text(report) +
         " is judged by its " + report::plain(100 * (1 - 2 * report.alpha)) + " % interval, [" + text::signed_per_cent(kept.low) +
         ", " + text::signed_per_cent(kept.high) + "]";
}

std::string time_option(double seconds) {
  if (seconds <= 90) return std::to_string(10 * static_cast<int64_t>(std::ceil(seconds / 10))) + "s";
  const double minutes = std::ceil(seconds / 60);
  return minutes <= 90 ? std::to_string(static_cast<int64_t>(minutes)) + "min"
                       : std::to_string(static_cast<int64_t>(std::ceil(minutes / 60))) + "h";
}

Cure cure_of(const report::Report& report, const JudgedSide& side, const CompareFacts& facts) {
  const report::Contrast& contrast = *side.contrast;
  const auto with = [&](const std::string& option) { return facts.command + facts.margin + " " + option + facts.arguments; };
  const std::string wider =
      facts.command + " --margin " + report::plain(300 * report.responses[0].margin) + "%" + facts.arguments;
  const bool lacks_a_side = (side.before > 0) != (side.after > 0);
  if (!side.is_known()) return {contrast.refused, lacks_a_side ? facts.logs : with("--at-most 5min")};
  const std::string& change = side.side->next_of_change;
  if (copies_count(side.side->copies)) return {"more blocks don't decide it", change.empty() ? facts.next : change};
  if (contrast.by_alone) return {report::settling_text(report, contrast), with("--at-most 5min")};
  constexpr double kMostSeconds = 3600, kLeastSeconds = 20;
  const double each = facts.seconds / static_cast<double>(std::max<uint64_t>(1, contrast.n));
  const double needed = contrast.settles_n ? each * static_cast<double>(*contrast.settles_n) : kMostSeconds + 1;
  if (needed > kMostSeconds) return {report::settling_text(report, contrast, "blocks"), wider};
  // Half as much again, since looks are not at each block.
  return {std::to_string(*contrast.settles_n) + " blocks are needed to decide (now " + std::to_string(contrast.n) + "), some " +
              report::machine_time_text(needed) + " in all; or a wider margin",
          with("--at-most " + time_option(std::max(1.5 * needed, kLeastSeconds)))};
}

}  // namespace stab::commands
