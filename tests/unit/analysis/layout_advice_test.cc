// What a map advises of each kind of place, and what it leaves out.
#include "analysis/layout_report/layout_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab::analysis {
namespace {

using namespace layout_report;

using testing::HasSubstr;
using testing::SizeIs;

// Functions of a map, 64 KiB apart, by their bytes.
LayoutMap map_of(const std::vector<std::pair<std::string, uint32_t>>& functions) {
  LayoutMap map;
  uint64_t linked = 0x400000;
  for (const auto& [name, bytes] : functions) {
    PlacementData::Function function;
    function.name = name;
    function.linked = linked;
    function.bytes = bytes;
    map.functions.push_back(function);
    linked += 0x10000;
  }
  map.confirmation.emplace();
  map.confirmation->experiment = "m-confirm";
  return map;
}

uint64_t linked_of(const LayoutMap& map, const std::string& name) {
  for (const PlacementData::Function& function : map.functions)
    if (function.name == name) return function.linked;
  return 0;
}

Confirmed& add(LayoutMap& map, PlaceKind kind, const std::string& function, int slowest, int fastest,
                       const std::string& other = {}) {
  Confirmed place;
  place.place = {kind, function, other, linked_of(map, function), other.empty() ? 0 : linked_of(map, other), "", ""};
  place.slowest = slowest;
  place.fastest = fastest;
  place.difference = {1.05, 1.04, 1.06};
  place.verdict = report::Verdict::kChanged;
  map.confirmation->places.push_back(place);
  return map.confirmation->places.back();
}

const AdvisedPlace& of(const LayoutAdvice& advice, const std::string& function) {
  for (const AdvisedPlace& place : advice.places)
    if (place.function == function) return place;
  static const AdvisedPlace none;
  ADD_FAILURE() << "no place of " << function;
  return none;
}

// A file of the program's build would not be obeyed for it.
TEST(LayoutAdvice, AFunctionOfALibraryIsLeftOutAndTold) {
  LayoutMap map = map_of({{"libf.so.1!f", 100}, {"g", 200}});
  map.functions[0].library = "libf.so.1";
  map.functions[0].linked = map.functions[1].linked;
  add(map, PlaceKind::kLine, "libf.so.1!f", 2, 3).place.library = "libf.so.1";
  add(map, PlaceKind::kLine, "g", 2, 3);
  const LayoutAdvice advice = advise(map, Wanted::kFastest);
  ASSERT_THAT(advice.places, SizeIs(1));
  EXPECT_EQ(of(advice, "g").bytes, 200u);
  ASSERT_THAT(advice.left_out, SizeIs(1));
  EXPECT_THAT(advice.left_out[0], HasSubstr("it is a library's"));
}

TEST(LayoutAdvice, AStartIsTheFastLevelAndTheSlowOneForTheControl) {
  LayoutMap map = map_of({{"f", 100}, {"g", 200}});
  add(map, PlaceKind::kLine, "f", 2, 3);
  add(map, PlaceKind::kHalf, "g", 0, 1);
  const LayoutAdvice fast = advise(map, Wanted::kFastest),
                             slow = advise(map, Wanted::kSlowest);
  EXPECT_EQ(of(fast, "f").modulus, 64u);
  EXPECT_EQ(of(fast, "f").remainder, 48u);
  EXPECT_EQ(of(fast, "f").bytes, 100u);
  EXPECT_EQ(of(fast, "g").modulus, 32u);
  EXPECT_EQ(of(fast, "g").remainder, 16u);
  EXPECT_EQ(of(slow, "f").remainder, 32u);
  EXPECT_EQ(of(slow, "g").remainder, 0u);
  ASSERT_THAT(fast.measured, SizeIs(2));
  EXPECT_THAT(fast.measured[0], HasSubstr("f: start mod 64, 32 against 48: +5.00 % [4.00, 6.00], by 'm-confirm'"));
  EXPECT_TRUE(fast.left_out.empty());
}

TEST(LayoutAdvice, FreshTrialsMayTurnWhatTheScreenHasNamed) {
  LayoutMap map = map_of({{"f", 100}});
  add(map, PlaceKind::kLine, "f", 2, 3).difference = {0.95, 0.94, 0.96};
  EXPECT_EQ(of(advise(map, Wanted::kFastest), "f").remainder, 32u);
}

TEST(LayoutAdvice, OnlyWhatMattersIsAdvised) {
  LayoutMap map = map_of({{"f", 100}, {"g", 100}, {"h", 100}});
  add(map, PlaceKind::kLine, "f", 2, 3).verdict = report::Verdict::kUnsure;
  add(map, PlaceKind::kLine, "g", 2, 3).verdict = report::Verdict::kEquivalent;
  add(map, PlaceKind::kLine, "h", 2, 3).refused = "a level came in 3 epochs only";
  EXPECT_TRUE(advise(map, Wanted::kFastest).places.empty());
}

TEST(LayoutAdvice, AFunctionStaysWithinAPageBesideItsStart) {
  LayoutMap map = map_of({{"f", 1000}});
  add(map, PlaceKind::kLine, "f", 0, 2);
  add(map, PlaceKind::kPage, "f", 1, 0);
  const AdvisedPlace within = of(advise(map, Wanted::kFastest), "f");
  EXPECT_EQ(within.modulus, 4096u);
  EXPECT_EQ(within.remainder % 64, 32u);
  EXPECT_LE(within.remainder + within.bytes, 4096u);
  const AdvisedPlace crosses = of(advise(map, Wanted::kSlowest), "f");
  EXPECT_EQ(crosses.remainder % 64, 0u);
  EXPECT_GT(crosses.remainder + crosses.bytes, 4096u);
}

TEST(LayoutAdvice, TwoFunctionsArePutApartOrTogether) {
  LayoutMap map = map_of({{"f", 700}, {"g", 900}});
  add(map, PlaceKind::kSets, "f", 1, 0, "g");
  const LayoutAdvice apart = advise(map, Wanted::kFastest),
                             together = advise(map, Wanted::kSlowest);
  const auto level = [](const LayoutAdvice& advice) {
    return place_level(PlaceKind::kSets, of(advice, "f").remainder, 700, of(advice, "g").remainder, 900);
  };
  EXPECT_EQ(level(apart), 0);
  EXPECT_EQ(level(together), 1);
  EXPECT_EQ(of(apart, "g").modulus, 4096u);
}

TEST(LayoutAdvice, WhatMattersMoreComesFirst) {
  LayoutMap map = map_of({{"f", 4000}, {"g", 4000}});
  add(map, PlaceKind::kLine, "f", 0, 2);
  add(map, PlaceKind::kSets, "f", 1, 0, "g");  // 4000 and 4000 bytes meet in a page wherever they lie
  const LayoutAdvice advice = advise(map, Wanted::kFastest);
  ASSERT_THAT(advice.places, SizeIs(1));
  EXPECT_EQ(advice.places[0].remainder, 32u);
  ASSERT_THAT(advice.left_out, SizeIs(1));
  EXPECT_THAT(advice.left_out[0], HasSubstr("f and g: same sets: no place in a page"));
}

TEST(LayoutAdvice, LeavesOutWhatNoBuildCanHave) {
  LayoutMap map = map_of({{"f", 100}, {"g", 100}});
  add(map, PlaceKind::kPad, "f", 0, 2);
  map.functions[1].linked += 8;
  add(map, PlaceKind::kLine, "g", 0, 2);
  const LayoutAdvice advice = advise(map, Wanted::kFastest);
  EXPECT_TRUE(advice.places.empty());
  ASSERT_THAT(advice.left_out, SizeIs(2));
  EXPECT_THAT(advice.left_out[0], HasSubstr("pads of its frames"));
  EXPECT_THAT(advice.left_out[1], HasSubstr("not aligned by 16"));
}

TEST(LayoutAdvice, LeavesOutWhatNoLineCanName) {
  LayoutMap map = map_of({{"twice", 100}, {"twice", 120}, {"fn_420000", 100}, {"gr??e", 100}, {"f", 100}, {"fn_0", 100}});
  for (size_t i = 0; i < map.functions.size(); ++i) {
    add(map, PlaceKind::kLine, map.functions[i].name, 0, 2);
    map.confirmation->places.back().place.linked = map.functions[i].linked;
  }
  add(map, PlaceKind::kSets, "f", 1, 0, "gr??e");
  const LayoutAdvice advice = advise(map, Wanted::kFastest);
  ASSERT_THAT(advice.places, SizeIs(2));
  EXPECT_EQ(of(advice, "f").modulus, 64u);
  EXPECT_EQ(of(advice, "fn_0").modulus, 64u) << "a function's own name may look like one that is made up";
  EXPECT_THAT(advice.measured, SizeIs(2));
  ASSERT_THAT(advice.left_out, SizeIs(5));
  EXPECT_THAT(advice.left_out[0], HasSubstr("twice: start mod 64: another function has its name"));
  EXPECT_THAT(advice.left_out[1], HasSubstr("another function has its name"));
  EXPECT_THAT(advice.left_out[2], HasSubstr("stripped"));
  EXPECT_THAT(advice.left_out[3], HasSubstr("can't hold"));
  EXPECT_THAT(advice.left_out[4], HasSubstr("f and gr??e: same sets: its name has bytes"));
}

}  // namespace
}  // namespace stab::analysis
