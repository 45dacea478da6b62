// Sliced blocks in a plan: what they are by default, which blocks are controls, and what they can't be combined with.
#include "plan/slicing.h"

#include <gmock/gmock.h>

#include "plan/check.h"
#include "tests/unit/plan/plan_fixture.h"

namespace stab::plan {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

std::string sliced(const std::string& experiment = {}, const std::string& tables = "[factors]\nopt = [\"-O2\", \"-O3\"]\n",
                   int replicates = 30) {
  return small_plan("blocks = \"sliced\"\n" + experiment + tables, replicates);
}

TEST(SlicedPlan, CpuTimeAndATenthOfControlsByDefault) {
  const Plan plan = parsed(sliced());
  EXPECT_EQ(plan.experiment.blocks, BlockMode::kSliced);
  ASSERT_EQ(plan.experiment.responses.size(), 1u);
  EXPECT_EQ(plan.experiment.responses[0].name, "cpu_time");
  EXPECT_EQ(plan.experiment.responses[0].scale, Scale::kLog);
  EXPECT_EQ(control_blocks(plan, 30), 3u);
  const Result<CheckReport> report = check_plan(plan);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(render(*report, plan),
              HasSubstr("the 2 trials of a block share one CPU in time slices of 3 ms, or less where trials are short; "
                        "3 of 30 blocks run one trial at a time, as a control"));
}

TEST(SlicedPlan, BlocksOfOtherPlansAllRunInTurn) {
  const Plan plan = parsed(small_plan("[factors]\nopt = [\"a\", \"b\"]\n"));
  for (uint32_t block = 0; block < 20; ++block) EXPECT_TRUE(runs_alone(plan, block));
}

// One of each ten, wherever the experiment ends, and not always the same one.
TEST(SlicedPlan, OneControlInEachStratum) {
  const Plan plan = parsed(sliced("", "[factors]\nopt = [\"a\", \"b\"]\n", 300));
  std::set<uint32_t> places;
  for (uint32_t stratum = 0; stratum < 30; ++stratum) {
    int controls = 0;
    for (uint32_t block = 10 * stratum; block < 10 * stratum + 10; ++block) {
      if (!runs_alone(plan, block)) continue;
      ++controls;
      places.insert(block % 10);
    }
    EXPECT_EQ(controls, 1) << stratum;
  }
  EXPECT_GT(places.size(), 5u);
}

TEST(SlicedPlan, WithoutControls) {
  const Plan plan = parsed(sliced("alone = \"0%\"\n"));
  EXPECT_EQ(control_blocks(plan, 1000), 0u);
  EXPECT_THAT(warnings_of(sliced("alone = \"0%\"\n")), ::testing::Not(HasSubstr("control")));
}

TEST(SlicedPlan, FewControlsAreWarnedOf) {
  EXPECT_THAT(warnings_of(sliced("", "[factors]\nopt = [\"a\", \"b\"]\n", 10)),
              HasSubstr("it takes two to estimate what slicing does"));
  EXPECT_THAT(warnings_of(sliced("", "[factors]\nopt = [\"a\", \"b\"]\n", 20)), ::testing::Not(HasSubstr("it takes two")));
}

TEST(SlicedPlan, ThreeMillisecondsOrATwentiethOfTheShortestTrial) {
  EXPECT_EQ(slice_for(milliseconds(60'000)), milliseconds(3));
  EXPECT_EQ(slice_for(milliseconds(61)), milliseconds(3));
  EXPECT_EQ(slice_for(milliseconds(20)), milliseconds(1));
  EXPECT_EQ(slice_for(std::chrono::microseconds(300)), kLeastSlice);
}

TEST(SlicedPlan, RefusesWhatHasAClockOfItsOwn) {
  for (const char* response : {"wall_time", "region_time"})
    EXPECT_THAT(errors_of(sliced("response = \"" + std::string(response) + "\"\n")), HasSubstr("use cpu_time")) << response;
  EXPECT_THAT(errors_of(sliced("response = \"progress:work\"\n")), HasSubstr("use 'progress_cpu:work'"));
  EXPECT_EQ(errors_of(sliced("response = \"progress_cpu:work\"\n", "[factors]\nopt = [\"a\", \"b\"]\n", 20)), "");
  EXPECT_THAT(errors_of(sliced() + "metrics = { format = \"hyperfine\", file = \"out.json\" }\n"),
              HasSubstr("metrics are times"));
}

TEST(SlicedPlan, RefusesByNameWhatDoesNotGoTogether) {
  const std::string factors = "[factors]\nopt = [\"a\", \"b\"]\n";
  EXPECT_THAT(errors_of(sliced("", "")), HasSubstr("a block of this plan has one trial"));
  EXPECT_THAT(errors_of(sliced("", "[factors]\na = [1, 2, 3, 4, 5]\nb = [1, 2, 3, 4]\n")), HasSubstr("20 cells, and at most 16"));
  EXPECT_THAT(errors_of(sliced("order = \"random\"\n")), HasSubstr("don't come together"));
  EXPECT_THAT(errors_of(sliced("", factors + "[machine]\ncpus = \"none\"\n")), HasSubstr("pins no trial"));
  EXPECT_THAT(errors_of(sliced("", factors + "[counters]\nsimulate = \"cachegrind\"\n")), HasSubstr("simulated"));
  EXPECT_THAT(errors_of(sliced("slice = \"1s\"\n")), HasSubstr("no time slices of that length"));
  EXPECT_THAT(errors_of(small_plan("slice = \"10ms\"\n")), HasSubstr("are of sliced blocks"));
  EXPECT_THAT(errors_of(sliced("alone = \"60%\"\n")), HasSubstr("alone"));
}

}  // namespace
}  // namespace stab::plan
