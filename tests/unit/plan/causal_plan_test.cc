// [causal]: what its keys become, what is refused, and the list of windows that follows from plan and seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "plan/control_windows.h"
#include "plan/design.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

using Kind = CausalArmKind;

Causal causal(const std::string& keys) { return *parsed(small_plan("[causal]\n" + keys)).causal; }
std::string causal_errors(const std::string& keys) { return errors_of(small_plan("[causal]\n" + keys)); }

TEST(CausalPlan, IsAbsentUnlessAsked) {
  EXPECT_FALSE(parsed(small_plan("")).causal.has_value());
  const Causal plain = causal("");
  EXPECT_EQ(plain.candidates, 20);
  EXPECT_EQ(plain.scope, std::vector<std::string>{"%"});
  EXPECT_EQ(plain.speedups, (std::vector<double>{0.25, 0.5}));
  EXPECT_TRUE(plain.slowdown);
}

TEST(CausalPlan, TakesItsKeys) {
  const Causal all = causal(
      "unit = \"function\"\nattribute = \"leaf\"\nscope = [\"src/%\"]\nmodules = [\"MAIN\", \"libz.so.1\"]\nprogress = [\"a\"]\n"
      "latency = [\"b\"]\nspeedups = [\"10%\", \"100%\"]\ncandidates = [\"main\", \"work\"]\n"
      "explore = \"0%\"\nwindow = \"100ms\"\n"
      "cooloff = \"1ms\"\nsampling = \"250us\"\npilot = 5\ncontrols = [\"null\"]\nexperiments = \"trials\"\npauses = \"thread\"\n"
      "blocked = [\"io\", \"lock\"]");
  EXPECT_EQ(all.unit, Causal::Unit::kFunction);
  EXPECT_EQ(all.attribute, Causal::Attribute::kLeaf);
  EXPECT_EQ(all.lines, (std::vector<std::string>{"main", "work"}));
  EXPECT_EQ(all.candidates, 2);
  EXPECT_EQ(all.speedups, (std::vector<double>{0.1, 1}));
  EXPECT_EQ(all.sampling, std::chrono::microseconds(250));
  EXPECT_FALSE(all.slowdown);
  EXPECT_EQ(all.experiments, Causal::Experiments::kTrials);
  EXPECT_EQ(all.pauses, Causal::Pauses::kThread);
  EXPECT_TRUE(all.blocked_io && all.blocked_lock && !all.blocked_sleep);
  EXPECT_EQ(causal("candidates = [\"src/a.c:12\"]").lines[0], "src/a.c:12");
}

TEST(CausalPlan, RefusesWithPlaceAndCure) {
  EXPECT_NE(causal_errors("speedups = [\"0%\"]").find("not between 1% and 100%"), std::string::npos);
  EXPECT_NE(causal_errors("speedups = [\"50%\", \"25%\"]").find("ascending"), std::string::npos);
  EXPECT_NE(causal_errors("speedups = []").find("expected 1 to 20"), std::string::npos);
  EXPECT_NE(causal_errors("candidates = [\"a.c\"]").find("is no line"), std::string::npos);
  EXPECT_NE(causal_errors("candidates = 0").find("no factor load"), std::string::npos);
  EXPECT_NE(causal_errors("closed = true").find("need the factor load"), std::string::npos);
  EXPECT_NE(causal_errors("arrival = \"task\"").find("need the factor load"), std::string::npos);
  EXPECT_NE(causal_errors("scope = []").find("is empty"), std::string::npos);
  EXPECT_NE(causal_errors("progress = [\"a\", \"a\"]").find("twice"), std::string::npos);
  EXPECT_NE(causal_errors("window = \"1us\"").find("1ms to 1h"), std::string::npos);
  EXPECT_NE(causal_errors("window = \"10ms\"").find("fewer than 20 samples"), std::string::npos);
  EXPECT_NE(causal_errors("blocked = [\"disk\"]").find("io"), std::string::npos);
  EXPECT_NE(causal_errors("controls = [\"nul\"]").find("did you mean"), std::string::npos);
  EXPECT_NE(causal_errors("lines = 3").find("lines"), std::string::npos);
  EXPECT_NE(causal_errors("[stopping]\nlooks = [2, 3]").find("[stopping]"), std::string::npos);
  EXPECT_NE(causal_errors("[machines]\ncount = 2").find("[machines]"), std::string::npos);
  EXPECT_NE(causal_errors("[counters]\nsimulate = \"cachegrind\"").find("simulated trial"), std::string::npos);
}

