#include "analysis/commands/explain/explain_elsewhere.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/commands/answers/place_table.h"
#include "analysis/commands/explain/explain_places.h"
#include "analysis/commands/explain/explain_verdict.h"
#include "analysis/commands/explain/explain_words.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/source_name.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

using Align = text::TextTable::Align;

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

// "'times' has other contents", "'front' is 21 bytes long instead of 1", or "'table' begins at 32 instead of 16"
std::string object_text(const BodyFacts::Object& one) {
  const std::string name = "'" + text::source_name(one.name) + "' ";
  if (one.is_other) return name + "has other contents";
  if (one.old_bytes != one.new_bytes)
    return name + "is " + plural(one.new_bytes, "byte") + " long instead of " + std::to_string(one.old_bytes);
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
  for (const std::string& name : all) names.push_back("'" + text::source_name(name) + "'");
  return few_of(names);
}

std::string renamed_text(const Explanation& all) {
  const auto& renamed = all.bodies->renamed;
  if (renamed.empty()) return "";
  const size_t more = renamed.size() - 1;
  return "; '" + text::source_name(renamed[0].first) + "' is '" + text::source_name(renamed[0].second) + "' in " + all.new_name +
         ", with the same instructions" + (more == 0 ? "" : ", and " + plural(more, "more function") + " likewise");
}

}  // namespace

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
  for (const LibraryFacts::Function& one : shown) longest = std::max(longest, text::display_width(text::source_name(one.name)));
  const auto made = [&](PlaceDetail detail) {
    std::vector<text::TextTable::ColumnStyle> columns = {
        {"function", Align::kLeft, false}, {"of old", Align::kRight, true}, {"of new", Align::kRight, true}};
    const bool has_places = detail != PlaceDetail::kNameAlone;
    if (has_places) columns.insert(columns.end(), {{place_title(detail), Align::kLeft, true}, {"new place", Align::kLeft, true}});
    columns.push_back({"", Align::kLeft, true});
    text::TextTable table(columns);
    const auto place = [&](uint64_t address) { return address == 0 ? std::string("-") : address_text(address, detail); };
    for (const LibraryFacts::Function& one : shown) {
      std::vector<std::string> cells = {text::source_name(one.name), share_text(one.old_share), share_text(one.new_share)};
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

std::string bodies_text(const Explanation& all, int width) {
  if (!all.bodies || all.bodies->functions == 0) return "";
  const BodyFacts& bodies = *all.bodies;
  const std::string of = plural(bodies.functions, "function") + " that can be moved";
  std::string out = bodies.changed.empty()
                        ? "instructions differ in none of " + of
                        : "instructions differ in " + std::to_string(bodies.changed.size()) + " of " + of + ": " +
                              few_names(bodies.changed);
  if (bodies.constants.size() == 1)
    out += "; a string or another constant that " + few_names(bodies.constants) + " uses differs";
  if (bodies.constants.size() > 1)
    out += "; strings or other constants differ that " + plural(bodies.constants.size(), "function") + " use: " +
           few_names(bodies.constants);
  if (!bodies.knows_constants && bodies.are_same())
    out += "; strings and other constants are not compared, as not both were built by a szc of today";
  if (!bodies.old_alone.empty()) out += "; " + all.old_name + " alone has " + few_names(bodies.old_alone);
  if (!bodies.new_alone.empty()) out += "; " + all.new_name + " alone has " + few_names(bodies.new_alone);
  out += renamed_text(all);
  std::vector<std::string> objects;
  for (const BodyFacts::Object& one : bodies.data)
    if (one.is_other || may_be_data(all) || may_be_partly_data(all)) objects.push_back(object_text(one));
  if (may_be_partly_data(all))
    return text::wrap(out + "; these took " + share_text(*bodies.changed_share) +
                          " of the time, so the difference is what they make others do, or in part where data lie: of data, "
                          "modulo 4096, " + few_of(objects),
                      width, "\n", "  ");
  if (!objects.empty()) out += may_be_data(all) ? "; of data, modulo 4096, " + few_of(objects) : "; of data, " + few_of(objects);
  return text::wrap(out, width, "\n", "  ");
}

}  // namespace stab::commands
