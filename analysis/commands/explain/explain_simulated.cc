// Both answer the same two questions of the same two programs, so their intervals are compared: the simulator's is wide where its
// layouts differ, the measured one where times spread. Cachegrind counts instructions, misses of two levels of caches, and
// branches that an old predictor mispredicts. It has no cycles. So it can miss an effect that a processor has, and see one that a
// processor hides.
#include "analysis/commands/explain/explain_simulated.h"

#include <cmath>

#include "analysis/commands/explain/explain_words.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

using Align = text::TextTable::Align;

bool is_there(const statistics::CauseEffect& effect) {
  return effect.state == statistics::EffectState::kThere || effect.state == statistics::EffectState::kSmall;
}

// "60.1 M"
std::string count_text(double count) {
  if (count >= 1e9) return text::significant(count / 1e9, 4) + " G";
  if (count >= 1e6) return text::significant(count / 1e6, 4) + " M";
  return text::significant(count, 6);
}

// A cause, by name, with what the simulator doesn't know of it, and what a processor does to what the simulator counts.
struct Cause {
  const char* name;
  const statistics::CauseEffect& measured;
  const statistics::CauseEffect& simulated;
  const char* lacks;
  const char* hides;
};

std::string difference_text(const Cause& cause, Agreement agreement) {
  const std::string name = std::string("the ") + cause.name;
  if (agreement == Agreement::kOpen)
    return cause.measured.state == statistics::EffectState::kOpen
               ? "what was measured leaves " + name + " open, and the simulator makes it " + percent_of(cause.simulated.estimate)
               : "the layouts that were simulated leave " + name + " open, " + percent_of(cause.simulated.low) + " to " +
                     percent_of(cause.simulated.high);
  const bool is_less = std::abs(cause.simulated.estimate) < std::abs(cause.measured.estimate);
  return "the simulator makes " + name + " " + percent_of(cause.simulated.estimate) + ", where " +
         percent_of(cause.measured.estimate) + " was measured: " + (is_less ? cause.lacks : cause.hides);
}

}  // namespace

std::string_view word_of(Agreement agreement) {
  switch (agreement) {
    case Agreement::kAgree: return "yes";
    case Agreement::kOtherSize: return "other size";
    case Agreement::kDisagree: return "no";
    case Agreement::kOpen: break;
  }
  return "open";
}

Agreement agreement_of(const statistics::CauseEffect& measured, const statistics::CauseEffect& simulated, double margin) {
  const double more = std::log1p(margin / 2);
  const bool meet = simulated.low <= measured.high + more && simulated.high >= measured.low - more;
  const bool is_open =
      measured.state == statistics::EffectState::kOpen || simulated.state == statistics::EffectState::kOpen;
  if (meet) return is_open ? Agreement::kOpen : Agreement::kAgree;
  const bool is_one_way = std::signbit(measured.estimate) == std::signbit(simulated.estimate);
  return is_there(measured) && is_there(simulated) && is_one_way ? Agreement::kOtherSize : Agreement::kDisagree;
}

std::string agreement_sentence(const Explanation& all) {
  const statistics::CauseAnswer &measured = *all.answer, &simulated = all.simulated->answer;
  const Cause causes[] = {
      {"code", measured.code, simulated.code,
       "it counts each instruction as one, and knows neither how long one takes nor which wait for each other",
       "a processor works on several instructions at once, and hides a part of what is counted"},
      {"place", measured.place, simulated.place,
       "it knows caches and an old branch predictor, and not how a processor fetches and decodes instructions at an address",
       "a processor hides a part of the misses and mispredictions that are counted"}};
  std::string agreed, rest;
  for (const Cause& cause : causes) {
    const Agreement agreement = agreement_of(cause.measured, cause.simulated, all.settings.margin);
    if (agreement == Agreement::kAgree)
      agreed += std::string(agreed.empty() ? "the simulator agrees on the " : " and on the ") + cause.name;
    else
      rest += (rest.empty() ? "" : "; ") + difference_text(cause, agreement);
  }
  return agreed + (agreed.empty() || rest.empty() ? "" : "; ") + rest;
}

std::string simulated_text(const Explanation& all, int width) {
  if (!all.simulated) return "";
  const SimulatedFacts& facts = *all.simulated;
  if (!facts.not_done.empty()) return text::wrap("not simulated: " + facts.not_done, width, "\n", "  ");
  const statistics::CauseAnswer& answer = facts.answer;
  text::TextTable table({{"simulated", Align::kLeft, true},
                         {"old", Align::kRight, true},
                         {"new", Align::kRight, true},
                         {"difference", Align::kRight, true},
                         {"interval", Align::kLeft, true},
                         {"", Align::kLeft, false}});
  const double margin = all.settings.margin;
  table.add({"instructions", count_text(facts.old_run.instructions), count_text(facts.new_run.instructions),
             percent_of(facts.instructions.estimate), interval_of(facts.instructions), "as linked"});
  table.add({"cost", count_text(facts.old_run.cost), count_text(facts.new_run.cost), percent_of(answer.plain.estimate),
             interval_of(answer.plain), "as linked"});
  table.add({"code", "", "", percent_of(answer.code.estimate), interval_of(answer.code), state_text(answer.code, margin / 2)});
  table.add({"place", "", "", percent_of(answer.place.estimate), interval_of(answer.place), state_text(answer.place, margin)});
  const std::string layouts = std::to_string(answer.blocks) + " layouts that both share; intervals of code and place hold with " +
                              share_text(answer.confidence) + " each; " + facts.model;
  return "\n" + table.text(width) + text::wrap(agreement_sentence(all), width, "\n", "  ") +
         text::wrap("simulated in " + layouts, width, "\n", "  ");
}

}  // namespace stab::commands