// Numbers with which every trial would run and no report could be computed. What was accepted once is read all the same.
TEST(CausalPlan, RefusesNumbersThatNoReportCanHave) {
  const std::string near = "[causal]\nspeedups = [\"25%\", \"25.04%\"]";
  const std::string said = errors_of(small_plan(near));
  EXPECT_NE(said.find("t.toml:6:12"), std::string::npos) << said;
  EXPECT_NE(said.find("more than one digit after the point"), std::string::npos) << said;
  EXPECT_NE(causal_errors("speedups = [\"33.33%\"]").find("tenths of a percent"), std::string::npos);
  EXPECT_EQ(causal("speedups = [\"12.5%\", \"33.3%\", \"100%\"]").speedups.size(), 3u);
  EXPECT_NE(errors_of(small_plan("margin = \"100%\"\n[causal]")).find("a margin of 100%"), std::string::npos);
  EXPECT_EQ(errors_of(small_plan("margin = \"99%\"\nalpha = 0.5\n[causal]")), "");
  EXPECT_EQ(errors_of(small_plan("margin = \"100%\"")), "");
  for (const std::string& once : {near, std::string("margin = \"100%\"\n[causal]")})
    EXPECT_TRUE(parse_plan(small_plan(once), "t.toml", {.stored = true}).plan) << once;
}

// Each with its place, with what to write, and once.
TEST(CausalPlan, RefusesWhatItCannotDo) {
  struct Case {
    const char *keys, *said, *cure, *place;
  };
  for (const Case& one : {Case{"attribute = \"inclusive\"", "'inclusive' is not possible", "unit = \"function\"", ":13"},
                          Case{"progress = [\"a\", {function = \"f\"}]", "calls of a function are no point", "STAB_PROGRESS",
                               ":18"},
                          Case{"latency = [{function = \"f\"}]", "calls of a function are no point", "STAB_PROGRESS", ":12"},
                          Case{"blocking = [\"wait_for_it\"]", "'blocking' is not possible", "blocked = [", ":1"}}) {
    const std::string said = causal_errors(one.keys);
    EXPECT_NE(said.find(one.said), std::string::npos) << said;
    EXPECT_NE(said.find(one.cure), std::string::npos) << said;
    EXPECT_NE(said.find(one.place), std::string::npos) << said;
    EXPECT_EQ(said.find("error:"), said.rfind("error:")) << said;
  }
  EXPECT_NE(causal_errors("attribute = \"inclusiv\"").find("none of"), std::string::npos);
}

std::string load_plan_of(const std::string& levels, const std::string& keys) {
  return small_plan("[factors]\nload = " + levels + "\n[causal]\n" + keys);
}

