// [layout.replay]: the plan that runs one recorded trial's layout beside fresh ones.
#include "plan/layout_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "plan/design.h"
#include "plan/schedule.h"
#include "tests/unit/plan/plan_fixture.h"

namespace stab::plan {
namespace {

using testing::HasSubstr;

constexpr char kRecorded[] = R"([experiment]
name = "t"
series = "nightly"
seed = 7
replicates = 3
runs_per_seed = 2
[factors]
code = ["off", "shuffle"]
stack = ["off", "on"]
opt = ["-O2", "-O3"]
link = { seeds = 4 }
exclude = [{ code = "off", stack = "on" }]
[machines]
count = 2
[[program]]
name = "p"
build = "szc {opt} p.c -o p"
run = ["./p"]
[[program.workload]]
name = "a"
args = ["1"]
[[program.workload]]
name = "b"
args = ["2"]
)";

LayoutReplay moving() {
  LayoutReplay out;
  out.of = {"t", 1234567890123456789, 0};
  out.trial = 91;
  out.workload = "p/b";
  out.levels = {{"code", "shuffle"}, {"stack", "on"}, {"opt", "-O3"}};
  out.seed = 0xfedcba9876543210u;
  out.times = 20;
  out.excess = 0.1 + 0.2;
  return out;
}

LayoutReplay linked() {
  LayoutReplay out = moving();
  out.levels = {{"code", "off"}, {"stack", "off"}, {"opt", "-O2"}};
  out.link = 3;
  return out;
}

Plan replayed(const LayoutReplay& how) { return parsed(replay_text(parsed(kRecorded), how)); }

bool is_replay(const Design& design, const PlannedTrial& trial) {
  return design.cells[trial.cell].name.find("layout=trial-91") != std::string::npos;
}

TEST(LayoutReplay, IsReadAsItWasWritten) {
  const Plan plan = replayed(moving());
  ASSERT_TRUE(plan.layout.replay.has_value());
  const LayoutReplay &is = *plan.layout.replay, should = moving();
  EXPECT_EQ(is.of, should.of);
  EXPECT_EQ(is.trial, should.trial);
  EXPECT_EQ(is.seed, should.seed);
  EXPECT_EQ(is.levels, should.levels);
  EXPECT_EQ(is.excess, should.excess) << "each bit of it";
  EXPECT_EQ(plan.experiment.name, "t-trial-91");
  EXPECT_EQ(plan.experiment.seed, 7u) << "links of builds are drawn from it";
  EXPECT_TRUE(plan.experiment.series.empty());
  EXPECT_EQ(plan.machines.count, 0);
  ASSERT_EQ(subjects(plan).size(), 1u);
  EXPECT_EQ(subjects(plan)[0].name, "p/b");
}

TEST(LayoutReplay, ItsScheduleCrossesThisLayoutWithFreshOnesInRandomOrder) {
  const Plan plan = replayed(moving());
  const Design design = *make_design(plan);
  ASSERT_EQ(design.cells.size(), 2u);
  for (const Cell& cell : design.cells) {
    EXPECT_EQ(cell.layout.code, abi::CodeMode::kShuffle);
    EXPECT_EQ(cell.layout.stack, abi::StackMode::kOn);
  }
  const Schedule schedule = make_schedule(plan, design);
  ASSERT_EQ(schedule.trials.size(), 40u);
  std::set<uint64_t> fresh;
  std::map<uint32_t, int> blocks;
  int first = 0;
  for (const PlannedTrial& trial : schedule.trials) {
    const bool replay = is_replay(design, trial);
    ++blocks[trial.block];
    if (trial.order % 2 == 0) first += replay;
    if (replay) {
      EXPECT_EQ(trial.seed, moving().seed);
    }
    else EXPECT_TRUE(fresh.insert(trial.seed).second);
  }
  EXPECT_EQ(fresh.size(), 20u);
  EXPECT_FALSE(fresh.contains(moving().seed));
  EXPECT_EQ(blocks.size(), 20u);
  EXPECT_GT(first, 3) << "either comes first, by chance";
  EXPECT_LT(first, 17);
}

TEST(LayoutReplay, ATextSaysItsDrawWithoutBeingRead) {
  LayoutReplay how = moving();
  const std::string lines = replay_lines(how.of, how.trial), another = replay_lines(how.of, how.trial + 1);
  for (const int draw : {1, 2, kMostReplays}) {
    how.draw = draw;
    const std::string text = replay_text(parsed(kRecorded), how);
    EXPECT_EQ(draw_in(text, lines), draw);
    EXPECT_EQ(draw_in(text, another), 0);
  }
  // A hand may have written anything.
  EXPECT_EQ(draw_in(lines, lines), 1);
  EXPECT_EQ(draw_in(lines + "times = 9\n[next]\ndraw = 7\n", lines), 1);
  for (const char* wrong :
       {"draw = ", "draw = x\n", "draw = 0\n", "draw = -3\n", "draw = 1001\n", "draw = 99999999999999999999\n", "x"})
    EXPECT_EQ(draw_in(lines + wrong, lines), 1) << wrong;
}

TEST(LayoutReplay, AnotherDrawHasOtherFreshLayouts) {
  LayoutReplay second = moving();
  second.draw = 2;
  const Plan one = replayed(moving()), two = replayed(second);
  EXPECT_EQ(two.experiment.name, "t-trial-91-2");
  const Schedule a = make_schedule(one, *make_design(one)), b = make_schedule(two, *make_design(two));
  std::set<uint64_t> seeds;
  for (const Schedule* schedule : {&a, &b})
    for (const PlannedTrial& trial : schedule->trials) seeds.insert(trial.seed);
  EXPECT_EQ(seeds.size(), 41u) << "20, 20 others and the trial's";
}

TEST(LayoutReplay, ALinkIsTheTrialsAndFreshOnesGoThroughAll) {
  const Plan plan = replayed(linked());
  const Design design = *make_design(plan);
  const BuildSet builds = make_builds(plan, design), then = make_builds(parsed(kRecorded), *make_design(parsed(kRecorded)));
  std::map<uint16_t, int> links;
  std::set<uint32_t> seeds, seeds_then;
  for (const Build& build : builds.all()) seeds.insert(build.link_seed);
  for (const Build& build : then.all()) seeds_then.insert(build.link_seed);
  for (const uint32_t seed : seeds) EXPECT_TRUE(seeds_then.contains(seed)) << "a link that was recorded";
  for (const PlannedTrial& trial : make_schedule(plan, design).trials) {
    if (is_replay(design, trial)) {
      EXPECT_EQ(trial.link, 3);
    }
    else ++links[trial.link];
  }
  EXPECT_EQ(links, (std::map<uint16_t, int>{{1, 5}, {2, 5}, {3, 5}, {4, 5}}));
}

TEST(LayoutReplay, ALayoutOfAnotherProgramIsNoneOfIts) {
  LayoutReplay how = moving();
  how.workload = "p/c";
  EXPECT_THAT(errors_of(replay_text(parsed(kRecorded), how)), HasSubstr("no workload 'p/c'"));
  how = moving();
  how.levels["opt"] = "-Os";
  EXPECT_THAT(errors_of(replay_text(parsed(kRecorded), how)), HasSubstr("none of factor 'opt'"));
  how = linked();
  how.link = 5;
  EXPECT_THAT(errors_of(replay_text(parsed(kRecorded), how)), HasSubstr("no link 5"));
}

std::string without(std::string text, const std::string& line) {
  text.erase(text.find(line), line.size());
  return text;
}

TEST(LayoutReplay, IsRefusedWhereItCouldSayNothing) {
  LayoutReplay how = linked();
  how.link = 0;
  EXPECT_THAT(errors_of(replay_text(parsed(without(kRecorded, "link = { seeds = 4 }\n")), how)),
              HasSubstr("nothing draws layouts"));
  std::string own = kRecorded;
  own.replace(own.find("opt = "), 0, "layout = [\"a\", \"b\"]\n");
  how = moving();
  how.levels["layout"] = "a";
  EXPECT_THAT(errors_of(replay_text(parsed(own), how)), HasSubstr("factor 'layout' of its own"));
}

// A page asks this beforehand, of each cell of the plan.
TEST(LayoutReplay, SaysOfWhichCellsItIsRefused) {
  EXPECT_FALSE(no_replay_of(parsed(kRecorded)));
  const Plan plan = parsed(without(kRecorded, "link = { seeds = 4 }\n"));
  const Design design = *make_design(plan);
  ASSERT_EQ(design.cells.size(), 6u);
  for (const Cell& cell : design.cells) {
    const bool is_off = cell.name.find("code=off") != std::string::npos;
    EXPECT_EQ(no_replay_of(plan, cell.levels).has_value(), is_off) << cell.name;
    EXPECT_FALSE(no_replay_of(parsed(kRecorded), cell.levels)) << "links are layouts";
  }
}

TEST(LayoutReplay, AFaultNamesItsPlace) {
  const std::string good = replay_text(parsed(kRecorded), moving());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return errors_of(text);
  };
  EXPECT_THAT(with("seed = \"fedcba9876543210\"", "seed = \"xyz\""), HasSubstr("'xyz' is no number of 'seed'"));
  EXPECT_THAT(with("seed = \"fedcba9876543210\"", "seed = \"1fedcba9876543210\""), HasSubstr("is no number of 'seed'"));
  EXPECT_THAT(with("trial = \"91\"", "trial = \"0\""), HasSubstr("numbered from 1"));
  EXPECT_THAT(with("times = 20", "times = 1"), HasSubstr("times"));
  EXPECT_THAT(with("times = 20", "times = 20\nrounds = 3"), HasSubstr("rounds"));
  EXPECT_THAT(with("excess = \"", "excess = \"inf\"\nx = \""), HasSubstr("excess"));
}

}  // namespace
}  // namespace stab::plan
