// The layout map for people and for programs.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/layout_report/layout_map.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/text_table.h"
#include "base/number_text.h"

namespace stab::layout_report {
namespace {

using Align = text::TextTable::Align;

std::string share_text(const statistics::PlacementFit::Share& share) {
  std::string out = text::percent(share.estimate, 2);
  if (share.interval)
    out += " [" + text::significant(100 * share.interval->first, 2) + ", " + text::significant(100 * share.interval->second, 2) +
           "]";
  return out;
}

std::string functions_text(const Place& place) { return place.function + (place.other.empty() ? "" : " and " + place.other); }

std::string header(const LayoutMap& map, int width) {
  std::string text = "layout map of '" + map.experiment + "', " + map.workload + ": CPU time" +
                     (map.work.empty() ? "" : " by " + map.work) + " in " + plural(map.moments, map.unit);
  if (map.unit != "trial") text += " of " + text::significant(map.unit_ms, 3) + " ms in " + plural(map.trials, "trial");
  text += "; noise of one " + text::percent(map.screen.noise) + "; " + plural(map.screen.tests, "test") + " of " +
          plural(map.functions.size(), "function") + "; 8 of 10 such screens find a difference of " +
          text::percent(std::expm1(map.screen.finds));
  std::string out = text::wrap(text, width, "", "  ");
  if (map.left_out.empty()) return out;
  text = "left out:";
  for (size_t i = 0; i < map.left_out.size(); ++i)
    text += (i ? ", " : " ") + std::to_string(map.left_out[i].second) + " " + map.left_out[i].first;
  return out + text::wrap(text, width, "", "  ");
}

std::string confirmed_word(const Confirmed& place) {
  if (!place.refused.empty()) return "refused: " + place.refused;
  switch (place.verdict) {
    case report::Verdict::kChanged:
      return "matters";
    case report::Verdict::kEquivalent:
      return "does not matter";
    case report::Verdict::kUnsure:
    case report::Verdict::kWithheld:
      break;
  }
  return "unsure";
}

// A name is what the reader came for; only those of templates are cut to the terminal's width.
constexpr size_t kLongestWholeName = 32;

template <typename Places>
text::TextTable::ColumnStyle function_column(const Places& places) {
  const auto is_short = [](const auto& one) { return functions_text(one.place).size() <= kLongestWholeName; };
  return {"function", Align::kLeft, std::all_of(places.begin(), places.end(), is_short)};
}

std::string confirmation_text(const LayoutMap& map, int width) {
  const Confirmation& confirmation = *map.confirmation;
  std::string out =
      "\n" + text::wrap("confirmed by '" + confirmation.experiment + "', " + plural(confirmation.moments, map.unit) +
                            (map.unit == "trial" ? "" : " in " + plural(confirmation.trials, "trial")) +
                            " that the screen has not seen; intervals of " + text::percent(1 - confirmation.alpha) +
                            ", Holm over " + plural(confirmation.places.size(), "place") + ", margin " +
                            text::percent(confirmation.margin),
                        width, "", "  ");
  text::TextTable table({function_column(confirmation.places),
                         {"place", Align::kLeft, true},
                         {"slow", Align::kRight},
                         {"fast", Align::kRight},
                         {"slow against fast", Align::kRight, true},
                         {"p", Align::kRight},
                         {"sd", Align::kRight},
                         {"share", Align::kRight, true},
                         {"verdict", Align::kLeft, true}});
  for (const Confirmed& place : confirmation.places) {
    const bool measured = place.refused.empty();
    table.add({functions_text(place.place), std::string(name(place.place.kind)) + (place.forced ? "" : " *"),
               level_text(place.place, place.slowest), level_text(place.place, place.fastest),
               measured ? report::ratio_interval_text(place.difference) : "-", measured ? text::p_text(place.p_holm) : "-",
               measured ? text::percent(place.sd, 2) : "-", measured ? share_text(place.share) : "-", confirmed_word(place)});
  }
  out += table.text(width);
  const bool some_drawn = std::any_of(confirmation.places.begin(), confirmation.places.end(),
                                      [](const Confirmed& place) { return !place.forced; });
  if (some_drawn) out += "  * its levels came as layouts were drawn; the others were forced, each as often\n";
  if (std::any_of(confirmation.places.begin(), confirmation.places.end(), [](const auto& p) { return p.refused.empty(); }))
    out += text::wrap("all of them together: " + share_text(confirmation.all) + " of the variance from " + map.unit + " to " +
                    map.unit + ", an sd of " + text::percent(confirmation.all_sd, 2) +
                    " between random layouts; the rest is noise and what the map has not found",
                width, "  ", "  ");
  return out;
}

std::string candidates_text(const LayoutMap& map, int width) {
  if (map.screen.candidates.empty())
    return "\n" + text::wrap("no candidate: no function's place makes a difference that " +
                                 plural(map.moments, map.unit) + " show",
                             width, "", "  ");
  const std::string rate = text::percent(kDiscoveryRate, 2);
  std::string out = "\n" + text::wrap("candidates of the screen (false discovery rate " + rate + ")", width, "", "  ");
  text::TextTable table({function_column(map.screen.candidates),
                         {"place", Align::kLeft, true},
                         {"slow", Align::kRight},
                         {"fast", Align::kRight},
                         {"slow against fast", Align::kRight},
                         {"sd", Align::kRight},
                         {"p", Align::kRight},
                         {"q", Align::kRight},
                         {"of samples", Align::kRight}});
  for (const Candidate& candidate : map.screen.candidates) {
    std::string samples = "-";
    for (const PlacementData::Function& function : map.functions)
      if (function.linked == candidate.place.linked && function.library == candidate.place.library && function.samples)
        samples = text::percent(*function.samples, 2);
    table.add({functions_text(candidate.place), std::string(name(candidate.place.kind)),
               level_text(candidate.place, candidate.slowest), level_text(candidate.place, candidate.fastest),
               text::ratio_text(std::exp(candidate.difference)), text::percent(std::sqrt(candidate.effects.variance), 2),
               text::p_text(candidate.test.p_value), text::p_text(candidate.q_value), samples});
  }
  return out + table.text(width);
}

// --- JSON -----------------------------------------------------------------------------------------------------------

void write_place(text::JsonWriter& json, const Place& place) {
  json.value("function", place.function).value("linked", hex_text(place.linked));
  if (!place.library.empty()) json.value("library", place.library);
  if (!place.other.empty()) json.value("other", place.other).value("other_linked", hex_text(place.other_linked));
  if (!place.other_library.empty()) json.value("other_library", place.other_library);
  json.value("place", name(place.kind));
}

void write_levels(text::JsonWriter& json, const Place& place, const statistics::LevelEffects& effects, int slowest, int fastest) {
  json.value("slowest", level_text(place, slowest)).value("fastest", level_text(place, fastest));
  json.begin_array("levels");
  for (size_t level = 0; level < effects.effect.size(); ++level)
    json.begin_object()
        .value("level", level_text(place, static_cast<int>(level)))
        .value("ratio", std::exp(effects.effect[level]))
        .value("standard_error", effects.standard_error[level])
        .value("count", effects.moments[level])
        .end();
  json.end();
}

void write_share(text::JsonWriter& json, const char* key, const statistics::PlacementFit::Share& share) {
  json.begin_object(key).value("estimate", share.estimate);
  if (share.interval) json.value("low", share.interval->first).value("high", share.interval->second);
  json.end();
}

void write_confirmed(text::JsonWriter& json, const Confirmed& place) {
  json.begin_object();
  write_place(json, place.place);
  json.value("forced", place.forced);
  if (!place.refused.empty()) {
    json.value("refused", place.refused).end();
    return;
  }
  write_levels(json, place.place, place.effects, place.slowest, place.fastest);
  json.begin_object("difference")
      .value("estimate", place.difference.estimate)
      .value("low", place.difference.low)
      .value("high", place.difference.high)
      .end();
  json.value("p_value", place.p_value).value("p_holm", place.p_holm).value("p_equivalence_holm", place.p_equivalence_holm);
  json.value("verdict", name(place.verdict)).value("sd", place.sd);
  write_share(json, "share", place.share);
  json.end();
}

}  // namespace

std::string render_map_text(const LayoutMap& map, int width) {
  std::string out = header(map, width);
  if (map.confirmation) out += confirmation_text(map, width);
  out += candidates_text(map, width);
  for (const MapCaveat& caveat : map.caveats)
    out += "\n" + text::wrap(caveat.code + ": " + caveat.message, width, "! ", "  ") +
           text::wrap(caveat.hint, width, "  -> ", "     ");
  return out;
}

std::string render_no_map_text(const std::string& workload, const std::string& why, int width) {
  return text::wrap("no map of " + workload + ": " + why, width, "", "  ");
}

std::string render_map_json(const LayoutMap& map) {
  text::JsonWriter json;
  json.begin_object().value("format", "stab-layout-map").value("version", 1);
  json.value("experiment", map.experiment).value("workload", map.workload).value("unit", map.unit).value("work", map.work);
  json.value("unit_ms", map.unit_ms).value("units", map.moments).value("trials", map.trials);
  json.begin_array("left_out");
  for (const auto& [why, count] : map.left_out) json.begin_object().value("why", why).value("count", count).end();
  json.end();
  json.value("program_functions", map.program_functions);
  json.begin_array("functions");
  for (const PlacementData::Function& function : map.functions) {
    json.begin_object().value("name", function.name);
    if (!function.library.empty()) json.value("library", function.library);
    json.value("linked", hex_text(function.linked))
        .value("bytes", function.bytes)
        .value("samples", function.samples)
        .value("older", function.older)
        .end();
  }
  json.end().begin_array("in_libraries");
  for (const PlacementData::InLibrary& one : map.in_libraries)
    json.begin_object().value("name", one.name).value("samples", one.samples).end();
  json.end().begin_array("libraries_left_out");
  for (const PlacementData::LeftOutLibrary& one : map.libraries_left_out)
    json.begin_object().value("name", one.name).value("why", one.why).end();
  json.end();
  json.begin_object("screen")
      .value("tests", map.screen.tests)
      .value("differences", map.screen.differences)
      .value("noise", map.screen.noise)
      .value("lag_one", map.screen.lag_one)
      .value("finds", std::exp(map.screen.finds))
      .value("discovery_rate", kDiscoveryRate);
  json.begin_array("candidates");
  for (const Candidate& candidate : map.screen.candidates) {
    json.begin_object();
    write_place(json, candidate.place);
    json.value("chi_squared", candidate.test.chi_squared).value("df", candidate.test.df).value("p_value", candidate.test.p_value);
    json.value("q_value", candidate.q_value).value("difference", std::exp(candidate.difference));
    json.value("sd", std::sqrt(candidate.effects.variance));
    write_levels(json, candidate.place, candidate.effects, candidate.slowest, candidate.fastest);
    json.end();
  }
  json.end();
  json.begin_array("between_runs");
  for (const std::string& function : map.screen.between_runs) json.element(function);
  json.end().end();
  if (map.confirmation) {
    const Confirmation& confirmation = *map.confirmation;
    json.begin_object("confirmation")
        .value("experiment", confirmation.experiment)
        .value("units", confirmation.moments)
        .value("trials", confirmation.trials)
        .value("noise", confirmation.noise)
        .value("alpha", confirmation.alpha)
        .value("margin", confirmation.margin);
    json.begin_array("places");
    for (const Confirmed& place : confirmation.places) write_confirmed(json, place);
    json.end();
    write_share(json, "all", confirmation.all);
    json.value("all_sd", confirmation.all_sd).end();
  }
  json.begin_array("caveats");
  for (const MapCaveat& caveat : map.caveats)
    json.begin_object().value("code", caveat.code).value("message", caveat.message).value("hint", caveat.hint).end();
  json.end();
  return json.end().take();
}

}  // namespace stab::layout_report
