// The numbers are the report's contrasts; here they get their words.
#include "analysis/commands/gate/compare_answer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "analysis/commands/gate/judged_sides.h"
#include "analysis/report/caveats/caveats.h"
#include "analysis/report/caveats/loop_layouts.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/report/report_data/settling.h"
#include "analysis/report/report_data/worse.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/markup.h"
#include "analysis/text/text_table.h"
#include "base/printable.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

std::string blocks_text(const JudgedSide& side, const CompareFacts& facts) {
  return plural(side.contrast->n, "block") + ", " + report::machine_time_text(std::max(1.0, facts.seconds));
}

std::string paragraph(const std::string& text, int width) {
  return text::wrap(text, width, "", "  ");
}

// What begins a sentence about one of several sides.
std::string named(const CompareFacts& facts, const ComparedSide& side) {
  return facts.others.size() > 1 ? in_quotes(one_line(side.command)) + ": " : "";
}

// The first lines of the answer.
std::vector<std::string> differences_of(const CompareFacts& facts) {
  std::vector<std::string> out;
  for (const ComparedSide& side : facts.others) {
    const std::string both = "the first and " + in_quotes(one_line(side.command));
    for (std::string& line :
         facts.others.size() > 1 ? difference_sentences_of(side.differ, both) : difference_sentences(side.differ))
      out.push_back(std::move(line));
  }
  return out;
}

// "./old -> ./new", or all of several.
std::string names_of(const CompareFacts& facts) {
  if (facts.others.size() == 1) return one_line(facts.baseline) + " -> " + one_line(facts.others[0].command);
  std::string out = one_line(facts.baseline);
  for (const ComparedSide& side : facts.others) out += ", " + one_line(side.command);
  return out;
}

// A line for each side. Where a name would have to be cut it has a line of its own: the end may be what tells two apart.
std::string table_of_several(const std::vector<JudgedSide>& sides, const CompareFacts& facts, int width) {
  const auto time = [&](double value) { return value > 0 ? report::value_text(*sides[0].response, value) : "-"; };
  std::vector<std::vector<std::string>> rows{{one_line(facts.baseline), time(sides[0].before), "", "the first"}};
  for (const JudgedSide& side : sides)
    rows.push_back({one_line(side.side->command), time(side.after), difference(side), side.word});
  using Align = text::TextTable::Align;
  text::TextTable table({{.title = ""},
                         {.title = "time", .align = Align::kRight, .whole = true},
                         {.title = "against the first", .whole = true},
                         {.title = "", .whole = true}});
  for (const std::vector<std::string>& row : rows) table.add(row);
  const std::string cut = table.text(width, "");
  if (cut == table.text(std::numeric_limits<int>::max(), "")) return cut;
  std::string out;
  for (const std::vector<std::string>& row : rows)
    out += row[0] + "\n  " + row[1] + "  " + (row[2].empty() ? "" : row[2] + "  ") + row[3] + "\n";
  return out;
}

// Of two sides a line with their names and one with the answer; of several a line each.
std::string head_of(const std::vector<JudgedSide>& sides, const CompareFacts& facts, int width) {
  const JudgedSide& first = sides[0];
  if (sides.size() == 1) {
    const std::string names = names_of(facts) + "\n";
    if (!first.is_known())
      return names + paragraph("unsure: " + refusal_of(first, facts) + "; " + blocks_text(first, facts), width);
    const std::string times = report::value_text(*first.response, first.before) + " -> " +
                              report::value_text(*first.response, first.after) + "  " + difference(first);
    const std::string verdict = first.word + "; " + blocks_text(first, facts);
    const bool fits = text::display_width(times) + 2 + text::display_width(verdict) <= static_cast<size_t>(width);
    return names + times + (fits ? "  " : "\n  ") + verdict + "\n";
  }
  std::string out = table_of_several(sides, facts, width) + blocks_text(first, facts) + "\n";
  for (const JudgedSide& side : sides)
    if (!side.is_known()) out += paragraph(named(facts, *side.side) + refusal_of(side, facts), width);
  return out;
}

