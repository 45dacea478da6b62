// The numbers are the report's one contrast; here they get their words. The exit status is the gate's: whether the second side is
// shown to be slower, or shown not to be slower by the margin (worse.h).
#include "analysis/commands/gate/compare_answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/commands/gate/gate.h"
#include "analysis/report/caveats/caveats.h"
#include "analysis/report/conditions/cpu_time.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/settling.h"
#include "analysis/report/report_data/worse.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/markup.h"
#include "analysis/text/text_table.h"
#include "base/printable.h"

namespace stab::commands {
namespace {

struct Sides {
  const report::Contrast* contrast = nullptr;
  const report::Response* response = nullptr;
  double before = 0, after = 0;  // geometric means
  report::Worse worse = report::Worse::kUnsure;
  std::string word;  // "slower"
};

bool is_treatment(const report::Contrast& contrast) {
  return !contrast.layout && contrast.population == report::Population::kOneWorkload;
}

double mean_of(const report::Report& report, const report::Contrast& contrast, const std::string& level) {
  size_t factor = 0;
  while (report.factors[factor].name != contrast.factor) ++factor;
  for (const report::Cell& cell : report.cells)
    if (cell.response == contrast.response && cell.levels[factor] == level) return cell.geometric_mean.value_or(cell.mean);
  return 0;
}

std::string margin_text(const report::Report& report) {
  return report::plain(100 * report.responses[0].margin) + " %";
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

Sides sides_of(const report::Report& report) {
  Sides out;
  for (const report::Contrast& contrast : report.contrasts) {
    if (!is_treatment(contrast) || contrast.response != report.responses[0].name) continue;
    out.contrast = &contrast;
    out.response = &report.responses[0];
    out.before = mean_of(report, contrast, contrast.baseline);
    out.after = mean_of(report, contrast, contrast.level);
    out.worse = report::worse_by(*out.response, contrast, report.alpha, contrast.p_holm);
    out.word = word_of(report, contrast, out.worse);
  }
  return out;
}

// The same difference by CPU time, where wall time is compared: nobody asked for it, and it decides nothing.
struct CpuTime {
  double before = 0, after = 0;  // geometric means, in seconds
  report::Interval ratio;
};

std::optional<CpuTime> cpu_time_of(const report::Report& report) {
  for (const report::Contrast* of : report::cpu_times_beside(report))
    if (is_treatment(*of)) return CpuTime{mean_of(report, *of, of->baseline), mean_of(report, *of, of->level), of->interval};
  return {};
}

// What copies may have made of it is a part of no answer: one that doesn't hold whatever that is, is none.
void allow_for_copies(const report::Report& report, const CopyFacts& facts, Sides& sides) {
  const report::Contrast& contrast = *sides.contrast;
  const statistics::CopyPrice price = price_of(facts);
  const double up = std::exp(-price.low), down = std::exp(-price.high), most = 1 + report.responses[0].margin;
  const bool is_slower = contrast.interval.low * down > 1, is_faster = contrast.interval.high * up < 1;
  const bool is_same = contrast.equivalence.high * up < most && contrast.equivalence.low * down > 1 / most;
  sides.worse = with_copies(sides.worse, report.responses[0].margin, contrast, facts);
  const bool holds = sides.word.starts_with("slower") ? is_slower : sides.word == "faster" ? is_faster : is_same;
  if (!holds) sides.word = sides.worse == report::Worse::kNo ? "unsure, but not slower by " + margin_text(report) : "unsure";
}

// "+2.43 % [+2.10, +2.80]"
std::string ratio_and_interval(const report::Interval& ratio) {
  return text::signed_per_cent(ratio.estimate) + " % [" + text::signed_per_cent(ratio.low) + ", " +
         text::signed_per_cent(ratio.high) + "]";
}

std::string difference(const Sides& sides) {
  return sides.contrast->refused.empty() ? ratio_and_interval(sides.contrast->interval) : "-";
}

// Empty: wall time is not what is compared, or there is none.
std::string cpu_time_text(const report::Report& report) {
  const std::optional<CpuTime> cpu = cpu_time_of(report);
  if (!cpu) return {};
  const report::Response seconds{.name = "cpu_time", .unit = "s"};
  return "their CPU time, which decides nothing here: " + report::value_text(seconds, cpu->before) + " -> " +
         report::value_text(seconds, cpu->after) + "  " + ratio_and_interval(cpu->ratio);
}

// The verdict that the margin is kept asks of one side at a time, so its interval is narrower than the one that is shown. Empty:
// the shown one lies within the margin, too, and nobody wonders.
std::string margin_kept_text(const report::Report& report, const Sides& sides) {
  const report::Contrast& contrast = *sides.contrast;
  const report::Interval &shown = contrast.interval, &kept = contrast.equivalence;
  const double most = 1 + report.responses[0].margin;
  const bool is_same = sides.word.starts_with("same");
  const bool is_within = shown.high < most && (!is_same || shown.low > 1 / most);
  if (!contrast.refused.empty() || sides.worse != report::Worse::kNo || is_within) return {};
  if (!is_same && contrast.verdict == report::Verdict::kChanged && contrast.interval.estimate < 1) return {};
  if (kept.high >= most) return {};
  return "that it is " + std::string(is_same ? "the same within " : "not slower by ") + margin_text(report) +
         " is judged by its " + report::plain(100 * (1 - 2 * report.alpha)) + " % interval, [" +
         text::signed_per_cent(kept.low) + ", " + text::signed_per_cent(kept.high) + "]";
}

std::string blocks_text(const Sides& sides, const CompareFacts& facts) {
  return plural(sides.contrast->n, "block") + ", " + report::machine_time_text(std::max(1.0, facts.seconds));
}

// "--at-most 12min" of seconds, rounded up to a round figure.
std::string time_option(double seconds) {
  if (seconds <= 90) return std::to_string(10 * static_cast<int64_t>(std::ceil(seconds / 10))) + "s";
  const double minutes = std::ceil(seconds / 60);
  return minutes <= 90 ? std::to_string(static_cast<int64_t>(minutes)) + "min"
                       : std::to_string(static_cast<int64_t>(std::ceil(minutes / 60))) + "h";
}

// What an unsure answer takes, and the command that gives it.
struct Cure {
  std::string text, command;
};

Cure cure_of(const report::Report& report, const Sides& sides, const CompareFacts& facts) {
  const report::Contrast& contrast = *sides.contrast;
  const auto with = [&](const std::string& option) { return facts.command + facts.margin + " " + option + facts.arguments; };
  const std::string wider =
      facts.command + " --margin " + report::plain(300 * report.responses[0].margin) + "%" + facts.arguments;
  const bool lacks_a_side = (sides.before > 0) != (sides.after > 0);
  if (!contrast.refused.empty()) return {contrast.refused, lacks_a_side ? facts.logs : with("--at-most 5min")};
  if (copies_count(facts.copies))
    return {"more blocks don't decide it", facts.next_of_change.empty() ? facts.next : facts.next_of_change};
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

// Why there is no difference to tell. Of a side without a value: it passed when it was tried, and not once in a block.
std::string refusal_of(const Sides& sides, const CompareFacts& facts) {
  const bool has_old = sides.before > 0, has_new = sides.after > 0;
  if (has_old == has_new) return sides.contrast->refused;
  return "no run of '" + one_line(has_old ? facts.after : facts.before) + "' gave a time, though its first one did: " +
         in_quotes(facts.logs) + " says why";
}

std::string paragraph(const std::string& text, int width) {
  return text::wrap(text, width, "", "  ");
}

// The first lines of the answer.
std::vector<std::string> differences_of(const CompareFacts& facts) { return difference_sentences(facts.differ); }

std::string text_of(const report::Report& report, const Sides& sides, const CompareFacts& facts, int width) {
  std::string out;
  for (const std::string& line : differences_of(facts)) out += paragraph(line, width);
  out += one_line(facts.before) + " -> " + one_line(facts.after) + "\n";
  if (sides.contrast->refused.empty())
    out += report::value_text(*sides.response, sides.before) + " -> " + report::value_text(*sides.response, sides.after) + "  " +
           difference(sides) + "  " + sides.word + "; " + blocks_text(sides, facts) + "\n";
  else
    out += paragraph("unsure: " + refusal_of(sides, facts) + "; " + blocks_text(sides, facts), width);
  out += "\n";
  const bool is_open = sides.word.starts_with("unsure");
  const bool is_change = sides.word.starts_with("slower") || sides.word == "faster";
  const Cure cure = is_open ? cure_of(report, sides, facts) : Cure{};
  if (const std::string kept = margin_kept_text(report, sides); !kept.empty()) out += paragraph(kept, width);
  if (is_open && sides.contrast->refused.empty()) out += paragraph(cure.text, width);
  if (!facts.unfinished.empty()) out += paragraph(facts.unfinished, width);
  out += paragraph(facts.clock, width);
  if (const std::string cpu = cpu_time_text(report); !cpu.empty()) out += paragraph(cpu, width);
  out += paragraph(facts.about, width);
  if (copies_count(facts.copies)) out += paragraph(copies_sentence(*facts.copies, WithoutCopies::kExplain), width);
  if (!facts.uncounted.empty()) out += paragraph(uncounted_sentence(facts.uncounted), width);
  for (const report::Caveat& caveat : report::caveats_that_turn(report.caveats))
    out += paragraph("care: " + report::care_text(caveat), width);
  return out + "\nnext: " +
         (is_open                                      ? cure.command
          : is_change && !facts.next_of_change.empty() ? facts.next_of_change
                                                       : facts.next) +
         "\n";
}

// One of the two sides, in JSON.
void side(text::JsonWriter& json, std::string_view key, const std::string& command, double mean_s) {
  json.begin_object(key).value("command", command).value("mean_s", mean_s).end();
}

std::string json_of(const report::Report& report, const Sides& sides, const CompareFacts& facts) {
  const report::Contrast& contrast = *sides.contrast;
  const char* answers[] = {"not slower", "slower", "unsure"};
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-compare").value("version", 2).value("answer", answers[static_cast<int>(sides.worse)]);
  json.value("verdict", sides.word).value("response", contrast.response);
  side(json, "old", facts.before, sides.before);
  side(json, "new", facts.after, sides.after);
  if (contrast.refused.empty()) {
    json.value("ratio", contrast.interval.estimate).value("conf_low", contrast.interval.low);
    json.value("conf_high", contrast.interval.high).value("p_value", contrast.p_holm);
  } else {
    json.value("refused", refusal_of(sides, facts));
  }
  if (const std::optional<CpuTime> cpu = cpu_time_of(report)) {
    json.begin_object("cpu_time").value("old_s", cpu->before).value("new_s", cpu->after).value("ratio", cpu->ratio.estimate);
    json.value("conf_low", cpu->ratio.low).value("conf_high", cpu->ratio.high).end();
  }
  json.value("margin", report.responses[0].margin).value("alpha", report.alpha).value("blocks", contrast.n);
  json.value("seconds", facts.seconds).value("experiment", facts.experiment);
  json.value("outputs_differ", facts.differ.outputs).value("exits_differ", facts.differ.ends);
  json.value("unfinished", facts.unfinished);
  json.value("clock", facts.clock).value("about", facts.about).begin_array("care");
  for (const report::Caveat& caveat : report::caveats_that_turn(report.caveats)) json.element(caveat.message);
  json.end();
  if (facts.copies) {
    json.begin_object("copies");
    write_copies(json, *facts.copies);
    json.end();
  }
  json.value("uncounted", facts.uncounted).end();
  return json.take();
}

std::string markdown_of(const report::Report& report, const Sides& sides, const CompareFacts& facts) {
  const auto cell = [](const std::string& text) { return " " + text::as_markdown(text::as_line(text)) + " |"; };
  const bool is_known = sides.contrast->refused.empty();
  std::string out = "| old | new | old | new | difference, " + report::plain(100 * (1 - report.alpha)) +
                    " % interval | verdict | blocks |\n|---|---|---:|---:|---|---|---:|\n|";
  out += cell(facts.before) + cell(facts.after) + cell(is_known ? report::value_text(*sides.response, sides.before) : "-") +
         cell(is_known ? report::value_text(*sides.response, sides.after) : "-") + cell(difference(sides)) + cell(sides.word) +
         cell(std::to_string(sides.contrast->n)) + "\n\n";
  for (const std::string& line : differences_of(facts)) out += text::as_markdown(text::as_line(line)) + "\n\n";
  std::vector<std::string> notes{margin_kept_text(report, sides), facts.unfinished, facts.clock, cpu_time_text(report),
                                 facts.about};
  if (copies_count(facts.copies)) notes.push_back(copies_sentence(*facts.copies, WithoutCopies::kExplain));
  if (!facts.uncounted.empty()) notes.push_back(uncounted_sentence(facts.uncounted));
  for (const report::Caveat& caveat : report::caveats_that_turn(report.caveats))
    notes.push_back("care: " + report::care_text(caveat));
  for (const std::string& note : notes)
    if (!note.empty()) out += "- " + text::as_markdown(text::as_line(note)) + "\n";
  return out;
}

// Blocks from the first one on that have both sides.
uint32_t whole_blocks(const report::Samples& samples) {
  std::map<uint32_t, int> sides;
  for (const report::Trial& trial : samples.trials) ++sides[trial.block];
  uint32_t whole = 0;
  while (sides[whole] >= 2) ++whole;
  return whole;
}

// The last declared look that has been reached; 0: none has.
uint32_t last_look(const report::Samples& samples, uint32_t blocks) {
  uint32_t reached = 0;
  for (const uint32_t look : samples.stopping.looks)
    if (look <= blocks) reached = look;
  return reached;
}

// What was too short gets twice what its first look takes, as blocks went so far, and what was interrupted gets its time again.
std::string time_for_first_look(const CompareFacts& facts, uint32_t blocks, const std::vector<uint32_t>& looks) {
  constexpr double kLeastSeconds = 60;
  const double each = facts.seconds / std::max(1u, blocks);
  return time_option(std::max(kLeastSeconds, 2 * each * (looks.empty() ? kFewestBlocks : looks[0])));
}

// Where not even the first look was reached.
CompareOutput without_answer(const CompareFacts& facts, uint32_t blocks, const std::vector<uint32_t>& looks, int width) {
  const std::string why = facts.unfinished + ": " + plural(blocks, "block") +
                          (looks.empty() ? "" : " of the " + std::to_string(looks[0]) + " of its first look");
  CompareOutput out;
  out.exit_code = 3;
  for (const std::string& line : differences_of(facts)) out.text += paragraph(line, width);
  out.text += one_line(facts.before) + " -> " + one_line(facts.after) + "\nunsure: " + why + "\n\nnext: " + facts.command +
              facts.margin + " --at-most " + time_for_first_look(facts, blocks, looks) + facts.arguments + "\n";
  text::JsonWriter json;
  json.begin_object().value("format", "stab-compare").value("version", 2).value("answer", "unsure");
  json.value("verdict", "unsure").value("unfinished", why).value("seconds", facts.seconds);
  json.value("experiment", facts.experiment).end();
  out.json = json.take();
  out.markdown = "unsure: " + text::as_markdown(text::as_line(why)) + "\n";
  return out;
}

}  // namespace

Result<CompareOutput> compare_answer(const report::Samples& all, const CompareFacts& given, int width) {
  report::Samples samples = all;
  CompareFacts facts = given;
  const uint32_t blocks = whole_blocks(all);
  const bool is_enough = facts.is_over_time && blocks >= kFewestBlocks;
  if (auto at_end = is_enough ? report::judged_when_time_ended(all, blocks) : std::nullopt; at_end) {
    samples = *std::move(at_end);
    facts.unfinished =
        "the time was over before all planned blocks had run: the answer is of " + plural(blocks, "block");
  } else if (all.incomplete) {
    const uint32_t look = last_look(all, blocks);
    if (look == 0) return without_answer(facts, blocks, all.stopping.looks, width);
    // What a declared look has found holds, whether there are others behind it or not.
    samples = report::first_blocks(all, look);
    samples.incomplete = false;
  }
  STAB_TRY(const report::Report report, report::analyse(samples, report::Depth::kVerdicts));
  Sides sides = sides_of(report);
  if (!sides.contrast) return bad_input("this experiment compares no two programs");
  if (copies_count(facts.copies) && sides.contrast->refused.empty()) allow_for_copies(report, *facts.copies, sides);
  CompareOutput out;
  out.exit_code = exit_code_of(sides.worse);
  out.text = text_of(report, sides, facts, width);
  out.json = json_of(report, sides, facts);
  out.markdown = markdown_of(report, sides, facts);
  return out;
}

}  // namespace stab::commands
