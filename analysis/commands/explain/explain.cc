// The first line is the answer, as a sentence. What follows are its three effects, the functions, what to do, and how often
// such an answer is wrong.
#include "analysis/commands/explain/explain.h"

#include "analysis/commands/explain/explain_elsewhere.h"
#include "analysis/commands/explain/explain_places.h"
#include "analysis/commands/explain/explain_sentence.h"
#include "analysis/commands/explain/explain_simulated.h"
#include "analysis/commands/explain/explain_verdict.h"
#include "analysis/commands/explain/explain_words.h"
#include "analysis/report/caveats/caveats.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

using Align = text::TextTable::Align;

std::string effects_text(const Explanation& all, int width) {
  const statistics::CauseAnswer& answer = *all.answer;
  text::TextTable table({{"", Align::kLeft, true},
                   {"difference", Align::kRight, true},
                   {"interval", Align::kLeft, true},
                   {"", Align::kLeft, false}});
  const double margin = all.settings.margin;
  table.add({"as linked", percent_of(answer.plain.estimate), interval_of(answer.plain), "code and place together"});
  table.add({"code", percent_of(answer.code.estimate), interval_of(answer.code), state_text(answer.code, margin / 2)});
  table.add({"place", percent_of(answer.place.estimate), interval_of(answer.place), state_text(answer.place, margin)});
  return table.text(width);
}

std::string copies_text(const Explanation& all, int width) {
  std::string out;
  if (all.copies && all.copies->old_led + all.copies->new_led > 0)
    out += text::wrap(led_sentence(*all.copies), width, "\n", "  ");
  if (copies_count(all.copies)) out += text::wrap(copies_sentence(*all.copies, WithoutCopies::kPlainPrograms), width, "\n", "  ");
  if (!all.uncounted.empty()) out += text::wrap(uncounted_sentence(all.uncounted), width, "\n", "  ");
  return out;
}

std::string care_text(const Explanation& all, int width) {
  std::string out;
  for (const std::string& one : all.care) out += text::wrap("care: " + one, width, "\n", "  ");
  return out;
}

std::string settle_text(const Explanation& all) {
  const statistics::CauseAnswer& answer = *all.answer;
  if (all.is_between_looks) {
    std::string looks;
    for (const uint32_t look : all.settings.looks) looks += (looks.empty() ? "" : ", ") + std::to_string(look);
    return "an answer when somebody chooses to end it would be wrong more often than it says, so there are looks after " + looks +
           " blocks, and one where the time of --at-most ends; run the same command again, and let it end";
  }
  const std::string ended = all.unfinished.empty() ? "" : all.unfinished + "; ";
  if (!answer.settles_at)
    return ended + "an effect lies so near the margin that no number of blocks decides; choose another one with --margin";
  const double each = answer.blocks > 0 ? all.seconds / answer.blocks : 0;
  const std::string wanted = ended + "about " + std::to_string(*answer.settles_at) +
                             " blocks decide if the effects are as estimated: " +
                             report::machine_time_text(each * *answer.settles_at);
  const std::string counted = all.simulated ? "" : "; or count what both execute, without noise: --simulate";
  // It ended with the last look, or would before it knows.
  if (all.unfinished.empty() || *answer.settles_at > all.settings.looks.back())
    return wanted + "; explain ends after " + std::to_string(all.settings.looks.back()) +
           ", so a longer run of the program may spread less, --margin asks for less" + counted;
  return wanted + "; --at-most gives it more time, --margin asks for less" + counted;
}

// Why CPU time is not all, where the answer's sentence doesn't say so, and what to do.
std::string other_clock_text(const Explanation& all, int width) {
  if (!waits(all)) return "";
  return text::wrap((may_wait_longer(all) ? "" : waits_text(all) + "; ") + "next: " + all.wall_command, width, "\n", "  ");
}

std::string outputs_text(const Explanation& all, int width) {
  if (!all.alone || !all.alone->print_something_else()) return "";
  return text::wrap("the two sides print something else; times compare programs that do the same", width, "\n", "  ");
}

}  // namespace

Result<std::vector<std::string>> care_of(const report::Samples& samples) {
  STAB_TRY(const report::Report report, report::analyse(samples));
  std::vector<std::string> out;
  for (const report::Caveat& caveat : report::caveats_that_turn(report.caveats)) out.push_back(report::care_text(caveat));
  return out;
}

ExplainOutput explain_output(const Explanation& all, int width) {
  ExplainOutput out;
  text::JsonWriter json;
  json.begin_object();
  write_explanation(json, all);
  out.json = json.end().take();
  if (!all.answer) {
    out.exit_code = 2;
    out.text = text::wrap("no answer: " + all.not_answered, width, "", "  ");
    return out;
  }
  const statistics::CauseAnswer& answer = *all.answer;
  const bool open = verdict_of(all) == statistics::CauseVerdict::kUnresolved;
  out.exit_code = open ? 3 : 0;
  out.text = text::wrap(explain_sentence(all), width, "", "  ") + "\n" + effects_text(all, width);
  const bool blocks_settle_it =
      !may_be_library_place(all) && !may_be_still_place(all) && !may_be_data(all) && !may_wait_longer(all) &&
      !copies_count(all.copies);
  if (open && blocks_settle_it) out.text += text::wrap(settle_text(all), width, "\n", "  ");
  else if (!all.unfinished.empty()) out.text += text::wrap("ended early: " + all.unfinished, width, "\n", "  ");
  out.text += simulated_text(all, width);
  out.text += outputs_text(all, width) + other_clock_text(all, width);
  out.text += copies_text(all, width) + care_text(all, width);
  if (all.search) out.text += search_text(all, width);
  const bool is_named = statistics::names_code(answer.verdict) || answer.place.state == statistics::EffectState::kThere;
  out.text += (is_named ? libraries_text(all, width) : "") + bodies_text(all, width);
  out.text += text::wrap(plural(answer.blocks, "block") + " of four runs, " + report::machine_time_text(all.seconds) +
                             ", compared by CPU time; intervals of code and place hold with " + share_text(answer.confidence) +
                             " each; of such answers at most " + share_text(all.settings.alpha) +
                             " are wrong. data, heap, stack, "
                             "and libraries that szc did not build lie as they do in a plain run, and are no part of the place",
                         width, "\n", "  ");
  return out;
}

}  // namespace stab::commands
