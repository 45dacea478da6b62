#include "plan/simulation.h"

#include <gmock/gmock.h>

#include "plan/check.h"
#include "plan/design.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kSimulate[] = "[counters]\nsimulate = \"cachegrind\"\n";

TEST(SimulatedPlan, ReadsCachesAndWeights) {
  const Plan plan = parsed(small_plan(std::string(kSimulate) +
                                      "[counters.cache]\nI1 = { size = \"4KiB\", ways = 1, line = 64 }\n"
                                      "LL = { size = 786432, ways = 12, line = 64 }\n"
                                      "[counters.cost]\nmiss = 5\nmisprediction = 2.5\n"));
  const Simulation& simulation = plan.counters.simulation;
  EXPECT_TRUE(simulation.on());
  EXPECT_EQ(simulation.i1, (CacheShape{4096, 1, 64}));
  EXPECT_FALSE(simulation.d1.declared()) << "as the machine's";
  EXPECT_EQ(simulation.ll, (CacheShape{786432, 12, 64}));
  EXPECT_EQ(words_of(simulation),
            "simulated cost = instructions + 5 x first-level misses + 100 x last-level misses + 2.5 x mispredictions, by "
            "cachegrind with I1 4 KiB in 1 way of 64-byte lines, D1 as this machine's, LL 768 KiB in 12 ways of 64-byte lines");
  ASSERT_EQ(plan.experiment.responses.size(), 1u);
  EXPECT_EQ(plan.experiment.responses[0].name, "simulated_cost");
  EXPECT_EQ(plan.experiment.responses[0].scale, Scale::kLog);
}

TEST(SimulatedPlan, TheCostIsTheDeclaredSum) {
  const SimulatedCounts counts{1'000'000, 30, 4, 5, 60};
  EXPECT_EQ(cost_of(counts, {10, 100, 7}), 1'000'000 + 10 * 34 + 100 * 5 + 7 * 60);
  EXPECT_EQ(cost_of(counts, {0, 0, 0}), 1'000'000);
}

TEST(SimulatedPlan, TimePassesNoEpochs) {
  const auto layout_of_plan = [](const std::string& tables) { return make_design(parsed(small_plan(tables)))->cells[0].layout; };
  const Layout none = layout_of_plan(kSimulate);
  EXPECT_EQ(none.epoch_ns, 0u);
  EXPECT_EQ(none.epoch_visits, 0u);
  const Layout visits =
      layout_of_plan(std::string("[factors]\ncode = [\"shuffle\"]\nepoch = { visits = 50 }\n") + kSimulate);
  EXPECT_EQ(visits.epoch_ns, 0u);
  EXPECT_EQ(visits.epoch_visits, 50u);
  EXPECT_EQ(layout_of_plan("").epoch_ns, abi::kDefaultEpochNs) << "nothing is simulated";
}

TEST(SimulatedPlan, VisitsAreALevelLikeAnother) {
  const Plan plan = parsed(small_plan("[factors]\ncode = [\"shuffle\"]\nepoch = [{ visits = 10 }, \"20ms\", { visits = 0 }]\n"));
  const auto design = make_design(plan);
  ASSERT_TRUE(design);
  ASSERT_EQ(design->cells.size(), 3u);
  EXPECT_EQ(design->cells[0].name, "code=shuffle epoch=10visits");
  EXPECT_EQ(design->cells[0].layout.epoch_visits, 10u);
  EXPECT_EQ(design->cells[1].layout.epoch_ns, 20'000'000u);
  EXPECT_EQ(design->cells[1].layout.epoch_visits, 0u);
  EXPECT_EQ(design->cells[2].layout.epoch_ns, 0u);
  const auto with_epoch = [](const std::string& epoch) { return errors_of(small_plan("[factors]\nepoch = [" + epoch + "]\n")); };
  EXPECT_THAT(with_epoch("{ visits = -1 }"), HasSubstr("visits"));
  EXPECT_THAT(with_epoch("{ visits = 1000000001 }"), HasSubstr("visits"));
  EXPECT_THAT(with_epoch("{ visit = 1 }"), HasSubstr("did you mean 'visits'?"));
  EXPECT_THAT(with_epoch("{ visits = 1 }, { visits = 1 }"), HasSubstr("has level '1visits' twice"));
}

TEST(SimulatedPlan, RefusesWhatWouldBeTheSimulators) {
  const auto refused = [](const std::string& tables, const std::string& words) {
    EXPECT_THAT(errors_of(small_plan(tables)), HasSubstr(words)) << tables;
  };
  refused("response = \"wall_time\"\n" + std::string(kSimulate),
          "response 'wall_time' is the simulator's own, not the program's");
  refused("response = \"simulated_cots\"\n" + std::string(kSimulate), "did you mean 'simulated_cost'?");
  refused("response = \"simulated_cost\"\n", "is measured in simulated trials only");
  refused(std::string(kSimulate) + "events = [\"cycles\"]\n",
          "events are the machine's, and a simulated trial would count its simulator's");
  refused("[factors]\ncode = [\"once\"]\nepoch = [\"20ms\"]\n" + std::string(kSimulate), "epoch '20ms' is a time");
  refused("[factors]\ncode = [\"off\", \"pad\"]\n" + std::string(kSimulate), "code 'pad' changes with its epoch");
  refused("[counters.cost]\nmiss = 3\n", "write simulate = \"cachegrind\" below [counters]");
  refused("[counters]\nsimulate = \"callgrind\"\n", "simulate");
  const std::string cache = std::string(kSimulate) + "[counters.cache]\n";
  refused(cache + "I1 = { size = \"48KiB\", ways = 8, line = 64 }\n", "48 KiB are no power of two of sets of 8 x 64 bytes");
  refused(cache + "I1 = { size = \"48KiB\", ways = 8, line = 48 }\n", "lines of 48 bytes");
  refused(cache + "I1 = { size = \"4KiB\", ways = 1 }\n", "line");
  refused(cache + "L2 = { size = \"4KiB\", ways = 1, line = 64 }\n", "unknown key 'L2'");
  EXPECT_THAT(errors_of(small_plan(cache + "I1 = { size = \"48KiB\", ways = 12, line = 64 }\n")), IsEmpty());
  EXPECT_THAT(warnings_of(small_plan("runs_per_seed = 2\n[factors]\ncode = [\"shuffle\"]\nepoch = { visits = 9 }\n" +
                                     std::string(kSimulate))),
              IsEmpty())
      << "no layout follows a clock";
}

TEST(SimulatedPlan, PlanCheckSaysWhatItIs) {
  const Plan plan = parsed(small_plan(kSimulate));
  const auto report = check_plan(plan, {});
  ASSERT_TRUE(report);
  const std::string text = render(*report, plan, 10);
  EXPECT_THAT(text, HasSubstr("simulated cost = instructions + 10 x first-level misses"));
  EXPECT_THAT(text, HasSubstr("no time is measured"));
}

}  // namespace
}  // namespace stab::plan
