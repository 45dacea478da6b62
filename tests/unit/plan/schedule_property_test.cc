// What holds for every plan, tried on random ones: factors, levels, exclusions, link seeds, runs, passes, orders.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <tuple>

#include "base/rng.h"
#include "plan/schedule.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

std::string random_plan(Rng& rng) {
  const auto pick = [&rng](uint64_t low, uint64_t high) { return low + rng.below(high - low + 1); };
  std::string text = "[experiment]\nname=\"r\"\nseed=" + std::to_string(rng.below(1u << 30)) +
                     "\nreplicates=" + std::to_string(pick(1, 6)) +
                     "\nruns_per_seed=" + std::to_string(pick(1, 3)) + "\npreflight=false\n";
  if (rng.below(4) == 0) text += "order=\"random\"\n";
  text += "[counters]\nevents=[\"cycles\",\"instructions\",\"task-clock\",\"branches\"]\n";
  if (rng.below(2) == 0) text += "sharing=\"passes\"\nper_pass=" + std::to_string(pick(1, 4)) + "\n";
  text += "[factors]\ncode=[\"off\",\"shuffle\",\"copy\"]\n";
  const uint64_t treatments = rng.below(3);
  for (uint64_t t = 0; t < treatments; ++t) {
    text += std::string(1, static_cast<char>('a' + t)) + "=[";
    const uint64_t levels = pick(1, 3);
    for (uint64_t level = 0; level < levels; ++level) text += std::to_string(level) + ",";
    text += "]\n";
  }
  if (rng.below(2) == 0) text += "link={seeds=" + std::to_string(pick(1, 5)) + "}\n";
  if (treatments > 0 && rng.below(2) == 0) text += "exclude=[{code=\"copy\",a=0}]\n";
  if (treatments > 0 && rng.below(2) == 0) text += "nested=[{factor=\"a\",within={code=\"shuffle\"}}]\n";
  const uint64_t programs = pick(1, 3);
  for (uint64_t p = 0; p < programs; ++p)
    text += "[[program]]\nname=\"p" + std::to_string(p) + "\"\nbuild=\"make\"\nrun=[\"./p\"]\n";
  return text;
}

// Every place exactly once: (subject, cell, block, run, pass).
void expect_complete(const Plan& plan, const Design& design, const Schedule& schedule) {
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, int, int>> places;
  for (const PlannedTrial& t : schedule.trials) places.insert({t.subject, t.cell, t.block, t.run, t.pass});
  const size_t expected = subjects(plan).size() * design.cells.size() *
                          static_cast<size_t>(plan.experiment.replicates * plan.experiment.runs_per_seed) *
                          counter_passes(plan.counters).size();
  EXPECT_EQ(places.size(), expected);
  EXPECT_EQ(schedule.trials.size(), expected);
  for (size_t i = 0; i < schedule.trials.size(); ++i) EXPECT_EQ(schedule.trials[i].order, i);
}

// Trials of one (subject, block) stand together.
void expect_contiguous_blocks(const Schedule& schedule) {
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (size_t i = 0; i < schedule.trials.size(); ++i) {
    const std::pair block(schedule.trials[i].subject, schedule.trials[i].block);
    if (i > 0 && block == std::pair(schedule.trials[i - 1].subject, schedule.trials[i - 1].block)) continue;
    EXPECT_TRUE(seen.insert(block).second) << "a block comes back";
  }
}

// Each cell of a block has a seed of its own; where layouts are matched, all of them have one.
void expect_seeds(const Plan& plan, const Schedule& schedule) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> seed_of;
  std::set<uint64_t> seeds;
  const bool matched = plan.experiment.layouts == Layouts::kMatched;
  for (const PlannedTrial& t : schedule.trials) {
    const auto [at, is_new] = seed_of.insert({{t.subject, matched ? 0 : t.cell, t.block}, t.seed});
    EXPECT_EQ(at->second, t.seed);
    if (is_new) {
      EXPECT_TRUE(seeds.insert(t.seed).second);
    }
  }
}

void expect_links(const Plan& plan, const Design& design, const Schedule& schedule) {
  const BuildSet builds = make_builds(plan, design);
  for (const PlannedTrial& t : schedule.trials) {
    const bool linked = design.cells[t.cell].fixed_code && plan.link.seeds > 0;
    EXPECT_EQ(t.link > 0, linked);
    EXPECT_LE(t.link, plan.link.seeds);
    EXPECT_GE(builds.of(subjects(plan)[t.subject].program, static_cast<int>(t.cell), t.link), 0);
  }
}

TEST(ScheduleProperties, HoldForRandomPlans) {
  Rng rng(2013);
  for (int i = 0; i < 150; ++i) {
    const std::string text = random_plan(rng);
    SCOPED_TRACE(text);
    const Parsed result = parse_plan(text, "random.toml");
    ASSERT_TRUE(result.plan.has_value()) << render(result.errors);
    const Plan& plan = *result.plan;
    const Design design = *make_design(plan);
    const Schedule schedule = make_schedule(plan, design);
    expect_complete(plan, design, schedule);
    expect_seeds(plan, schedule);
    expect_links(plan, design, schedule);
    EXPECT_EQ(make_schedule(plan, design).trials, schedule.trials);
    if (plan.experiment.order == Order::kRandom) continue;
    expect_contiguous_blocks(schedule);
    const int cut = static_cast<int>(rng.below(static_cast<uint64_t>(plan.experiment.replicates) + 1));
    Schedule joined = make_schedule(plan, design, 0, cut);
    const Schedule rest = make_schedule(plan, design, cut, plan.experiment.replicates - cut);
    joined.trials.insert(joined.trials.end(), rest.trials.begin(), rest.trials.end());
    EXPECT_EQ(joined.trials, schedule.trials);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace stab::plan
