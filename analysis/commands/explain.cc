// The first line is the answer, as a sentence. What follows are its three effects, the functions, what to do, and how often
// such an answer is wrong.
#include "analysis/commands/explain.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "analysis/report/caveats.h"
#include "analysis/report/report.h"
#include "analysis/report/report_pen.h"
#include "analysis/text/json_writer.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

// How often a mangled name says again what it has said before: "S_", "S1A_", "T0_" (Itanium C++ ABI, "Compression").
size_t repetitions_in(std::string_view name) {
  size_t count = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != 'S' && name[i] != 'T') continue;
    const size_t end = name.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1);
    if (end != std::string_view::npos && name[end] == '_') ++count;
  }
  return count;
}

// A C++ name as its source has it, "libwork.so!void inflate<7>(char*)", and so long that a line takes it. Others stay, and so
// does one that repeats itself: each repetition may hold others, so a name of 300 bytes may mean one of gigabytes.
std::string source_name(const std::string& name) {
  constexpr size_t kLongest = 64, kMostRead = 1024, kMostRepetitions = 24;
  const size_t begin = name.find("_Z");
  if (begin == std::string::npos || name.size() > kMostRead || (begin > 0 && name[begin - 1] != '!')) return name;
  if (repetitions_in(name) > kMostRepetitions) return name;
  const size_t end = std::min(name.find(' ', begin), name.size());  // behind it may be an address
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(name.substr(begin, end - begin).c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !plain) return name;
  std::string source = plain.get();
  if (text::display_width(source) > kLongest) source = std::string(text::cut(source, kLongest - 3)) + "...";
  return name.substr(0, begin) + source + name.substr(end);
}

using Align = text::TextTable::Align;

std::string percent_of(double log_ratio) { return text::ratio_text(std::exp(log_ratio)); }

std::string bound(double log_ratio) { return text::signed_per_cent(std::exp(log_ratio)); }

template <typename Effect>
std::string interval_of(const Effect& effect) {
  return "[" + bound(effect.low) + ", " + bound(effect.high) + "] %";
}

std::string share_text(double share, int digits = 3) { return text::significant(100 * share, digits) + " %"; }

// "2.69 % slower"
std::string change(double log_ratio) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.2f %% %s", std::abs(100 * std::expm1(log_ratio)),
                log_ratio < 0 ? "faster" : "slower");
  return text.data();
}

// Shares of the time from which on libraries are worth a word.
constexpr double kLibrariesMatter = 0.05;

// Code that takes another time wherever the program's functions lie may be the place of a library's function that stays.
bool may_be_library_place(const Explanation& all) {
  return statistics::names_code(all.answer->verdict) && all.libraries && all.libraries->apart >= kLibrariesMatter;
}

// Code that takes another time while no instruction differs, nor what is known of its data's contents: data are longer, or lie
// elsewhere.
bool may_be_data(const Explanation& all) {
  constexpr double kNextToNothing = 0.005;  // of the samples, in code that was not compared
  return statistics::names_code(all.answer->verdict) && all.bodies && all.bodies->are_same() &&
         all.libraries && all.libraries->not_known.empty() &&
         all.bodies->unmatched + all.libraries->rebuilt < kNextToNothing;
}

bool waits(const Explanation& all) { return all.alone && (all.alone->old_waits || all.alone->new_waits); }

// What takes another time while it waits has the same CPU time, so nobody may call its code the same.
bool may_wait_longer(const Explanation& all) {
  const statistics::CauseVerdict verdict = all.answer->verdict;
  return waits(all) && (verdict == statistics::CauseVerdict::kNothing || verdict == statistics::CauseVerdict::kPlace);
}

statistics::CauseVerdict verdict_of(const Explanation& all) {
  return may_be_library_place(all) || may_be_data(all) || may_wait_longer(all) ? statistics::CauseVerdict::kUnresolved
                                                                               : all.answer->verdict;
}

// "new was on a CPU for 27 % of its time and waited for the rest, which CPU time does not see"
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