TEST(LoadFactor, MakesCellsOfMultiplesOfTheArrivalRate) {
  const Plan plan = parsed(load_plan_of("[1, 1.5, 2, 40]", "candidates = 0\narrival = \"task\"\nclosed = true"));
  EXPECT_EQ(plan.causal->arrival, "task");
  EXPECT_TRUE(plan.causal->closed);
  const Design design = *make_design(plan);
  ASSERT_EQ(design.cells.size(), 4u);
  const uint32_t expected[] = {1000, 1500, 2000, 40'000};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(design.cells[i].load_permille, expected[i]);
  EXPECT_EQ(design.cells[1].name, "load=1.5");
  EXPECT_EQ(make_design(parsed(small_plan("")))->cells[0].load_permille, 0u);
}

TEST(LoadFactor, RefusesWithPlaceAndCure) {
  const auto error = [](const std::string& levels, const std::string& keys) { return errors_of(load_plan_of(levels, keys)); };
  EXPECT_NE(error("[1, 0.5]", "candidates = 0").find("below 1"), std::string::npos);
  EXPECT_NE(error("[1, -2]", "candidates = 0").find("below 1"), std::string::npos);
  EXPECT_NE(error("[1, nan]", "candidates = 0").find("below 1"), std::string::npos);
  EXPECT_NE(error("[1, 101]", "candidates = 0").find("above 100"), std::string::npos);
  EXPECT_NE(error("[1, 1.0001]", "candidates = 0").find("3 digits"), std::string::npos);
  EXPECT_NE(error("[1, \"2x\"]", "candidates = 0").find("expected a number"), std::string::npos);
  EXPECT_NE(error("[2, 3]", "candidates = 0").find("has to be 1"), std::string::npos);
  EXPECT_NE(error("[1, 3, 2]", "candidates = 0").find("do not ascend"), std::string::npos);
  EXPECT_NE(error("[1, 1.0]", "candidates = 0").find("twice"), std::string::npos);
  EXPECT_NE(error("[1, 2]", "").find("candidates = 0"), std::string::npos);
  EXPECT_NE(error("[1, 2]", "candidates = 0\nexperiments = \"trials\"").find("drop experiments"), std::string::npos);
  EXPECT_NE(error("[1, 2]", "candidates = 0\npauses = \"spin\"").find("drop pauses"), std::string::npos);
  EXPECT_NE(error("[1, 2]", "candidates = 0\nblocked = [\"io\"]").find("drop blocked"), std::string::npos);
  EXPECT_NE(errors_of(small_plan("[factors]\nload = [1, 2]")).find("needs [causal]"), std::string::npos);
}

std::map<Kind, size_t> kinds_of(const std::vector<CausalArm>& arms) {
  std::map<Kind, size_t> count;
  for (const CausalArm& arm : arms) ++count[arm.kind];
  return count;
}

TEST(CausalWindows, ABlockHasEachLineAtEachSpeedupOnceAndAThirdBaselines) {
  const Causal plan = causal("explore = \"0%\"");
  const CausalRegions regions{9, {}};
  const auto arms = arms_of_block(plan, 1, "causal p all", 0, regions);
  const auto count = kinds_of(arms);
  EXPECT_EQ(count.at(Kind::kSpeedup), 18u);
  EXPECT_EQ(count.at(Kind::kNull), 3u);
  EXPECT_EQ(count.at(Kind::kSlowdown), 9u);
  EXPECT_EQ(count.at(Kind::kBaseline), 15u);
  std::set<std::pair<uint32_t, uint32_t>> speedups;
  for (const CausalArm& arm : arms) {
    if (arm.kind == Kind::kSpeedup) speedups.insert({arm.region, arm.permille});
    if (arm.kind == Kind::kBaseline) {
      EXPECT_EQ(arm, CausalArm());
    }
    if (arm.kind == Kind::kNull || arm.kind == Kind::kSlowdown) {
      EXPECT_EQ(arm.permille, 500u);
    }
  }
  EXPECT_EQ(speedups.size(), 18u);
}

TEST(CausalWindows, GoOnFromAnyPlaceOfTheirList) {
  const Causal plan = causal("");
  const CausalRegions regions{5, {40, 10, 1}};
  const auto all = arms_from(plan, 3, "causal p all", 0, 500, regions);
  ASSERT_EQ(all.size(), 500u);
  for (const size_t first : {1u, 17u, 100u, 333u}) {
    const auto part = arms_from(plan, 3, "causal p all", first, 50, regions);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<ptrdiff_t>(first)));
  }
  const size_t size = arms_in_block(plan, regions);
  EXPECT_EQ(arms_of_block(plan, 3, "causal p all", 0, regions).size(), size);
  EXPECT_TRUE(std::is_permutation(all.begin(), all.begin() + static_cast<ptrdiff_t>(size),
                                  arms_of_block(plan, 3, "causal p all", 0, regions).begin()));
  EXPECT_NE(arms_from(plan, 3, "causal p other", 0, 500, regions), all);
  EXPECT_NE(arms_from(plan, 4, "causal p all", 0, 500, regions), all);
  EXPECT_TRUE(arms_from(plan, 3, "causal p all", 0, 10, {}).empty());
}

