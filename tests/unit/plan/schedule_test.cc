// One schedule is frozen as a hash, so that a resume by a later version finds the same; the rest are its properties, over
// many seeds.
#include "plan/schedule.h"

#include <gmock/gmock.h>

#include <ctime>
#include <map>
#include <set>
#include <tuple>

#include "plan_fixture.h"

namespace stab::plan {
namespace {

using ::testing::ElementsAre;

constexpr char kTables[] =
    "[factors]\ncode=[\"off\",\"shuffle\"]\nheap=[\"base\",\"page\"]\nlink={seeds=4}\n";

Plan two_programs(int replicates, uint64_t seed = 7, const std::string& more = "") {
  return parsed("[experiment]\nname=\"t\"\nseed=" + std::to_string(seed) +
                "\nreplicates=" + std::to_string(replicates) + "\n" + more + kTables +
                "[[program]]\nname=\"p\"\nbuild=\"b\"\nrun=[\"./p\"]\n"
                "[[program.workload]]\nname=\"x\"\n[[program.workload]]\nname=\"y\"\n"
                "[[program]]\nname=\"q\"\nbuild=\"b\"\nrun=[\"./q\"]\n");
}

Schedule schedule_of(const Plan& plan) { return make_schedule(plan, *make_design(plan)); }

TEST(Schedule, IsFrozen) {
  // Version 1. A change of these numbers breaks the promise that plan and seed give the same schedule.
  const Schedule schedule = schedule_of(two_programs(3));
  ASSERT_EQ(schedule.trials.size(), 36u);
  std::string text;
  for (size_t i = 0; i < 6; ++i) {
    const PlannedTrial& t = schedule.trials[i];
    text += std::to_string(t.order) + " s" + std::to_string(t.subject) + " c" + std::to_string(t.cell) + " b" +
            std::to_string(t.block) + " l" + std::to_string(t.link) + " " + std::to_string(t.seed) + "\n";
  }
  EXPECT_EQ(text,
            "0 s1 c2 b0 l0 15700586841064543826\n"
            "1 s1 c0 b0 l3 17187672346963636562\n"
            "2 s1 c1 b0 l2 2706731057526845449\n"
            "3 s1 c3 b0 l0 5384198647302434419\n"
            "4 s2 c3 b0 l0 10659173500132381694\n"
            "5 s2 c0 b0 l1 2529353465293593746\n");
  EXPECT_EQ(fingerprint(schedule), 7624735800673067243u);
  EXPECT_EQ(link_seed(two_programs(3), 1), 333519120u);
}

TEST(Schedule, DependsOnTheSeedAndOnNothingElse) {
  EXPECT_EQ(schedule_of(two_programs(10)).trials, schedule_of(two_programs(10)).trials);
  EXPECT_NE(fingerprint(schedule_of(two_programs(10, 7))), fingerprint(schedule_of(two_programs(10, 8))));
}

TEST(Schedule, ABlockIsOnePassOverAllCellsOfOneWorkload) {
  const Schedule schedule = schedule_of(two_programs(20));
  for (size_t at = 0; at < schedule.trials.size(); at += 4) {
    std::set<uint32_t> cells;
    for (size_t i = at; i < at + 4; ++i) {
      EXPECT_EQ(schedule.trials[i].subject, schedule.trials[at].subject);
      EXPECT_EQ(schedule.trials[i].block, schedule.trials[at].block);
      EXPECT_EQ(schedule.trials[i].order, i);
      cells.insert(schedule.trials[i].cell);
    }
    EXPECT_EQ(cells.size(), 4u);
  }
}

TEST(Schedule, OrdersWithinBlocksAndOfBlocksAreRandom) {
  const Schedule schedule = schedule_of(two_programs(400));
  std::map<uint32_t, int> first_cell, first_subject;
  for (size_t at = 0; at < schedule.trials.size(); at += 4) ++first_cell[schedule.trials[at].cell];
  for (size_t at = 0; at < schedule.trials.size(); at += 12) ++first_subject[schedule.trials[at].subject];
  // 1,200 blocks of 4 cells: 300 each, sd 15; 400 rounds of 3 subjects: 133 each, sd 9.4. Five sd.
  for (uint32_t cell = 0; cell < 4; ++cell) EXPECT_NEAR(first_cell[cell], 300, 75);
  for (uint32_t subject = 0; subject < 3; ++subject) EXPECT_NEAR(first_subject[subject], 133, 47);
}

TEST(Schedule, ExtensionKeepsThePrefix) {
  for (const char* order : {"", "runs_per_seed=2\n"}) {
    const Plan plan = two_programs(30, 7, order);
    const Design design = *make_design(plan);
    const Schedule whole = make_schedule(plan, design, 0, 40);
    Schedule joined = make_schedule(plan, design, 0, 30);
    const Schedule more = make_schedule(plan, design, 30, 10);
    joined.trials.insert(joined.trials.end(), more.trials.begin(), more.trials.end());
    EXPECT_EQ(whole.trials, joined.trials);
  }
}

TEST(Schedule, RandomOrderIsAPermutationOfTheBlocks) {
  const Schedule blocks = schedule_of(two_programs(10));
  const Schedule random = schedule_of(two_programs(10, 7, "order=\"random\"\n"));
  const auto key = [](const PlannedTrial& t) { return std::tuple(t.subject, t.cell, t.block, t.seed); };
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>> a, b;
  for (const PlannedTrial& t : blocks.trials) a.insert(key(t));
  for (const PlannedTrial& t : random.trials) b.insert(key(t));
  EXPECT_EQ(a, b);
  EXPECT_NE(blocks.trials, random.trials);
  for (size_t i = 0; i < random.trials.size(); ++i) EXPECT_EQ(random.trials[i].order, i);
}

TEST(Schedule, EveryTrialHasItsOwnLayoutSeed) {
  const Schedule schedule = schedule_of(two_programs(500));
  std::set<uint64_t> seeds;
  for (const PlannedTrial& trial : schedule.trials) seeds.insert(trial.seed);
  EXPECT_EQ(seeds.size(), schedule.trials.size());
}

TEST(Schedule, RunsOfOneSeedShareItAndStayInTheirBlock) {
  const Schedule schedule = schedule_of(two_programs(5, 7, "runs_per_seed=3\n"));
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::set<uint64_t>> seeds;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::set<int>> runs;
  for (const PlannedTrial& t : schedule.trials) {
    seeds[{t.subject, t.cell, t.block}].insert(t.seed);
    runs[{t.subject, t.cell, t.block}].insert(t.run);
  }
  EXPECT_EQ(seeds.size(), 3u * 4 * 5);
  for (const auto& [key, set] : seeds) EXPECT_EQ(set.size(), 1u);
  for (const auto& [key, set] : runs) EXPECT_THAT(set, ElementsAre(0, 1, 2));
}

TEST(Schedule, LinkLayoutsAreVisitedEvenlyWhereCodeIsFixed) {
  const Plan plan = two_programs(12);
  const Design design = *make_design(plan);
  std::map<std::tuple<uint32_t, uint32_t>, std::map<int, int>> visits;
  for (const PlannedTrial& t : make_schedule(plan, design).trials) {
    if (!design.cells[t.cell].fixed_code) {
      EXPECT_EQ(t.link, 0);
      continue;
    }
    ++visits[{t.subject, t.cell}][t.link];
  }
  EXPECT_EQ(visits.size(), 6u);
  for (const auto& [key, links] : visits) {
    EXPECT_EQ(links.size(), 4u);
    for (const auto& [link, count] : links) {
      EXPECT_GE(link, 1);
      EXPECT_LE(link, 4);
      EXPECT_EQ(count, 3);
    }
  }
}

// The numbers are frozen: extensions of stored experiments go on from them.
TEST(Schedule, LayoutsAreNumberedByBinaryOrByBlock) {
  const Plan plan = parsed(
      "[experiment]\nname=\"t\"\nseed=7\nreplicates=6\nruns_per_seed=2\n[factors]\ncode=[\"shuffle\",\"off\",\"copy\"]\n"
      "heap=[\"base\",\"page\"]\nopt=[\"copy\",\"off\"]\nlink={seeds=4}\n[[program]]\nname=\"p\"\nbuild=[\"b\",\"{opt}\",\"{link}"
      "\"]\nrun=[\"./p\"]\n");
  const Design design = *make_design(plan);
  std::map<std::pair<uint64_t, std::string>, std::set<uint64_t>> of_binary;
  std::map<uint64_t, std::set<std::pair<uint32_t, uint32_t>>> places;
  const auto level = [&](const PlannedTrial& trial, size_t factor) {
    return plan.factors[factor].levels[static_cast<size_t>(design.cells[trial.cell].levels[factor])].name;
  };
  for (const PlannedTrial& trial : schedule_of(plan).trials) {
    places[trial.layout].insert({trial.cell, trial.block});
    if (level(trial, 0) == "shuffle") {
      EXPECT_EQ(trial.layout, uint64_t{trial.cell} << 32 | (trial.block + 1));
    } else {
      of_binary[{trial.link, level(trial, 2)}].insert(trial.layout);
    }
  }
  EXPECT_EQ(of_binary.size(), 8u);
  for (const auto& [binary, layouts] : of_binary) {
    ASSERT_EQ(layouts.size(), 1u) << "off and copy, whatever the heap does: one binary for a link and its treatments";
    EXPECT_EQ(*layouts.begin(), (binary.second == "copy" ? 4ull : 5ull) << 32 | binary.first);
  }
  size_t seeded = 0;
  for (const auto& [layout, where] : places) seeded += where.size() == 1;
  EXPECT_EQ(seeded, 4u * 6) << "each of 4 shuffled cells in each of 6 blocks, both runs";
  const Schedule extension = make_schedule(plan, design, 6, 6);
  for (const PlannedTrial& trial : extension.trials)
    EXPECT_EQ(places.contains(trial.layout), level(trial, 0) != "shuffle") << "links come back, seeds don't";
}

TEST(Schedule, PreflightVisitsEveryCellOnceWithSeedsOfItsOwn) {
  const Plan plan = two_programs(5);
  const Design design = *make_design(plan);
  const Schedule preflight = make_preflight(plan, design);
  ASSERT_EQ(preflight.trials.size(), 12u);
  std::set<uint64_t> seeds;
  for (const PlannedTrial& t : preflight.trials) seeds.insert(t.seed);
  for (const PlannedTrial& t : make_schedule(plan, design).trials) seeds.insert(t.seed);
  EXPECT_EQ(seeds.size(), 12u + 60u);
}

TEST(CounterPasses, SplitHardwareEventsAndRepeatSoftwareOnes) {
  Counters counters;
  counters.events = {"cycles", "page-faults", "instructions", "cache-misses"};
  EXPECT_THAT(counter_passes(counters), ElementsAre(counters.events));
  counters.sharing = CounterSharing::kPasses;
  counters.per_pass = 2;
  EXPECT_THAT(counter_passes(counters), ElementsAre(ElementsAre("page-faults", "cycles", "instructions"),
                                                    ElementsAre("page-faults", "cache-misses")));
  counters.events = {"page-faults"};
  EXPECT_THAT(counter_passes(counters), ElementsAre(ElementsAre("page-faults")));
  counters.events = {};
  EXPECT_EQ(counter_passes(counters).size(), 1u);
}

TEST(CounterPasses, ArePartOfTheBlock) {
  const Plan plan = parsed(small_plan(
      "[factors]\ncode=[\"off\",\"copy\"]\n[counters]\nevents=[\"cycles\",\"instructions\"]\n"
      "sharing=\"passes\"\nper_pass=1\n"));
  const Schedule schedule = schedule_of(plan);
  ASSERT_EQ(schedule.trials.size(), 3u * 2 * 2);
  std::map<std::tuple<uint32_t, uint32_t>, std::set<uint64_t>> seeds;
  for (const PlannedTrial& t : schedule.trials) seeds[{t.cell, t.block}].insert(t.seed);
  for (const auto& [key, set] : seeds) EXPECT_EQ(set.size(), 1u);  // passes measure the same layout
}

TEST(Schedule, AHundredThousandTrialsExpandQuickly) {
  const Plan plan = two_programs(8400);
  const Design design = *make_design(plan);
  const std::clock_t start = std::clock();  // CPU time: other work on the machine doesn't count
  const Schedule schedule = make_schedule(plan, design);
  const std::clock_t took = std::clock() - start;
  EXPECT_GT(schedule.trials.size(), 100'000u);
  EXPECT_LT(took, CLOCKS_PER_SEC * STAB_TIME_FACTOR);  // about 50 ms; sanitizers are slow
}

}  // namespace
}  // namespace stab::plan
