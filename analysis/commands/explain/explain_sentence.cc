#include "analysis/commands/explain/explain_sentence.h"

#include <cmath>
#include <string>
#include <vector>

#include "analysis/commands/explain/explain_places.h"
#include "analysis/commands/explain/explain_verdict.h"
#include "analysis/commands/explain/explain_words.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/source_name.h"

namespace stab::commands {
namespace {

// "'wide'", or "'wide' and 'narrow'"; empty: none was found, or more than two were
std::string found_names(const Explanation& all) {
  const statistics::PlaceAnswer* const places = places_of(all);
  const std::vector<size_t> found = places ? found_functions(*places) : std::vector<size_t>();
  if (found.empty() || found.size() > 2) return "";
  const std::string first = "'" + text::source_name(all.search->functions[found[0]].name) + "'";
  return found.size() == 1 ? first : first + " and '" + text::source_name(all.search->functions[found[1]].name) + "'";
}

// " of 'wide'", or ", of which 'wide' makes +0.20 %"
std::string of_functions(const Explanation& all) {
  const std::string names = found_names(all);
  if (names.empty()) return "";
  const statistics::PlaceAnswer& places = *places_of(all);
  if (statistics::makes_half(places, all.answer->place.estimate)) return " of " + names;
  return ", of which " + names + (found_functions(places).size() == 2 ? " make " : " makes ") + percent_of(places.of_found);
}

// The same where nothing but a name can stand.
std::string of_half(const Explanation& all) {
  const std::string names = functions_of_place(all);
  return names.empty() ? names : " of " + names;
}

bool is_known(const statistics::CauseEffect& effect) {
  return effect.state == statistics::EffectState::kThere || effect.state == statistics::EffectState::kSmall;
}

}  // namespace

std::string waits_text(const Explanation& all) {
  const AloneFacts& alone = *all.alone;
  const auto share = [](double on_cpu) { return std::to_string(std::lround(100 * on_cpu)) + " %"; };
  const char* const rest = " and waited for the rest, which CPU time does not see";
  if (alone.old_waits && alone.new_waits)
    return all.old_name + " and " + all.new_name + " were on a CPU for " + share(alone.old_on_cpu) + " and " +
           share(alone.new_on_cpu) + " of their time" + rest;
  return (alone.new_waits ? all.new_name : all.old_name) + " was on a CPU for " +
         share(alone.new_waits ? alone.new_on_cpu : alone.old_on_cpu) + " of its time" + rest;
}

std::string functions_of_place(const Explanation& all) {
  const statistics::PlaceAnswer* const places = places_of(all);
  return places && statistics::makes_half(*places, all.answer->place.estimate) ? found_names(all) : "";
}

namespace {

// "'wide', which takes 95.9 % of the time,"
std::string still_text(const Explanation& all) {
  const BodyFacts& bodies = *all.bodies;
  const std::string share = share_text((bodies.old_still + bodies.new_still) / 2) + " of the time";
  if (bodies.still.empty()) return "code with " + share;
  std::string name = "'" + text::source_name(bodies.still[0]) + "'";
  if (bodies.still.size() > 1) name = "code such as " + name;
  return name + ", with " + share + ",";
}

}  // namespace

std::string explain_sentence(const Explanation& all) {
  const statistics::CauseAnswer& answer = *all.answer;
  const std::string clock = waits(all) ? "in CPU time " : "";
  const std::string whole = clock + all.new_name + " is " + change_text(answer.plain.estimate) + " than " + all.old_name;
  const std::string half = share_text(all.settings.margin / 2), margin = share_text(all.settings.margin);
  if (is_chance(all) && !all.is_between_looks)
    return "unresolved: " + all.old_name + " and " + all.new_name +
           " are one program, byte for byte: whatever the blocks show is chance, or what the machine did meanwhile";
  const std::string but_it_waits = may_wait_longer(all) ? "; but " + waits_text(all) : "";
  if (may_be_library_place(all) || may_be_still_place(all) || may_be_data(all))
    return "unresolved: " + clock + all.new_name + " is " + change_text(answer.code.estimate) + " than " + all.old_name +
           (may_be_library_place(all)
                ? " wherever its own functions lie, but functions of libraries that szc did not build lie elsewhere in the two: "
                  "it is code, or the place of those"
            : may_be_still_place(all)
                ? " wherever functions lie that can be moved, but " + still_text(all) + " never moves, and lies elsewhere in the "
                  "two: it is code, or the place of that"
                : " wherever its functions lie, but their instructions are the same: it is what its data are, or where they "
                  "lie") +
           (answer.verdict == statistics::CauseVerdict::kBoth
                ? "; the place" + of_half(all) + " is known to make " + percent_of(answer.place.estimate)
                : "");
  if (is_place_of_same_code(all))
    return "place: " + whole + " where its functions lie now, of which the place" + of_half(all) + " makes " +
           percent_of(answer.place.estimate) + "; what runs is the same code";
  switch (answer.verdict) {
    case statistics::CauseVerdict::kCode: {
      const std::string rest = answer.place.state == statistics::EffectState::kAbsent
                                   ? ", and its place adds less than " + margin
                                   : "; its place adds " + percent_of(answer.place.estimate) + ", less than " + margin;
      return "code: " + clock + all.new_name + " is " + change_text(answer.code.estimate) + " than " + all.old_name +
             " wherever its functions lie" + rest;
    }
    case statistics::CauseVerdict::kPlace:
      return (may_wait_longer(all) ? "unresolved: " : "place: ") + whole + " where its functions lie now, by the place" +
             of_functions(all) +
             "; over random places the code differs by less than " + half + but_it_waits;
    case statistics::CauseVerdict::kBoth:
      return "both: " + whole + ", of which " + percent_of(answer.code.estimate) + " is code and " +
             percent_of(answer.place.estimate) + " the place" + of_functions(all);
    case statistics::CauseVerdict::kNothing:
      if (answer.place.state != statistics::EffectState::kAbsent)
        return (may_wait_longer(all) ? "unresolved: as they are linked " : "nothing that matters: as they are linked ") + whole +
               ", less than " + margin + "; its place makes " + percent_of(answer.place.estimate) + ", and the code less than " +
               half + but_it_waits;
      return (may_wait_longer(all) ? "unresolved: " : "nothing: ") + clock + "neither the code nor the place of " + all.new_name +
             " makes a difference to " + all.old_name + " that matters: code less than " + half + ", place less than " + margin +
             but_it_waits;
    case statistics::CauseVerdict::kUnresolved: break;
  }
  const std::string blocks = std::to_string(answer.blocks) + " blocks are too few";
  const auto open = [&](const char* what, const statistics::CauseEffect& effect) {
    return "; whether " + std::string(what) + " matters, too, is unresolved: it makes " + percent_of(effect.low) + " to " +
           percent_of(effect.high) + ", and " +
           (copies_count(all.copies) ? "what random places cost by themselves is a part of that" : blocks + " to say");
  };
  if (all.is_between_looks)
    return "unresolved: it was interrupted after " + plural(answer.blocks, "block") +
           ", before a look that may give an answer";
  if (is_known(answer.place))
    return "the place" + of_half(all) + " makes " + percent_of(answer.place.estimate) + open("the code", answer.code);
  if (is_known(answer.code))
    return "the code makes " + percent_of(answer.code.estimate) + open("its place", answer.place);
  if (copies_count(all.copies))
    return "unresolved: " + whole + " as they are linked; of the difference over random places nobody can say how much is code, "
           "and how much is what random places cost by themselves";
  if (runs_same_code(all)) return "unresolved: what runs is the same code, and " + blocks + " to say what its place makes";
  return "unresolved: " + blocks + " to decide";
}

}  // namespace stab::commands