// Each arm is as likely in each place: a chi-square of the places of one arm, and others drawn by their samples.
TEST(CausalWindows, AreInRandomOrderAndDrawOthersByTheirSamples) {
  const Causal plan = causal("explore = \"20%\"\ncontrols = [\"null\"]");
  const CausalRegions regions{4, {30, 10}};
  const size_t size = arms_in_block(plan, regions);
  std::vector<double> places(size, 0);
  double first = 0, second = 0;
  constexpr int kBlocks = 4000;
  for (uint32_t block = 0; block < kBlocks; ++block) {
    const auto arms = arms_of_block(plan, 11, "causal p all", block, regions);
    for (size_t i = 0; i < arms.size(); ++i) {
      if (arms[i] == CausalArm{Kind::kSpeedup, 2, 500}) ++places[i];
      first += arms[i].region == 5;
      second += arms[i].region == 6;
    }
  }
  double chi_square = 0;
  const double expected = static_cast<double>(kBlocks) / static_cast<double>(size);
  for (const double seen : places) chi_square += (seen - expected) * (seen - expected) / expected;
  const double df = static_cast<double>(size - 1);
  EXPECT_LT(chi_square, df + 4 * std::sqrt(2 * df));
  EXPECT_EQ(first + second, 2.0 * kBlocks);  // 20 % of 8 + 2
  EXPECT_NEAR(first / (first + second), 0.75, 0.02);
}

TEST(CausalWindows, DrawThePeriodAroundThePlans) {
  const Causal plan = causal("");
  double low = 1e9, high = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const double period = static_cast<double>(drawn_period(plan, seed).count());
    low = std::min(low, period), high = std::max(high, period);
  }
  EXPECT_GE(low, 0.9e6);
  EXPECT_LE(high, 1.1e6);
  EXPECT_LT(low, 0.91e6);
  EXPECT_GT(high, 1.09e6);
}

// Two null windows and two baselines in each block, in an order and of candidates that are drawn, from any place on.
TEST(CausalWindows, OfControlTrialsAreNullAndBaselineAlone) {
  const Causal plan = causal("");
  const CausalRegions regions{3, {9}};
  const auto all = control_arms_from(plan, 7, "causal p all", kFirstControlWindow, 4000, regions);
  ASSERT_EQ(all.size(), 4000u);
  std::set<uint32_t> regions_seen;
  std::array<int, kControlBlock> places{};
  for (size_t i = 0; i < all.size(); i += kControlBlock) {
    int nulls = 0;
    for (size_t k = 0; k < kControlBlock; ++k) {
      const CausalArm& arm = all[i + k];
      if (arm == CausalArm()) continue;
      ASSERT_EQ(arm.kind, Kind::kNull);
      EXPECT_EQ(arm.permille, 500u);
      regions_seen.insert(arm.region);
      ++nulls, ++places[k];
    }
    EXPECT_EQ(nulls, 2);
  }
  EXPECT_EQ(regions_seen, (std::set<uint32_t>{1, 2, 3}));
  for (const int seen : places) EXPECT_NEAR(seen, 500, 80);
  for (const size_t first : {1u, 6u, 333u}) {
    const auto part = control_arms_from(plan, 7, "causal p all", kFirstControlWindow + first, 50, regions);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<ptrdiff_t>(first)));
  }
  EXPECT_NE(control_arms_from(plan, 8, "causal p all", kFirstControlWindow, 4000, regions), all);
  EXPECT_TRUE(control_arms_from(plan, 7, "causal p all", kFirstControlWindow, 10, {}).empty());
}

// Frozen: a stored window names its place in this list.
TEST(CausalWindows, AreThoseOfTheFirstVersion) {
  const auto arms = arms_from(causal(""), 2013, "causal p all", 0, 200, {3, {5, 5}});
  uint64_t hash = 0xcbf29ce484222325u;
  for (const CausalArm& arm : arms)
    for (const uint64_t field : {uint64_t{static_cast<uint32_t>(arm.kind)}, uint64_t{arm.region}, uint64_t{arm.permille}})
      hash = (hash ^ field) * 0x100000001b3u;
  EXPECT_EQ(hash, 1291226008435063560u);
}

}  // namespace
}  // namespace stab::plan