// What the sentences below the head say, one each. On a terminal an unsure side says what it takes.
enum class Cures : uint8_t { kTold, kLeftOut };
std::vector<std::string> notes_of(const report::Report& report, const std::vector<JudgedSide>& sides, const CompareFacts& facts,
                                  Cures cures) {
  std::vector<std::string> out;
  const auto of_each = [&](const auto& sentence) {
    for (const JudgedSide& side : sides)
      if (const std::string text = sentence(side); !text.empty()) out.push_back(named(facts, *side.side) + text);
  };
  of_each([&](const JudgedSide& side) { return margin_kept_text(report, side); });
  of_each([&](const JudgedSide& side) {
    return cures == Cures::kTold && side.is_open() && side.is_known() ? cure_of(report, side, facts).text : std::string();
  });
  out.push_back(facts.unfinished);
  out.push_back(facts.clock);
  of_each([&](const JudgedSide& side) { return cpu_time_text(report, side); });
  out.push_back(facts.about);
  if (const std::optional<double> layouts = report::layouts_of_a_loop(report))
    out.push_back("they stay in a loop, so a run saw " + report::plain(*layouts) + (*layouts == 1 ? " layout" : " layouts") +
                  " of the code (median), and another block others: with few blocks that is a small sample of layouts; move the "
                  "loop's work into a function of its own (noinline), or write a plan with long_loops = true");
  of_each([&](const JudgedSide& side) {
    const std::optional<CopyFacts>& copies = side.side->copies;
    return copies_count(copies) ? copies_sentence(*copies, WithoutCopies::kExplain) : std::string();
  });
  const auto uncounted = [](const JudgedSide& side) {
    return side.side->uncounted.empty() ? std::string() : uncounted_sentence(side.side->uncounted);
  };
  const auto is_as_first = [&](const JudgedSide& side) { return uncounted(side) == uncounted(sides[0]); };
  if (std::all_of(sides.begin(), sides.end(), is_as_first))
    out.push_back(uncounted(sides[0]));
  else
    of_each(uncounted);
  for (const report::Caveat& caveat : report::caveats_that_turn(report.caveats))
    out.push_back("care: " + report::care_text(caveat));
  std::erase(out, "");
  return out;
}

// Of the sides that are unsure the one that takes the most; absent: none is unsure.
const JudgedSide* hardest_of(const std::vector<JudgedSide>& sides) {
  const auto blocks = [](const JudgedSide& side) {
    return side.is_known() ? side.contrast->settles_n.value_or(report::kMostSettling) : report::kMostSettling + 1;
  };
  const JudgedSide* out = nullptr;
  for (const JudgedSide& side : sides)
    if (side.is_open() && (!out || blocks(side) > blocks(*out))) out = &side;
  return out;
}

// The command to type next.
std::string next_of(const report::Report& report, const std::vector<JudgedSide>& sides, const CompareFacts& facts) {
  if (const JudgedSide* open = hardest_of(sides)) return cure_of(report, *open, facts).command;
  for (const JudgedSide& side : sides)
    if (side.is_change() && !side.side->next_of_change.empty()) return side.side->next_of_change;
  return facts.next;
}

std::string text_of(const report::Report& report, const std::vector<JudgedSide>& sides, const CompareFacts& facts, int width) {
  std::string out;
  for (const std::string& line : differences_of(facts)) out += paragraph(line, width);
  out += head_of(sides, facts, width) + "\n";
  for (const std::string& note : notes_of(report, sides, facts, Cures::kTold)) out += paragraph(note, width);
  return out + "\nnext: " + next_of(report, sides, facts) + "\n";
}

const char* answer_of(report::Worse worse) {
  const char* answers[] = {"not slower", "slower", "unsure"};
  return answers[static_cast<int>(worse)];
}

