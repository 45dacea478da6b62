// A layout file starts each function modulo 4096 where one of the builds has it, so the distance of two stays as well. What that
// gains was estimated by runs of the new build, in which each function lay at one of its two places.
#include "analysis/commands/explain/explain_cure.h"

#include <algorithm>
#include <cmath>

#include "analysis/commands/explain/explain_places.h"
#include "analysis/commands/explain/explain_words.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/source_name.h"
#include "base/shell_word.h"

namespace stab::commands {
namespace {

constexpr uint64_t kPage = 4096, kGrain = 16;

std::string shown(const PlacedFunctionFacts& facts) { return "'" + text::source_name(facts.name) + "'"; }

// As its build knows it, without its library.
std::string own_name(const PlacedFunctionFacts& facts) {
  return facts.library.empty() ? facts.name : facts.name.substr(facts.library.size() + 1);
}

// Where the file starts it, modulo 4096.
uint64_t place_of(const FunctionSearch& search, size_t f) {
  const PlacedFunctionFacts& facts = search.functions[f];
  return (search.best->as_new[f] ? facts.new_address : facts.old_address) % kPage / kGrain * kGrain;
}

std::string line_of(const FunctionSearch& search, size_t f) {
  return "place " + own_name(search.functions[f]) + " mod 4096 at " + std::to_string(place_of(search, f));
}

// What the file does to a build that has its functions at these places.
std::string gain_text(const std::string& build, const statistics::PlaceEffect& effect, bool is_one) {
  if (effect.estimate == 0 && effect.low == 0 && effect.high == 0)
    return build + " has " + (is_one ? "it" : "them") + " there already";
  return build + " becomes " + change_text(effect.estimate) + " " + interval_of(effect);
}

std::string gains_text(const Explanation& all) {
  const statistics::BestPlaces& best = *all.search->best;
  const bool is_one = std::count(best.is_placed.begin(), best.is_placed.end(), true) == 1;
  return gain_text(all.new_name, best.in_new, is_one) + ", and " + gain_text(all.old_name, best.in_old, is_one);
}

// "'f' and 'g' where ./old has them, 'h' where ./new has it"
std::string places_text(const Explanation& all) {
  const FunctionSearch& search = *all.search;
  std::string out;
  for (const bool as_new : {false, true}) {
    std::vector<std::string> names;
    for (size_t f = 0; f < search.functions.size(); ++f)
      if (search.best->is_placed[f] && search.best->as_new[f] == as_new) names.push_back(shown(search.functions[f]));
    if (names.empty()) continue;
    std::string list;
    for (size_t i = 0; i < names.size(); ++i) list += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    out += (out.empty() ? "" : ", ") + list + " where " + (as_new ? all.new_name : all.old_name) + " has " +
           (names.size() == 1 ? "it" : "them");
  }
  return out;
}

bool is_in_file(const FunctionSearch& search, size_t f) {
  return search.best->is_placed[f] && search.functions[f].library.empty();
}

bool has_file(const FunctionSearch& search) {
  for (size_t f = 0; f < search.functions.size(); ++f)
    if (is_in_file(search, f)) return true;
  return false;
}

// Of those that were found, why some are in no file; a sentence each.
std::vector<std::string> left_out(const FunctionSearch& search) {
  std::vector<std::string> out;
  for (const size_t f : found_functions(*search.answer)) {
    if (search.best && search.best->is_placed[f]) continue;
    const PlacedFunctionFacts& facts = search.functions[f];
    out.push_back(shown(facts) + " stays: " +
                  (facts.why_unplaced.empty() ? "these runs don't say where it is fast whatever the others do"
                                              : facts.why_unplaced));
  }
  return out;
}

std::string why_none(const Explanation& all) {
  const FunctionSearch& search = *all.search;
  if (!search.answer) return search.not_done;
  const std::vector<std::string> out = left_out(search);
  if (out.empty()) {
    switch (search.answer->cause) {
      case statistics::PlaceCause::kMany: return "a layout file places single functions, and none was found by itself";
      case statistics::PlaceCause::kElsewhere: return "a layout file says where functions begin, and that is not what it is";
      default: return "no function was found; more time, --at-most, makes more runs";
    }
  }
  std::string all_of_them;
  for (const std::string& one : out) all_of_them += (all_of_them.empty() ? "" : "; ") + one;
  return all_of_them;
}

std::string emit_command(const Explanation& all) {
  return all.search->cure.must_ask_again ? all.command : all.search->cure.emit;
}

std::string build_command(const CureCommands& cure) { return "szc --stab-layout=" + shell_word(cure.file); }

void gain_json(text::JsonWriter& json, const statistics::PlaceEffect& effect) {
  json.value("difference", std::expm1(effect.estimate));
  json.value("low", std::expm1(effect.low)).value("high", std::expm1(effect.high));
}

}  // namespace

std::string cure_text(const Explanation& all, int width) {
  const FunctionSearch& search = *all.search;
  if (!search.best) return text::wrap("no cure: " + why_none(all), width, "\n", "  ");
  std::string out =
      text::wrap("cure: a layout file starts " + places_text(all) + ", modulo 4096, in every later build: by these runs " +
                     gains_text(all),
                 width, "\n", "  ");
  if (has_file(search)) {
    const CureCommands& cure = search.cure;
    out += "  " + emit_command(all) + "\n";
    if (cure.must_ask_again)
      out += text::wrap("these runs are not kept, so that asks again, and prints the rest", width, "  ", "  ");
    else
      out += "  " + build_command(cure) + " ...\n  " + cure.verify + "\n" +
             text::wrap("szc wants the file where it compiles and where it links (STAB_LINK_LAYOUT=FILE does both), and all is "
                        "to be compiled again; the last command measures what it does: what runs have chosen, others must show",
                        width, "  ", "  ");
  }
  for (size_t f = 0; f < search.functions.size(); ++f)
    if (search.best->is_placed[f] && !is_in_file(search, f))
      out += text::wrap("in a layout file (docs/explanation/layout-maps.md) for every later build of " +
                            search.functions[f].library + ": " + line_of(search, f),
                        width, "  ", "  ");
  for (const std::string& one : left_out(search)) out += text::wrap(one, width, "  ", "  ");
  return out;
}

std::string cure_line(const Explanation& all) {
  if (!all.search || !all.search->best || !has_file(*all.search)) return {};
  const CureCommands& cure = all.search->cure;
  const std::string then = cure.must_ask_again ? " finds it again, and says how to keep it"
                                               : ", then " + build_command(cure) + ", then " + cure.verify;
  return "cure: " + places_text(all) + ", so that " + gains_text(all) + ": " + emit_command(all) + then;
}

void write_cure(text::JsonWriter& json, const Explanation& all) {
  if (!all.search) return;
  const FunctionSearch& search = *all.search;
  json.begin_array("cure");
  for (size_t f = 0; search.best && f < search.functions.size(); ++f) {
    const PlacedFunctionFacts& facts = search.functions[f];
    if (!search.best->is_placed[f]) continue;
    const bool as_new = search.best->as_new[f];
    json.begin_object().value("function", own_name(facts)).value("library", facts.library).value("modulus", kPage);
    json.value("place", place_of(search, f)).value("as_in", as_new ? "new" : "old");
    json.value("together", static_cast<bool>(search.best->is_together[f]));
    if (!search.best->is_together[f]) {
      const statistics::PlaceEffect& effect = search.answer->functions[f];
      const double sign = as_new ? 1 : -1;
      statistics::PlaceEffect gain;
      gain.estimate = sign * effect.estimate;
      gain.low = as_new ? effect.low : -effect.high, gain.high = as_new ? effect.high : -effect.low;
      json.begin_object("gain").value("build", as_new ? "old" : "new");
      gain_json(json, gain);
      json.end();
    }
    json.value("line", line_of(search, f));
    json.value("command", facts.library.empty() ? emit_command(all) : std::string()).end();
  }
  json.end();
  if (!search.best) {
    json.value("no_cure", why_none(all));
    return;
  }
  json.begin_object("cured").begin_object("in_old");
  gain_json(json, search.best->in_old);
  json.end().begin_object("in_new");
  gain_json(json, search.best->in_new);
  const bool is_ready = has_file(search) && !search.cure.must_ask_again;
  json.end().value("emit", has_file(search) ? emit_command(all) : std::string());
  json.value("build", is_ready ? build_command(search.cure) : std::string());
  json.value("verify", is_ready ? search.cure.verify : std::string()).begin_array("left_out");
  for (const std::string& one : left_out(search)) json.element(one);
  json.end().end();
}

}  // namespace stab::commands