// " of 'wide'", or ", of which 'wide' makes +0.20 %"
std::string of_functions(const Explanation& all) {
  const statistics::PlaceAnswer* const places = places_of(all);
  if (!places) return "";
  const std::vector<size_t> found = found_functions(*places);
  if (found.empty() || found.size() > 2) return "";
  std::string names = "'" + source_name(all.search->functions[found[0]].name) + "'";
  if (found.size() == 2) names += " and '" + source_name(all.search->functions[found[1]].name) + "'";
  if (statistics::makes_half(*places, all.answer->place.estimate)) return " of " + names;
  return ", of which " + names + (found.size() == 2 ? " make " : " makes ") + percent_of(places->of_found);
}

// The same where nothing but a name can stand.
std::string of_half(const Explanation& all) {
  const statistics::PlaceAnswer* const places = places_of(all);
  return places && statistics::makes_half(*places, all.answer->place.estimate) ? of_functions(all) : "";
}

bool copies_count(const Explanation& all) { return all.copies && all.copies->counts; }

bool is_known(const statistics::CauseEffect& effect) {
  return effect.state == statistics::EffectState::kThere || effect.state == statistics::EffectState::kSmall;
}

std::string sentence_of(const Explanation& all) {
  const statistics::CauseAnswer& answer = *all.answer;
  const std::string clock = waits(all) ? "in CPU time " : "";
  const std::string whole = clock + all.new_name + " is " + change(answer.plain.estimate) + " than " + all.old_name;
  const std::string half = share_text(all.settings.margin / 2), margin = share_text(all.settings.margin);
  const std::string but_it_waits = may_wait_longer(all) ? "; but " + waits_text(all) : "";
  if (may_be_library_place(all) || may_be_data(all))
    return "unresolved: " + clock + all.new_name + " is " + change(answer.code.estimate) + " than " + all.old_name +
           (may_be_library_place(all)
                ? " wherever its own functions lie, but functions of libraries that szc did not build lie elsewhere in the two: "
                  "it is code, or the place of those"
                : " wherever its functions lie, but their instructions are the same: it is what its data are, or where they "
                  "lie") +
           (answer.verdict == statistics::CauseVerdict::kBoth
                ? "; the place" + of_half(all) + " is known to make " + percent_of(answer.place.estimate)
                : "");
  switch (answer.verdict) {
    case statistics::CauseVerdict::kCode: {
      const std::string rest = answer.place.state == statistics::EffectState::kAbsent
                                   ? ", and its place adds less than " + margin
                                   : "; its place adds " + percent_of(answer.place.estimate) + ", less than " + margin;
      return "code: " + clock + all.new_name + " is " + change(answer.code.estimate) + " than " + all.old_name +
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
    return "; " + std::string(what) + " makes " + percent_of(effect.low) + " to " + percent_of(effect.high) + ", and " +
           (copies_count(all) ? "what random places cost by themselves is a part of that"
                              : blocks + " to say whether that matters");
  };
  if (all.is_between_looks)
    return "unresolved: it was interrupted after " + report::plural(answer.blocks, "block") +
           ", before a look that may give an answer";
  if (is_known(answer.place))
    return "unresolved: the place" + of_half(all) + " is known to make " + percent_of(answer.place.estimate) +
           open("the code", answer.code);
  if (is_known(answer.code))
    return "unresolved: the code is known to differ by " + percent_of(answer.code.estimate) + open("its place", answer.place);
  if (copies_count(all))
    return "unresolved: " + whole + " as they are linked; of the difference over random places nobody can say how much is code, "
           "and how much is what random places cost by themselves";
  return "unresolved: " + blocks + " to decide";
}

std::string state_text(const statistics::CauseEffect& effect, double within) {
  switch (effect.state) {
    case statistics::EffectState::kThere: return "there";
    case statistics::EffectState::kSmall: return "there, and less than the margin";
    case statistics::EffectState::kAbsent: return "less than " + share_text(within);
    case statistics::EffectState::kOpen: break;
  }
  return "open";
}

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

// How much of a place a table tells.
enum class PlaceDetail { kAll, kPage, kAddress, kNameAlone };

std::string address_text(uint64_t address, PlaceDetail detail) {
  std::array<char, 96> text{};
  const auto number = static_cast<unsigned long long>(address);
  switch (detail) {
    case PlaceDetail::kAll:
      std::snprintf(text.data(), text.size(), "0x%llx (%llu, %llu, %llu)", number, number % 32, number % 64, number % 4096);
      break;
    case PlaceDetail::kPage: std::snprintf(text.data(), text.size(), "0x%llx (%llu)", number, number % 4096); break;
    case PlaceDetail::kAddress:
    case PlaceDetail::kNameAlone: std::snprintf(text.data(), text.size(), "0x%llx", number); break;
  }
  return text.data();
}

const char* place_title(PlaceDetail detail) {
  switch (detail) {
    case PlaceDetail::kAll: return "old place (mod 32, 64, 4096)";
    case PlaceDetail::kPage: return "old place (mod 4096)";
    case PlaceDetail::kAddress:
    case PlaceDetail::kNameAlone: break;
  }
  return "old place";
}

// A table whose first column is names: places say less before a name is cut to fewer than 24 columns. `made`: it, by how much
// they say.
template <typename Make>
std::string with_names(const Make& made, size_t longest, int width) {
  constexpr size_t kLeastName = 24;
  for (const PlaceDetail detail : {PlaceDetail::kAll, PlaceDetail::kPage, PlaceDetail::kAddress}) {
    const std::string uncut = made(detail).text(1 << 20);
    size_t widest = 0;
    for (size_t at = 0; at < uncut.size();) {
      const size_t end = uncut.find('\n', at);
      widest = std::max(widest, text::display_width(std::string_view(uncut).substr(at, end - at)));
      at = end + 1;
    }
    const size_t saved = longest - std::min(longest, kLeastName);
    if (widest - saved <= static_cast<size_t>(width)) return made(detail).text(width);
  }
  return made(PlaceDetail::kNameAlone).text(width);
}

std::string search_sentence(const FunctionSearch& search) {
  const statistics::PlaceAnswer& places = *search.answer;
  const size_t count = places.functions.size();
  const std::string those =
      count == 1 ? "the only one that was looked at, " : "all " + report::plural(count, "function") + " together ";
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
         report::plural(places.runs, "run") + ": " + less + all;
}

std::string search_text(const Explanation& all, int width) {
  const FunctionSearch& search = *all.search;
  if (!search.answer) return text::wrap("of which function is not known: " + search.not_done, width, "\n", "  ");
  const statistics::PlaceAnswer& places = *search.answer;
  std::string out = text::wrap(search_sentence(search), width, "\n", "  ");
  const std::vector<size_t> found = found_functions(places);
  if (!found.empty()) {
    size_t longest = 0;
    for (const size_t f : found) longest = std::max(longest, text::display_width(source_name(search.functions[f].name)));
    const auto made = [&](PlaceDetail detail) {
      text::TextTable table({{"function", Align::kLeft, false},
                             {"its place", Align::kRight, true},
                             {"interval", Align::kLeft, true},
                             {place_title(detail), Align::kLeft, true},
                             {"new place", Align::kLeft, true}});
      for (const size_t f : found) {
        const PlacedFunctionFacts& facts = search.functions[f];
        table.add({source_name(facts.name), percent_of(places.functions[f].estimate), interval_of(places.functions[f]),
                   address_text(facts.old_address, detail), address_text(facts.new_address, detail)});
      }
      return table;
    };
    out += with_names(made, longest, width);
  }
  for (const statistics::PairEffect& pair : places.pairs)
    out += text::wrap("'" + source_name(search.functions[pair.first].name) + "' and '" +
                    source_name(search.functions[pair.second].name) +
                    "' together add " + percent_of(pair.estimate) + " to what each adds: their distance matters",
                width, "  ", "  ");
  if (places.pairs.empty() && found.size() == 1 && search.functions[found[0]].is_named) {
    const PlacedFunctionFacts& facts = search.functions[found[0]];
    const bool keep_old = places.functions[found[0]].estimate > 0;
    const uint64_t place = (keep_old ? facts.old_address : facts.new_address) % 4096 / 16 * 16;
    const bool is_own = facts.library.empty();
    const std::string build = is_own ? "build" : "build of " + facts.library;
    const std::string function = is_own ? facts.name : facts.name.substr(facts.library.size() + 1);
    out += text::wrap("cure: a layout file (docs/explanation/layout-maps.md) keeps it where it is fast, in every later " + build +
                          ": place " + function + " mod 4096 at " + std::to_string(place),
                      width, "  ", "  ");
  }
  if (!search.sampled)
    out += text::wrap("the program could not be sampled, so the largest functions were looked at, not the busiest", width, "  ",
                      "  ");
  if (search.left_out > 0)
    out += text::wrap(report::plural(search.left_out, "function") +
                          " more lie elsewhere in the two builds and were not looked at",
                      width, "  ", "  ");
  if (search.unmatched >= 0.05)
    out += text::wrap(share_text(search.unmatched) +
                          " of the time is in functions that can't be put where the other build has them: they never move, or "
                          "one build alone has them",
                      width, "  ", "  ");
  return out;
}

bool libraries_matter(const Explanation& all) {
  return all.libraries && all.libraries->not_known.empty() && all.libraries->share >= kLibrariesMatter;
}

// What of the answer the libraries' functions are a part of; each part begins with a semicolon.
std::string role_of_libraries(const Explanation& all) {
  const LibraryFacts& libraries = *all.libraries;
  std::string out;
  if (libraries.share - libraries.unmoved >= kLibrariesMatter) {
    out = "; functions of those that szc built were drawn with the program's, so ";
    out += all.search ? "their places are part of the place" : "their code is part of the code, and their places are not";
  }
  if (libraries.unmoved >= kLibrariesMatter)
    out += "; " + share_text(libraries.unmoved) + " of the time is in libraries whose code stays where the loader puts it";
  if (libraries.apart >= kLibrariesMatter)
    out += "; " + share_text(libraries.apart) +
           " of the time is in functions of those that begin at another place of their page in each program, and what that makes "
           "counts as code: build them with szc -shared to tell";
  return out;
}

// What is to be said of where a library's function lies.
std::string state_of(const LibraryFacts::Function& one, const Explanation& all) {
  if (!one.moved) return one.lies_alike ? "stays, alike in both" : "stays";
  const bool is_known = one.old_address != 0 && one.new_address != 0;
  if (!all.search || (is_known && one.old_address % 4096 / 16 == one.new_address % 4096 / 16)) return "";
  const std::vector<PlacedFunctionFacts>& placed = all.search->functions;
  const bool is_looked_at = places_of(all) != nullptr && std::any_of(placed.begin(), placed.end(), [&](const auto& facts) {
    return facts.name == one.name;
  });
  return is_looked_at ? "" : "not looked at";
}

std::string libraries_text(const Explanation& all, int width) {
  if (all.libraries && !all.libraries->not_known.empty() && !all.search)
    return text::wrap("how much of the time is in shared libraries is not known: " + all.libraries->not_known, width, "\n", "  ");
  if (!libraries_matter(all)) return "";
  const LibraryFacts& libraries = *all.libraries;
  const std::string head = share_text(libraries.share) + " of the time is in shared libraries" + role_of_libraries(all);
  std::string out = text::wrap(head, width, "\n", "  ");
  constexpr size_t kMostShown = 8;
  const std::vector<LibraryFacts::Function> shown(
      libraries.functions.begin(),
      libraries.functions.begin() + static_cast<ptrdiff_t>(std::min(libraries.functions.size(), kMostShown)));
  size_t longest = 0;
  for (const LibraryFacts::Function& one : shown) longest = std::max(longest, text::display_width(source_name(one.name)));
  const auto made = [&](PlaceDetail detail) {
    std::vector<text::TextTable::ColumnStyle> columns = {
        {"function", Align::kLeft, false}, {"of old", Align::kRight, true}, {"of new", Align::kRight, true}};
    const bool has_places = detail != PlaceDetail::kNameAlone;
    if (has_places) columns.insert(columns.end(), {{place_title(detail), Align::kLeft, true}, {"new place", Align::kLeft, true}});
    columns.push_back({"", Align::kLeft, true});
    text::TextTable table(columns);
    const auto place = [&](uint64_t address) { return address == 0 ? std::string("-") : address_text(address, detail); };
    for (const LibraryFacts::Function& one : shown) {
      std::vector<std::string> cells = {source_name(one.name), share_text(one.old_share), share_text(one.new_share)};
      if (has_places) cells.insert(cells.end(), {place(one.old_address), place(one.new_address)});
      cells.push_back(state_of(one, all));
      table.add(std::move(cells));
    }
    return table;
  };
  if (!shown.empty()) out += with_names(made, longest, width);
  if (libraries.functions.size() > kMostShown)
    out += text::wrap(std::to_string(libraries.functions.size() - kMostShown) + " more are in --json", width, "  ", "  ");
  return out;
}

// "'times' has other contents", "'front' is 21 bytes long instead of 1", or "'table' begins at 32 instead of 16"
std::string object_text(const BodyFacts::Object& one) {
  const std::string name = "'" + source_name(one.name) + "' ";
  if (one.is_other) return name + "has other contents";
  if (one.old_bytes != one.new_bytes)
    return name + "is " + report::plural(one.new_bytes, "byte") + " long instead of " + std::to_string(one.old_bytes);
  const auto place = [](uint64_t address) { return std::to_string(address % 4096); };
  return name + "begins at " + place(one.new_address) + " instead of " + place(one.old_address);
}

// The first ones of a list, and how many there are more.
std::string few_of(const std::vector<std::string>& all) {
  constexpr size_t kMostShown = 4;
  std::string out;
  for (size_t i = 0; i < all.size() && i < kMostShown; ++i) out += (i == 0 ? "" : ", ") + all[i];
  return out + (all.size() > kMostShown ? " and " + std::to_string(all.size() - kMostShown) + " more" : "");
}

std::string few_names(const std::vector<std::string>& all) {
  std::vector<std::string> names;
  for (const std::string& name : all) names.push_back("'" + source_name(name) + "'");
  return few_of(names);
}

// What the bytes of both say of an answer that names code or place.
std::string bodies_text(const Explanation& all, int width) {
  if (!all.bodies || all.bodies->functions == 0) return "";
  const BodyFacts& bodies = *all.bodies;
  const std::string of = report::plural(bodies.functions, "function") + " that can be moved";
  std::string out = bodies.changed.empty()
                        ? "instructions differ in none of " + of
                        : "instructions differ in " + std::to_string(bodies.changed.size()) + " of " + of + ": " +
                              few_names(bodies.changed);
  if (!bodies.old_alone.empty()) out += "; " + all.old_name + " alone has " + few_names(bodies.old_alone);
  if (!bodies.new_alone.empty()) out += "; " + all.new_name + " alone has " + few_names(bodies.new_alone);
  std::vector<std::string> objects;
  for (const BodyFacts::Object& one : bodies.data)
    if (one.is_other || may_be_data(all)) objects.push_back(object_text(one));
  if (!objects.empty()) out += may_be_data(all) ? "; of data, modulo 4096, " + few_of(objects) : "; of data, " + few_of(objects);
  return text::wrap(out, width, "\n", "  ");
}

std::string copies_text(const Explanation& all, int width) {
  std::string out;
  if (all.copies && all.copies->old_led + all.copies->new_led > 0)
    out += text::wrap(led_sentence(*all.copies), width, "\n", "  ");
  if (copies_count(all)) out += text::wrap(copies_sentence(*all.copies, WithoutCopies::kPlainPrograms), width, "\n", "  ");
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
  // It ended with the last look, or would before it knows.
  if (all.unfinished.empty() || *answer.settles_at > all.settings.looks.back())
    return wanted + "; explain ends after " + std::to_string(all.settings.looks.back()) +
           ", so a longer run of the program may spread less, --margin asks for less";
  return wanted + "; --at-most gives it more time, --margin asks for less";
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

void effect_json(text::JsonWriter& json, const char* name, const statistics::CauseEffect& effect) {
  json.begin_object(name)
      .value("difference", std::expm1(effect.estimate))
      .value("low", std::expm1(effect.low))
      .value("high", std::expm1(effect.high))
      .value("sd_of_blocks", effect.spread)
      .value("state", statistics::word_of(effect.state))
      .end();
}

void libraries_json(text::JsonWriter& json, const LibraryFacts& libraries) {
  json.begin_object("libraries").value("not_known", libraries.not_known);
  json.value("share", libraries.share).value("unmoved_share", libraries.unmoved).value("apart_share", libraries.apart);
  json.begin_array("functions");
  for (const LibraryFacts::Function& one : libraries.functions)
    json.begin_object()
        .value("name", one.name)
        .value("moved", one.moved)
        .value("lies_alike", one.lies_alike)
        .value("old_share", one.old_share)
        .value("new_share", one.new_share)
        .value("old_address", one.old_address)
        .value("new_address", one.new_address)
        .end();
  json.end().end();
}

void bodies_json(text::JsonWriter& json, const BodyFacts& bodies) {
  json.begin_object("instructions").value("functions", bodies.functions).value("not_compared_share", bodies.unmatched);
  for (const auto& [key, names] : {std::pair{"changed", &bodies.changed}, std::pair{"old_alone", &bodies.old_alone},
                                   std::pair{"new_alone", &bodies.new_alone}}) {
    json.begin_array(key);
    for (const std::string& name : *names) json.element(name);
    json.end();
  }
  json.begin_array("data");
  for (const BodyFacts::Object& one : bodies.data)
    json.begin_object()
        .value("name", one.name)
        .value("old_address", one.old_address)
        .value("new_address", one.new_address)
        .value("old_bytes", one.old_bytes)
        .value("new_bytes", one.new_bytes)
        .value("other_contents", one.is_other)
        .end();
  json.end().end();
}

void search_json(text::JsonWriter& json, const FunctionSearch& search) {
  json.begin_object("functions").value("not_done", search.not_done).value("sampled", search.sampled);
  json.value("unmatched_share", search.unmatched).value("left_out", search.left_out);
  if (search.answer) {
    const statistics::PlaceAnswer& places = *search.answer;
    json.value("cause", statistics::word_of(places.cause)).value("runs", places.runs).value("blocks", places.blocks);
    json.value("of_found", std::expm1(places.of_found));
    json.begin_object("together").value("difference", std::expm1(places.together.estimate));
    json.value("low", std::expm1(places.together.low)).value("high", std::expm1(places.together.high)).end();
    json.begin_array("each");
    for (size_t f = 0; f < places.functions.size(); ++f) {
      const statistics::PlaceEffect& effect = places.functions[f];
      const PlacedFunctionFacts& facts = search.functions[f];
      json.begin_object().value("name", facts.name).value("found", effect.is_found);
      json.value("difference", std::expm1(effect.estimate)).value("low", std::expm1(effect.low));
      json.value("high", std::expm1(effect.high)).value("p_holm", effect.p_holm);
      json.value("old_address", facts.old_address).value("new_address", facts.new_address);
      json.value("bytes", facts.bytes).value("share_of_samples", facts.share).end();
    }
    json.end().begin_array("pairs");
    for (const statistics::PairEffect& pair : places.pairs)
      json.begin_object().value("first", search.functions[pair.first].name).value("second", search.functions[pair.second].name)
          .value("difference", std::expm1(pair.estimate)).value("p_holm", pair.p_holm).end();
    json.end();
  }
  json.end();
}

}  // namespace

void write_explanation(text::JsonWriter& json, const Explanation& all) {
  json.value("format", 1).value("old", all.old_name).value("new", all.new_name).value("command", all.command);
  json.value("answer", all.answer ? statistics::word_of(verdict_of(all)) : "none");
  json.value("sentence", all.answer ? explain_sentence(all) : all.not_answered).value("unfinished", all.unfinished);
  json.value("margin", all.settings.margin).value("alpha", all.settings.alpha).value("clock", "cpu_time");
  if (all.alone) {
    const AloneFacts& alone = *all.alone;
    json.begin_object("on_cpu").value("old", alone.old_on_cpu).value("new", alone.new_on_cpu);
    json.value("old_waits", alone.old_waits).value("new_waits", alone.new_waits).end();
    json.value("outputs_differ", alone.print_something_else());
  }
  if (all.answer) {
    json.value("blocks", all.answer->blocks).value("seconds", all.seconds).value("confidence", all.answer->confidence);
    json.value("settles_at_blocks", all.answer->settles_at);
    effect_json(json, "as_linked", all.answer->plain);
    effect_json(json, "code", all.answer->code);
    effect_json(json, "place", all.answer->place);
  }
  if (all.copies) {
    json.begin_object("copies");
    write_copies(json, *all.copies);
    json.end();
  }
  json.value("uncounted", all.uncounted);
  if (all.libraries) libraries_json(json, *all.libraries);
  if (all.bodies) bodies_json(json, *all.bodies);
  if (all.search) search_json(json, *all.search);
  json.begin_array("experiments");
  for (const int64_t id : all.experiments) json.element(id);
  json.end().begin_array("care");
  for (const std::string& one : all.care) json.element(one);
  json.end();
}

bool BodyFacts::are_same() const {
  return functions > 0 && changed.empty() && old_alone.empty() && new_alone.empty() &&
         std::none_of(data.begin(), data.end(), [](const Object& one) { return one.is_other; });
}

bool AloneFacts::print_something_else() const {
  const auto is_one = [](const std::vector<std::string>& outputs) {
    return outputs.size() > 1 && std::count(outputs.begin(), outputs.end(), outputs[0]) == std::ssize(outputs);
  };
  return is_one(old_outputs) && is_one(new_outputs) && old_outputs[0] != new_outputs[0];
}

Result<std::vector<std::string>> care_of(const report::Samples& samples) {
  STAB_TRY(const report::Report report, report::analyse(samples));
  std::vector<std::string> out;
  for (const report::Caveat& caveat : report::caveats_that_turn(report.caveats)) out.push_back(report::care_text(caveat));
  return out;
}

std::string explain_sentence(const Explanation& explanation) { return sentence_of(explanation); }

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
  out.text = text::wrap(sentence_of(all), width, "", "  ") + "\n" + effects_text(all, width);
  const bool blocks_settle_it = !may_be_library_place(all) && !may_be_data(all) && !may_wait_longer(all) && !copies_count(all);
  if (open && blocks_settle_it) out.text += text::wrap(settle_text(all), width, "\n", "  ");
  else if (!all.unfinished.empty()) out.text += text::wrap("ended early: " + all.unfinished, width, "\n", "  ");
  out.text += outputs_text(all, width) + other_clock_text(all, width);
  out.text += copies_text(all, width) + care_text(all, width);
  if (all.search) out.text += search_text(all, width);
  out.text += libraries_text(all, width) + bodies_text(all, width);
  out.text += text::wrap(report::plural(answer.blocks, "block") + " of four runs, " + report::machine_time_text(all.seconds) +
                             ", compared by CPU time; intervals of code and place hold with " + share_text(answer.confidence) +
                             " each; of such answers at most " + share_text(all.settings.alpha) +
                             " are wrong. data, heap, stack, "
                             "and libraries that szc did not build lie as they do in a plain run, and are no part of the place",
                         width, "\n", "  ");
  return out;
}

}  // namespace stab::commands