// One of the sides, in JSON.
void side(text::JsonWriter& json, std::string_view key, const std::string& command, double mean_s) {
  json.begin_object(key).value("command", command).value("mean_s", mean_s).end();
}

// A side's difference from the first one, as members of the object that is open.
void write_difference(text::JsonWriter& json, const report::Report& report, const JudgedSide& of, const CompareFacts& facts) {
  const report::Contrast& contrast = *of.contrast;
  if (of.is_known()) {
    json.value("ratio", contrast.interval.estimate).value("conf_low", contrast.interval.low);
    json.value("conf_high", contrast.interval.high).value("p_value", contrast.p_holm);
  } else {
    json.value("refused", refusal_of(of, facts));
  }
  if (const std::optional<CpuTime> cpu = cpu_time_of(report, of)) {
    json.begin_object("cpu_time").value("old_s", cpu->before).value("new_s", cpu->after).value("ratio", cpu->ratio.estimate);
    json.value("conf_low", cpu->ratio.low).value("conf_high", cpu->ratio.high).end();
  }
}

void write_copies_of(text::JsonWriter& json, const ComparedSide& of) {
  if (of.copies) {
    json.begin_object("copies");
    write_copies(json, *of.copies);
    json.end();
  }
  json.value("uncounted", of.uncounted);
}

void write_others(text::JsonWriter& json, const report::Report& report, const std::vector<JudgedSide>& sides,
                  const CompareFacts& facts) {
  json.begin_array("others");
  for (const JudgedSide& one : sides) {
    json.begin_object().value("command", one.side->command).value("mean_s", one.after);
    json.value("answer", answer_of(one.worse)).value("verdict", one.word).value("blocks", one.contrast->n);
    write_difference(json, report, one, facts);
    json.value("outputs_differ", one.side->differ.outputs).value("exits_differ", one.side->differ.ends);
    write_copies_of(json, *one.side);
    json.end();
  }
  json.end();
}

// Of two sides they are "old" and "new", of several "baseline" and "others".
std::string json_of(const report::Report& report, const std::vector<JudgedSide>& sides, const CompareFacts& facts) {
  const JudgedSide& first = sides[0];
  const bool is_pair = sides.size() == 1;
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-compare").value("version", 2).value("answer", answer_of(worst_of(sides)));
  if (is_pair) {
    json.value("verdict", first.word).value("response", first.contrast->response);
    side(json, "old", facts.baseline, first.before);
    side(json, "new", first.side->command, first.after);
    write_difference(json, report, first, facts);
  } else {
    json.value("response", first.contrast->response);
    side(json, "baseline", facts.baseline, first.before);
    write_others(json, report, sides, facts);
  }
  json.value("margin", report.responses[0].margin).value("alpha", report.alpha).value("blocks", first.contrast->n);
  json.value("seconds", facts.seconds).value("experiment", facts.experiment);
  if (is_pair) json.value("outputs_differ", first.side->differ.outputs).value("exits_differ", first.side->differ.ends);
  json.value("unfinished", facts.unfinished);
  json.value("clock", facts.clock).value("about", facts.about).begin_array("care");
  for (const report::Caveat& caveat : report::caveats_that_turn(report.caveats)) json.element(caveat.message);
  json.end();
  if (is_pair) write_copies_of(json, *first.side);
  json.end();
  return json.take();
}

