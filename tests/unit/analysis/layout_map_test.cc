// The layout map: planted places are found, ranked, named by their levels and measured; what else is said of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/layout_report/layout_map.h"
#include "tests/unit/analysis/made_placements.h"

namespace stab::analysis {
namespace {

using namespace layout_report;

bool has(const LayoutMap& map, const std::string& code) {
  return std::any_of(map.caveats.begin(), map.caveats.end(),
                     [&](const MapCaveat& caveat) { return caveat.code == code; });
}

TEST(LayoutMap, FindsPlantedPlacesAndMeasuresThemAgain) {
  Result<LayoutMap> map = screen_layouts(made_placements(1), {});
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_GE(map->screen.candidates.size(), 2u);
  const Candidate& first = map->screen.candidates[0];
  EXPECT_EQ(first.place.text(), "hot_line: start mod 64");
  EXPECT_EQ(level_text(first.place, first.slowest), "32");
  EXPECT_TRUE(first.fastest == 0 || first.fastest == 3) << first.fastest;
  EXPECT_EQ(map->screen.candidates[1].place.text(), "hot_half: start mod 32");
  EXPECT_TRUE(has(*map, "unconfirmed"));
  EXPECT_TRUE(has(*map, "no-samples"));

  const Result<Confirmation> confirmation =
      confirm_places(made_placements(2, {.forced = true}), map->screen.candidates, {});
  ASSERT_TRUE(confirmation) << confirmation.error().message;
  ASSERT_GE(confirmation->places.size(), 2u);
  const Confirmed& line = confirmation->places[0];
  EXPECT_EQ(line.place.function, "hot_line");
  EXPECT_EQ(line.verdict, report::Verdict::kChanged);
  const double truth = std::exp(kLineEffects[first.slowest] - kLineEffects[first.fastest]);
  EXPECT_LE(line.difference.low, truth);
  EXPECT_GE(line.difference.high, truth);
  EXPECT_GT(line.share.estimate, confirmation->places[1].share.estimate);
  ASSERT_TRUE(line.share.interval.has_value());
  EXPECT_LT(line.share.interval->first, line.share.estimate);
  EXPECT_GE(confirmation->all.estimate, line.share.estimate);
  add_confirmation(*map, *confirmation);
  EXPECT_FALSE(has(*map, "unconfirmed"));
  const std::string text = render_map_text(*map, 160), json = render_map_json(*map);
  EXPECT_NE(text.find("hot_line"), std::string::npos);
  EXPECT_NE(text.find("matters"), std::string::npos) << text;
  EXPECT_NE(json.find("\"confirmation\""), std::string::npos);
}

TEST(LayoutMap, SaysNothingWhereNothingMatters) {
  const Result<LayoutMap> map = screen_layouts(made_placements(3, {.planted = false}), {});
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->screen.candidates.empty());
  EXPECT_NE(render_map_text(*map, 100).find("no candidate"), std::string::npos);
}

// Two functions whose spans of cache sets meet are slow together; nothing of either alone is.
TEST(LayoutMap, FindsPairs) {
  PlacementData data = made_placements(4, {.functions = 12, .planted = false});
  for (size_t i = 0; i < data.moments(); ++i) {
    const uint32_t a = data.offset[i * 12 + 3], b = data.offset[i * 12 + 7];
    const uint32_t ahead = (b - a) % 4096, behind = (a - b) % 4096;
    if (ahead < 64 || behind < 64) data.signal[i] += 0.05;
  }
  const Result<LayoutMap> map = screen_layouts(data, {});
  ASSERT_TRUE(map);
  ASSERT_FALSE(map->screen.candidates.empty());
  const Candidate& first = map->screen.candidates[0];
  EXPECT_EQ(first.place.kind, PlaceKind::kOffset);
  EXPECT_EQ(first.place.text(), "dummy_3 and dummy_7: same offset in 4 KiB");
  EXPECT_EQ(level_text(first.place, first.slowest), "together");
}

// Bytes on both sides of a page's border, and the border itself.
TEST(LayoutMap, FindsWhatCrossesPages) {
  PlacementData data = made_placements(5, {.functions = 8, .planted = false});
  const uint32_t bytes = 400;
  data.functions[2].bytes = bytes;
  for (size_t i = 0; i < data.moments(); ++i)
    if (data.offset[i * 8 + 2] + bytes > 4096) data.signal[i] += 0.05;
  const Result<LayoutMap> map = screen_layouts(data, {});
  ASSERT_TRUE(map);
  ASSERT_FALSE(map->screen.candidates.empty());
  EXPECT_EQ(map->screen.candidates[0].place.text(), "dummy_2: crosses a page");
  EXPECT_EQ(level_text(map->screen.candidates[0].place, map->screen.candidates[0].slowest), "crosses");
}

TEST(LayoutMap, FindsPads) {
  PlacementData data = made_placements(6, {.functions = 8, .planted = false});
  for (size_t i = 0; i < data.moments(); ++i)
    if (data.pad[i * 8 + 5] / 16 % 4 == 2) data.signal[i] += 0.02;
  const Result<LayoutMap> map = screen_layouts(data, {});
  ASSERT_TRUE(map);
  ASSERT_FALSE(map->screen.candidates.empty());
  EXPECT_EQ(map->screen.candidates[0].place.text(), "dummy_5: pad mod 64");
  EXPECT_EQ(level_text(map->screen.candidates[0].place, map->screen.candidates[0].slowest), "32");
}

TEST(LayoutMap, SaysWhatItCannotSee) {
  PlacementData data = made_placements(7, {.functions = 6, .trials = 4, .epochs = 60});
  data.work_per_unit = 3;
  data.program_functions = 9000;
  Result<LayoutMap> map = screen_layouts(data, {.alpha = 0.05, .margin = 0.005});
  ASSERT_TRUE(map);
  EXPECT_TRUE(has(*map, "few-epochs"));
  EXPECT_TRUE(has(*map, "coarse-counts"));
  EXPECT_TRUE(has(*map, "no-samples"));
  for (PlacementData::Function& function : data.functions) function.samples = 0.1;
  data.functions[4].older = 0.9;
  map = screen_layouts(data, {});
  ASSERT_TRUE(map);
  EXPECT_FALSE(has(*map, "no-samples"));
  EXPECT_TRUE(has(*map, "between-runs"));
  EXPECT_EQ(map->screen.between_runs, (std::vector<std::string>{"dummy_4"}));
  // Work that alternates with the epochs.
  for (size_t i = 0; i < data.moments(); i += 2) data.signal[i] += 0.3;
  map = screen_layouts(data, {});
  ASSERT_TRUE(map);
  EXPECT_TRUE(has(*map, "phases"));
}

// Addresses are of one file: a library's function and one of the program may begin at the same.
TEST(LayoutMap, AFunctionOfALibraryIsAnotherThanTheProgramsAtItsAddress) {
  const auto in_library = [](PlacementData data) {
    data.functions[0].library = "libhot.so.1";
    data.functions[0].name = "libhot.so.1!hot_line";
    data.functions[1].linked = data.functions[0].linked;
    data.functions[0].samples = 0.5;
    data.functions[1].samples = 0.25;
    return data;
  };
  Result<LayoutMap> map = screen_layouts(in_library(made_placements(1)), {});
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_GE(map->screen.candidates.size(), 2u);
  const Place& first = map->screen.candidates[0].place;
  EXPECT_EQ(first.text(), "libhot.so.1!hot_line: start mod 64");
  EXPECT_EQ(first.library, "libhot.so.1");
  EXPECT_EQ(map->screen.candidates[1].place.text(), "hot_half: start mod 32");
  EXPECT_EQ(map->screen.candidates[1].place.library, "");
  const Result<Confirmation> confirmation =
      confirm_places(in_library(made_placements(2, {.forced = true})), map->screen.candidates, {});
  ASSERT_TRUE(confirmation) << confirmation.error().message;
  EXPECT_EQ(confirmation->places[0].place.function, "libhot.so.1!hot_line");
  EXPECT_EQ(confirmation->places[0].verdict, report::Verdict::kChanged);
  const std::string json = render_map_json(*map), text = render_map_text(*map, 1000);
  EXPECT_NE(json.find("\"function\": \"libhot.so.1!hot_line\""), std::string::npos) << json.substr(0, 3000);
  EXPECT_NE(json.find("\"library\": \"libhot.so.1\""), std::string::npos);
  EXPECT_NE(text.find(" 50 %"), std::string::npos) << text;
  EXPECT_NE(text.find(" 25 %"), std::string::npos) << text;
}

TEST(LayoutMap, SaysHowMuchLiesInLibrariesAndNamesIt) {
  PlacementData data = made_placements(3, {.planted = false});
  data.in_libraries = {{"libwork.so!inflate", 0.6}, {"libc.so.6", 0.02}};
  const Result<LayoutMap> map = screen_layouts(data, {});
  ASSERT_TRUE(map);
  ASSERT_TRUE(has(*map, "in-libraries"));
  const std::string text = render_map_text(*map, 1000);
  EXPECT_NE(text.find("62 % of the time was spent in shared libraries"), std::string::npos) << text;
  EXPECT_NE(text.find("libwork.so!inflate 60 %, libc.so.6 2.0 %"), std::string::npos) << text;
  EXPECT_NE(render_map_json(*map).find("libwork.so!inflate"), std::string::npos);
  data.in_libraries = {{"libc.so.6", 0.04}};
  const Result<LayoutMap> few = screen_layouts(data, {});
  ASSERT_TRUE(few);
  EXPECT_FALSE(has(*few, "in-libraries"));
}

TEST(LayoutMap, SaysWhichLibrariesItLeavesOut) {
  PlacementData data = made_placements(3, {.planted = false});
  data.libraries_left_out = {{"libone.so.1", "it has too many functions"}};
  const Result<LayoutMap> map = screen_layouts(data, {});
  ASSERT_TRUE(map);
  ASSERT_TRUE(has(*map, "libraries-left-out"));
  const std::string text = render_map_text(*map, 1000);
  EXPECT_NE(text.find("of a shared library that moved: libone.so.1: it has too many functions"), std::string::npos) << text;
  data.libraries_left_out = {{"a", "x"}, {"b", "x"}, {"c", "x"}, {"d", "gone"}, {"e", "x"}};
  const Result<LayoutMap> more = screen_layouts(data, {});
  ASSERT_TRUE(more);
  const std::string all = render_map_text(*more, 1000);
  EXPECT_NE(all.find("of 5 shared libraries that moved: a: x; b: x; c: x; and 2 more"), std::string::npos) << all;
  EXPECT_NE(render_map_json(*more).find("gone"), std::string::npos);
  const Result<LayoutMap> none = screen_layouts(made_placements(3, {.planted = false}), {});
  ASSERT_TRUE(none);
  EXPECT_FALSE(has(*none, "libraries-left-out"));
}

TEST(LayoutMap, RefusesWhatIsTooLittle) {
  EXPECT_FALSE(screen_layouts(made_placements(8, {.trials = 1, .epochs = 100}), {}));
  EXPECT_FALSE(screen_layouts(made_placements(8, {.trials = 100, .epochs = 2}), {}));
  PlacementData same = made_placements(9);
  std::fill(same.signal.begin(), same.signal.end(), 1.0);
  EXPECT_FALSE(screen_layouts(same, {}));
}

// A function that the fresh binary does not have, or a level that hardly comes, is refused by name; the others are measured.
TEST(LayoutMap, ConfirmsWhatItCan) {
  const Result<LayoutMap> map = screen_layouts(made_placements(10), {});
  ASSERT_TRUE(map);
  std::vector<Candidate> candidates = {map->screen.candidates[0], map->screen.candidates[0], map->screen.candidates[0]};
  candidates[1].place.function = "gone";
  candidates[1].place.linked = 1;
  candidates[2].place.kind = PlaceKind::kHalf;  // implied by the first
  candidates[2].slowest = 0;
  candidates[2].fastest = 1;
  const Result<Confirmation> confirmation = confirm_places(made_placements(11, {.forced = true}), candidates, {});
  ASSERT_TRUE(confirmation);
  EXPECT_EQ(confirmation->places[0].verdict, report::Verdict::kChanged);
  int refused = 0;
  for (const Confirmed& place : confirmation->places) refused += !place.refused.empty();
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace stab::analysis
