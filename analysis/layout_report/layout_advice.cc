// Starts mod 64 and mod 32 are taken as they are. Places that depend on the page (crossing one, how two functions lie to each
// other) become a remainder mod 4096: the first that keeps all that is wanted of the function, given what is already placed.
#include "analysis/layout_report/layout_advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "analysis/report/report_data/report_pen.h"

namespace stab::layout_report {
namespace {

constexpr uint32_t kPage = 4096;

struct Wish {
  PlaceKind kind;
  int level = 0;
  uint64_t other = 0;  // linked; of two
};

struct Placing {
  std::string name;
  uint32_t bytes = 0;
  std::vector<Wish> wishes;            // strongest first
  std::optional<uint32_t> offset;      // in the page, once it is placed
  bool needs_page() const {
    return std::any_of(wishes.begin(), wishes.end(),
                       [](const Wish& w) { return w.kind != PlaceKind::kLine && w.kind != PlaceKind::kHalf; });
  }
};

using Placings = std::map<uint64_t, Placing>;  // by linked

// Whether at `offset` all wishes of the function hold; those of two only where the other one is placed.
bool keeps_all(const Placing& placing, uint32_t offset, const Placings& all) {
  return std::all_of(placing.wishes.begin(), placing.wishes.end(), [&](const Wish& wish) {
    if (!is_of_two(wish.kind)) return place_level(wish.kind, offset, placing.bytes) == wish.level;
    const Placing& other = all.at(wish.other);
    return !other.offset || place_level(wish.kind, offset, placing.bytes, *other.offset, other.bytes) == wish.level;
  });
}

std::optional<uint32_t> find_offset(const Placing& placing, const Placings& all) {
  for (uint32_t offset = 0; offset < kPage; offset += kGrain)
    if (keeps_all(placing, offset, all)) return offset;
  return std::nullopt;
}

// Why no line of a file can name this function. stab-layout makes names up for those that have none, and prints '?' for odd
// bytes.
std::string_view why_unnamed(const LayoutMap& map, const std::string& name, uint64_t linked) {
  std::array<char, 24> made_up{};
  std::snprintf(made_up.data(), made_up.size(), "fn_%llx", static_cast<unsigned long long>(linked));
  if (name == made_up.data()) return "it has no name, as the program is stripped: link it without -s and map that";
  if (name.find('?') != std::string::npos) return "its name has bytes that a layout file can't hold";
  const auto is_other = [&](const PlacementData::Function& other) { return other.name == name && other.linked != linked; };
  if (std::any_of(map.functions.begin(), map.functions.end(), is_other))
    return "another function has its name, and a build can't tell them apart: rename one of them";
  return "";
}

std::string_view why_not(const LayoutMap& map, const Confirmed& place) {
  if (!place.place.library.empty() || !place.place.other_library.empty())
    return "it is a library's: a layout file of that library's own build places it, with the line \"program\" of its name";
  if (place.place.kind == PlaceKind::kPad) return "the pads of its frames are the runtime's, and no build has them";
  if (const std::string_view why = why_unnamed(map, place.place.function, place.place.linked); !why.empty()) return why;
  if (is_of_two(place.place.kind))
    if (const std::string_view why = why_unnamed(map, place.place.other, place.place.other_linked); !why.empty()) return why;
  if (place.place.linked % kGrain != 0 || place.place.other_linked % kGrain != 0)
    return "it is not aligned by 16, so szc has not compiled it";
  return "";
}

const PlacementData::Function* function_at(const LayoutMap& map, uint64_t linked) {
  for (const PlacementData::Function& function : map.functions)
    if (function.linked == linked && function.library.empty()) return &function;
  return nullptr;
}

Placing& placing_of(const LayoutMap& map, const std::string& name, uint64_t linked, Placings& all) {
  Placing& placing = all[linked];
  placing.name = name;
  if (const PlacementData::Function* function = function_at(map, linked)) placing.bytes = function->bytes;
  return placing;
}

AdvisedPlace place_of(const Placing& placing) {
  if (placing.needs_page()) return {placing.name, kPage, *placing.offset, placing.bytes};
  const bool by_line =
      std::any_of(placing.wishes.begin(), placing.wishes.end(), [](const Wish& w) { return w.kind == PlaceKind::kLine; });
  const uint32_t modulus = by_line ? 64 : 32;
  return {placing.name, modulus, *placing.offset % modulus, placing.bytes};
}

// Adds one confirmed place to what is wanted; takes it back where no offset keeps it beside the stronger ones.
bool add_wish(const LayoutMap& map, const Confirmed& place, int level, Placings& all) {
  Placings tried = all;
  Placing& placing = placing_of(map, place.place.function, place.place.linked, tried);
  placing.wishes.push_back({place.place.kind, level, place.place.other_linked});
  if (is_of_two(place.place.kind)) {
    Placing& other = placing_of(map, place.place.other, place.place.other_linked, tried);
    other.wishes.push_back({place.place.kind, level, place.place.linked});
  }
  for (auto& [linked, one] : tried) one.offset.reset();
  for (auto& [linked, one] : tried) {
    one.offset = find_offset(one, tried);
    if (!one.offset) return false;
  }
  all = std::move(tried);
  return true;
}

}  // namespace

LayoutAdvice advise(const LayoutMap& map, Wanted wanted) {
  LayoutAdvice out;
  Placings all;
  for (const Confirmed& place : map.confirmation->places) {  // by the variance that they make
    if (place.verdict != report::Verdict::kChanged || !place.refused.empty()) continue;
    if (const std::string_view why = why_not(map, place); !why.empty()) {
      out.left_out.push_back(place.place.text() + ": " + std::string(why));
      continue;
    }
    // What the screen found slowest may be the fast one after all.
    const bool as_named = place.difference.estimate > 1;
    const int fast = as_named ? place.fastest : place.slowest, slow = as_named ? place.slowest : place.fastest;
    const int level = wanted == Wanted::kFastest ? fast : slow;
    if (!add_wish(map, place, level, all)) {
      out.left_out.push_back(place.place.text() + ": no place in a page has it beside what matters more");
      continue;
    }
    out.measured.push_back(place.place.text() + ", " + level_text(place.place, place.slowest) + " against " +
                           level_text(place.place, place.fastest) + ": " + report::ratio_interval_text(place.difference) +
                           ", by '" + map.confirmation->experiment + "'");
  }
  for (const auto& [linked, placing] : all) out.places.push_back(place_of(placing));
  return out;
}

}  // namespace stab::layout_report
