#include "analysis/commands/explain/explain_places.h"

#include <algorithm>

#include "analysis/commands/answers/place_table.h"
#include "analysis/commands/explain/explain_cure.h"
#include "analysis/commands/explain/explain_words.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/source_name.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

using Align = text::TextTable::Align;

std::string search_sentence(const FunctionSearch& search) {
  const statistics::PlaceAnswer& places = *search.answer;
  const size_t count = places.functions.size();
  const std::string those =
      count == 1 ? "the only one that was looked at, " : "all " + plural(count, "function") + " together ";
  const std::string all = those + percent_of(places.together.estimate) + " " + interval_of(places.together);
  // Beside a cause that they are no half of.
  const std::string less =
      found_functions(places).empty() ? "" : "those that were found make " + percent_of(places.of_found) + ", ";
  switch (places.cause) {
    case statistics::PlaceCause::kFunction: return "it is the place of one function (" + all + ")";
    case statistics::PlaceCause::kPair: return "it is the places of two functions (" + all + ")";
    case statistics::PlaceCause::kSeveral: return "it is the places of several functions (" + all + ")";
    case statistics::PlaceCause::kMany: return "it is many small ones: " + (less.empty() ? "no function alone, " : less) + all;
    case statistics::PlaceCause::kElsewhere:
      return "it is not where functions begin in their page: " + less + all +
             "; what is left is their distance over pages, code that never moves, functions of libraries that were not looked "
             "at, and data";
    case statistics::PlaceCause::kOpen: break;
  }
  return (less.empty() ? "of which function was not found in " : "of which functions most of it is was not found in ") +
         plural(places.runs, "run") + ": " + less + all;
}

// How far the second begins behind the first, "modulo 4096 64 bytes in ./old and 2048 in ./new".
std::string distance_text(const Explanation& all, const statistics::PairEffect& pair) {
  const PlacedFunctionFacts &first = all.search->functions[pair.first], &second = all.search->functions[pair.second];
  return "modulo 4096 " + std::to_string(pair_distance(first.old_address, second.old_address)) + " bytes in " + all.old_name +
         " and " + std::to_string(pair_distance(first.new_address, second.new_address)) + " in " + all.new_name;
}

}  // namespace

uint64_t pair_distance(uint64_t first, uint64_t second) { return (second - first) % 4096; }

const statistics::PlaceAnswer* places_of(const Explanation& all) {
  return all.search && all.search->answer ? &*all.search->answer : nullptr;
}

std::vector<size_t> found_functions(const statistics::PlaceAnswer& places) {
  std::vector<size_t> out;
  for (size_t f = 0; f < places.functions.size(); ++f)
    if (places.functions[f].is_found) out.push_back(f);
  for (const statistics::PairEffect& pair : places.pairs)
    for (const size_t f : {size_t{pair.first}, size_t{pair.second}})
      if (std::find(out.begin(), out.end(), f) == out.end()) out.push_back(f);
  return out;
}

std::string search_text(const Explanation& all, int width) {
  const FunctionSearch& search = *all.search;
  if (!search.answer) return text::wrap("of which function is not known: " + search.not_done, width, "\n", "  ");
  const statistics::PlaceAnswer& places = *search.answer;
  std::string out = text::wrap(search_sentence(search), width, "\n", "  ");
  const std::vector<size_t> found = found_functions(places);
  if (!found.empty()) {
    size_t longest = 0;
    for (const size_t f : found) longest = std::max(longest, text::display_width(text::source_name(search.functions[f].name)));
    const auto made = [&](PlaceDetail detail) {
      text::TextTable table({{"function", Align::kLeft, false},
                             {"its place", Align::kRight, true},
                             {"interval", Align::kLeft, true},
                             {place_title(detail), Align::kLeft, true},
                             {"new place", Align::kLeft, true}});
      for (const size_t f : found) {
        const PlacedFunctionFacts& facts = search.functions[f];
        table.add({text::source_name(facts.name), percent_of(places.functions[f].estimate), interval_of(places.functions[f]),
                   address_text(facts.old_address, detail), address_text(facts.new_address, detail)});
      }
      return table;
    };
    out += with_names(made, longest, width);
  }
  for (const statistics::PairEffect& pair : places.pairs)
    out += text::wrap("'" + text::source_name(search.functions[pair.first].name) + "' and '" +
                    text::source_name(search.functions[pair.second].name) +
                    "' together add " + percent_of(pair.estimate) + " to what each adds: their distance matters, " +
                    distance_text(all, pair),
                width, "  ", "  ");
  out += cure_text(all, width);
  if (!search.sampled)
    out += text::wrap("the program could not be sampled, so the largest functions were looked at, not the busiest", width, "  ",
                      "  ");
  if (search.left_out > 0)
    out += text::wrap(plural(search.left_out, "function") +
                          " more lie elsewhere in the two builds and were not looked at",
                      width, "  ", "  ");
  if (search.unmatched >= 0.05)
    out += text::wrap(share_text(search.unmatched) +
                          " of the time is in functions that can't be put where the other build has them: they never move, or "
                          "one build alone has them",
                      width, "  ", "  ");
  return out;
}

}  // namespace stab::commands
