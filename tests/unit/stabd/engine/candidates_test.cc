// From samples to lines and from lines to ranges, on made answers of stab-lines.
#include "stabd/engine/results/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace stab::engine {
namespace {

CausalRecord record(std::vector<SampledPlace> places) {
  CausalRecord out;
  out.modules = {{"/b/app", "aa", true}, {"/lib/libz.so.1", "bb", true}, {"/lib/libc.so.6", "cc", true}};
  out.histogram = std::move(places);
  return out;
}

TEST(PilotSamplesTest, KeepTheModulesOfThePlanAndSayWhereTheOthersAre) {
  PilotSamples samples;
  const std::vector<std::string> wanted = {"MAIN", "libz.so.1"};
  samples.add(record({{0, 16, 5}, {1, 32, 3}, {2, 48, 90}, {causal::kMaxModules, 1, 2}}), "/b/app", wanted);
  samples.add(record({{0, 16, 5}, {0, 20, 1}}), "/b/app", wanted);
  EXPECT_EQ(samples.all(), 106u);
  EXPECT_EQ(samples.in_modules(), 14u);
  ASSERT_EQ(samples.places().size(), 3u);
  EXPECT_EQ(samples.counts(), (std::vector<uint64_t>{10, 3, 1}));
  EXPECT_EQ(samples.modules()[1].path, "/lib/libz.so.1");
  EXPECT_NE(samples.elsewhere().find("libc.so.6 84 %"), std::string::npos) << samples.elsewhere();
  EXPECT_FALSE(is_wanted_module({"MAIN"}, "/lib/libz.so.1", "/b/app"));
}

lines::Answer answer() {
  lines::Answer out;
  out.regions = {{"/s/a.c", 1, "f"}, {"/s/a.c", 2, "f"}, {"/s/b.c", 1, "g"}};
  out.found = {0, 1, 2, lines::kNoRegion, 1};
  return out;
}

TEST(Candidates, ComeByTheirSamplesAndOthersBehindThem) {
  const auto regions = regions_by_samples(answer(), {5, 6, 11, 100, 5}, 2, 10);
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(words_of(regions[0]), "/s/a.c:2");  // 11, and before b.c by its name
  EXPECT_EQ(words_of(regions[1]), "/s/b.c:1");
  EXPECT_EQ(regions[0].pilot_samples, 11);
  EXPECT_TRUE(regions[1].candidate);
  EXPECT_FALSE(regions[2].candidate);
  EXPECT_EQ(regions[2].number, 3u);
  EXPECT_EQ(regions_by_samples(answer(), {5, 6, 11, 100, 5}, 1, 0).size(), 1u);
  EXPECT_TRUE(regions_by_samples(answer(), {0, 0, 0, 9, 0}, 2, 10).empty());
}

TEST(Candidates, AreThoseThatThePlanNames) {
  plan::Causal causal;
  causal.lines = {"src/a:b.c:12", "b.c:3"};
  const auto regions = regions_of_plan(causal);
  EXPECT_EQ(regions[0].file, "src/a:b.c");
  EXPECT_EQ(regions[0].line, 12u);
  EXPECT_EQ(as_wanted(regions[1], causal.unit).line, 3u);
  causal.unit = plan::Causal::Unit::kFunction;
  causal.lines = {"std::sort<int*>"};
  EXPECT_EQ(as_wanted(regions_of_plan(causal)[0], causal.unit).function, "std::sort<int*>");
}

// Brute force: each address belongs to the region that the answer gives it, else to the scope, else to nobody.
TEST(ScriptRanges, AreRegionsAndTheRestOfTheScope) {
  lines::Answer said;
  said.ranges = {{{{0, 10, 20}, {0, 40, 50}, {1, 5, 6}}}, {{{0, 20, 25}, {0, 100, 110}}}};
  said.scope = {{{0, 5, 60}, {0, 70, 80}, {0, 95, 120}, {1, 0, 9}}};
  const auto ranges = ranges_of(said, {7, 3});
  ASSERT_TRUE(ranges.ok());
  const auto inside = [](const std::vector<lines::Range>& list, uint32_t module, uint64_t at) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.module == module && one.begin <= at &&
        at < one.end; });
  };
  for (uint32_t module = 0; module < 2; ++module)
    for (uint64_t at = 0; at < 130; ++at) {
      int64_t expected = -1, seen = -1;
      if (inside(said.scope.ranges, module, at)) expected = 0;
      if (inside(said.ranges[0].ranges, module, at)) expected = 7;
      if (inside(said.ranges[1].ranges, module, at)) expected = 3;
      for (const causal::Range& range : *ranges)
        if (range.module == module && range.start <= at && at < range.end) {
          EXPECT_EQ(seen, -1) << at;
          seen = range.region;
        }
      EXPECT_EQ(seen, expected) << module << " " << at;
    }
  for (size_t i = 1; i < ranges->size(); ++i)
    EXPECT_TRUE(std::tie((*ranges)[i - 1].module, (*ranges)[i - 1].start) < std::tie((*ranges)[i].module, (*ranges)[i].start));
}

TEST(ScriptRanges, RefuseTwoCandidatesOfOneCode) {
  lines::Answer said;
  said.ranges = {{{{0, 10, 20}}}, {{{0, 15, 25}}}};
  const auto ranges = ranges_of(said, {1, 2});
  ASSERT_FALSE(ranges.ok());
  EXPECT_NE(ranges.error().message.find("candidates 1 and 2"), std::string::npos);
}

}  // namespace
}  // namespace stab::engine