std::string table_of(const report::Report& report, const std::vector<JudgedSide>& sides, const CompareFacts& facts) {
  const auto cell = [](const std::string& text) { return " " + text::as_markdown(text::as_line(text)) + " |"; };
  const std::string interval = "difference, " + report::plain(100 * (1 - report.alpha)) + " % interval | verdict | blocks |\n";
  const auto time = [](const JudgedSide& side, double value) {
    return side.is_known() ? report::value_text(*side.response, value) : "-";
  };
  const auto end_of_row = [&](const JudgedSide& side) {
    return cell(difference(side)) + cell(side.word) + cell(std::to_string(side.contrast->n)) + "\n";
  };
  const JudgedSide& first = sides[0];
  if (sides.size() == 1)
    return "| old | new | old | new | " + interval + "|---|---|---:|---:|---|---|---:|\n|" + cell(facts.baseline) +
           cell(first.side->command) + cell(time(first, first.before)) + cell(time(first, first.after)) + end_of_row(first);
  std::string out = "| program | time | " + interval + "|---|---:|---|---|---:|\n|" + cell(facts.baseline) +
                    cell(time(first, first.before)) + " | the first |  |\n";
  for (const JudgedSide& side : sides) out += "|" + cell(side.side->command) + cell(time(side, side.after)) + end_of_row(side);
  return out;
}

std::string markdown_of(const report::Report& report, const std::vector<JudgedSide>& sides, const CompareFacts& facts) {
  std::string out = table_of(report, sides, facts) + "\n";
  for (const std::string& line : differences_of(facts)) out += text::as_markdown(text::as_line(line)) + "\n\n";
  for (const std::string& note : notes_of(report, sides, facts, Cures::kLeftOut))
    out += "- " + text::as_markdown(text::as_line(note)) + "\n";
  return out;
}

// Blocks from the first one on that have so many sides.
uint32_t whole_blocks(const report::Samples& samples, size_t sides) {
  std::map<uint32_t, size_t> seen;
  for (const report::Trial& trial : samples.trials) ++seen[trial.block];
  uint32_t whole = 0;
  while (seen[whole] >= sides) ++whole;
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
// Before the first block time went into builds and tries, unless it was all that was given.
std::string time_for_first_look(const CompareFacts& facts, uint32_t blocks, const std::vector<uint32_t>& looks) {
  constexpr double kLeastSeconds = 60;
  const double each = blocks == 0 && !facts.is_over_time ? 0 : facts.seconds / std::max(1u, blocks);
  return time_option(std::max(kLeastSeconds, 2 * each * (looks.empty() ? kFewestBlocks : looks[0])));
}

// Where not even the first look was reached.
CompareOutput without_answer(const CompareFacts& facts, uint32_t blocks, const std::vector<uint32_t>& looks, int width) {
  const std::string why = facts.unfinished + ": " + plural(blocks, "block") +
                          (looks.empty() ? "" : " of the " + std::to_string(looks[0]) + " of its first look");
  CompareOutput out;
  out.exit_code = 3;
  for (const std::string& line : differences_of(facts)) out.text += paragraph(line, width);
  out.text += names_of(facts) + "\nunsure: " + why + "\n\nnext: " + facts.command + facts.margin + " --at-most " +
              time_for_first_look(facts, blocks, looks) + facts.arguments + "\n";
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
  const uint32_t blocks = whole_blocks(all, facts.others.size() + 1);
  const bool is_enough = facts.is_over_time && blocks >= kFewestBlocks;
  if (auto at_end = is_enough ? report::judged_when_time_ended(all, blocks) : std::nullopt; at_end) {
    samples = *std::move(at_end);
    facts.unfinished = "the time was over before all planned blocks had run: the answer is of " + plural(blocks, "block");
  } else if (all.incomplete) {
    const uint32_t look = last_look(all, blocks);
    if (look == 0) return without_answer(facts, blocks, all.stopping.looks, width);
    // What a declared look has found holds, whether there are others behind it or not.
    samples = report::first_blocks(all, look);
    samples.incomplete = false;
  }
  STAB_TRY(const report::Report report, report::analyse(samples, report::Depth::kVerdicts));
  STAB_TRY(const std::vector<JudgedSide> sides, judged_sides(report, facts));
  CompareOutput out;
  out.exit_code = report::exit_code_of(worst_of(sides));
  out.text = text_of(report, sides, facts, width);
  out.json = json_of(report, sides, facts);
  out.markdown = markdown_of(report, sides, facts);
  return out;
}

}  // namespace stab::commands
