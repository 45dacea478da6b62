// What a report says of shapes: cells with several modes, and changes within the run, in words, JSON and caveats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/report/conditions/modes.h"
#include "analysis/report/conditions/run_changes.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/simulated_blocks.h"

namespace stab::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

const report::Caveat* caveat(const report::Report& report, report::CaveatCode code) {
  for (const report::Caveat& one : report.caveats)
    if (one.code == code) return &one;
  return nullptr;
}

// A third of the trials of one cell are 12 % slower: layouts that hit a bad place.
report::Samples with_two_speeds() {
  report::Samples samples = lab_samples(3, {.replicates = 60});
  for (report::Trial& trial : samples.trials)
    if (trial.workload == 1 && trial.levels == std::vector<uint16_t>{1, 0, 0} && trial.seed % 3 == 0) *trial.values[0] *= 1.12;
  return samples;
}

// From the 31st block on everything is slower.
report::Samples with_a_step(double ratio) {
  report::Samples samples = lab_samples(3, {.replicates = 60});
  // Programs take turns within a block, as the lab's schedule has it.
  std::sort(samples.trials.begin(), samples.trials.end(), [](const report::Trial& a, const report::Trial& b) {
    return std::tie(a.block, a.order) < std::tie(b.block, b.order);
  });
  for (uint32_t i = 0; i < samples.trials.size(); ++i) samples.trials[i].order = i;
  for (report::Trial& trial : samples.trials)
    if (trial.block >= 30) *trial.values[0] *= ratio;
  return samples;
}

TEST(Modes, ACellOfTwoSpeedsIsNamedWithItsGroups) {
  const auto report = report::analyse(with_two_speeds());
  ASSERT_TRUE(report) << report.error().message;
  size_t several = 0;
  for (const report::Cell& cell : report->cells) {
    ASSERT_TRUE(cell.dip && cell.dip_p && cell.dip_p_holm);
    EXPECT_GE(*cell.dip_p_holm, *cell.dip_p);
    if (cell.modes.empty()) continue;
    ++several;
    EXPECT_EQ(cell.workload, "strings");
    EXPECT_EQ(cell.levels, (std::vector<std::string>{"shuffle", "zero", "base"}));
    ASSERT_EQ(cell.modes.size(), 2u);
    EXPECT_EQ(cell.modes[0].n + cell.modes[1].n, 60u);
    EXPECT_NEAR(cell.modes[1].median / cell.modes[0].median, 1.12, 0.01);
    EXPECT_LT(cell.modes[0].high, cell.modes[1].low);
  }
  EXPECT_EQ(several, 1u);
  const report::Caveat* said = caveat(*report, report::CaveatCode::kSeveralModes);
  ASSERT_NE(said, nullptr);
  EXPECT_THAT(said->message, HasSubstr("strings, code=shuffle stack=zero heap=base: wall_time falls into 2 groups, around "));
  EXPECT_THAT(said->message, HasSubstr("after Holm over 24 cells"));
  EXPECT_THAT(report::render_terminal(*report), HasSubstr("Cells with more than one mode"));
  EXPECT_NE(report::to_json(*report).find("\"code\": \"several-modes\""), std::string::npos);
}

TEST(Modes, OrdinaryCellsAreNot) {
  const auto report = report::analyse(lab_samples(3, {.replicates = 60}));
  ASSERT_TRUE(report);
  for (const report::Cell& cell : report->cells) EXPECT_TRUE(cell.modes.empty());
  EXPECT_EQ(caveat(*report, report::CaveatCode::kSeveralModes), nullptr);
  EXPECT_THAT(report::render_terminal(*report), Not(HasSubstr("more than one mode")));
}

TEST(RunChanges, AStepIsFoundAtItsPlaceWithItsSize) {
  const auto report = report::analyse(with_a_step(1.04));
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->run_changes.size(), 1u);
  const report::RunChanges& run = report->run_changes[0];
  EXPECT_EQ(run.response, "wall_time");
  EXPECT_EQ(run.trials, 1440u);
  EXPECT_EQ(run.chunk, 12u);
  ASSERT_EQ(run.changes.size(), 1u);
  EXPECT_NEAR(run.changes[0].position, 720, 12);
  EXPECT_NEAR(run.changes[0].block, 30, 1);
  ASSERT_EQ(run.segments.size(), 2u);
  EXPECT_NEAR(*run.segments[1].level / *run.segments[0].level, 1.04, 0.003);
  EXPECT_EQ(run.segments[0].trials + run.segments[1].trials, 1440u);
  const report::Caveat* said = caveat(*report, report::CaveatCode::kRunChanged);
  ASSERT_NE(said, nullptr);
  EXPECT_THAT(said->message, HasSubstr("the run changes: wall_time +"));
  EXPECT_THAT(said->message, HasSubstr("(slower) from position 7"));
  EXPECT_NE(report::to_json(*report).find("\"position\": 7"), std::string::npos);
}

TEST(RunChanges, SpreadIsToldFromLevel) {
  report::Samples samples = with_a_step(1);
  Rng rng = Rng::stream(8, "company");
  for (report::Trial& trial : samples.trials)
    if (trial.block >= 30) *trial.values[0] *= std::exp(0.06 * standard_normal(rng));
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->run_changes.size(), 1u);
  ASSERT_GE(report->run_changes[0].changes.size(), 1u);
  EXPECT_THAT(report::run_change_text(report->responses[0], report->run_changes[0], 0),
              HasSubstr("as high as before, but spread"));
}

TEST(RunChanges, NothingIsFoundInNothingNorAskedOfPlainRowsOrAtALook) {
  const auto calm = report::analyse(with_a_step(1));
  ASSERT_TRUE(calm);
  ASSERT_EQ(calm->run_changes.size(), 1u);
  EXPECT_TRUE(calm->run_changes[0].changes.empty());
  EXPECT_EQ(calm->run_changes[0].segments.size(), 1u);
  EXPECT_TRUE(calm->run_changes[0].p_of_next && *calm->run_changes[0].p_of_next > 0.05);
  EXPECT_EQ(caveat(*calm, report::CaveatCode::kRunChanged), nullptr);
  report::Samples rows = with_a_step(1.04);
  rows.unit = report::Unit::kRow;
  const auto plain = report::analyse(rows);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->run_changes.empty());
  const auto verdicts = report::analyse(with_a_step(1.04), report::Depth::kVerdicts);
  ASSERT_TRUE(verdicts);
  EXPECT_TRUE(verdicts->run_changes.empty());
  EXPECT_FALSE(verdicts->cells[0].dip);
}

// What a block adds is in all of its trials. With twice the trials' own sd, 97 of 100 such runs had a change.
TEST(RunChanges, BlocksThatDifferAreNoChange) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    Rng rng = Rng::stream(seed, "blocks differ");
    report::Samples samples = simulated_blocks(rng, {.cells = 4, .blocks = 30, .block_sd = 2});
    const auto calm = report::search_run(samples).runs;
    ASSERT_EQ(calm.size(), 1u);
    EXPECT_EQ(calm[0].chunk, 1u);
    EXPECT_TRUE(calm[0].changes.empty()) << seed << ": " << calm[0].changes[0].position;
    for (report::Trial& trial : samples.trials)
      if (trial.block >= 15) *trial.values[0] += 6;
    const auto changed = report::search_run(samples).runs;
    ASSERT_EQ(changed[0].changes.size(), 1u) << seed;
    EXPECT_NEAR(changed[0].changes[0].block, 15, 1) << seed;
  }
}

TEST(RunChanges, EachMachineHasARunOfItsOwn) {
  report::Samples samples = with_a_step(1);
  samples.machines = {"left", "right"};
  for (report::Trial& trial : samples.trials) {
    trial.machine = trial.block % 2;
    if (trial.machine == 1) *trial.values[0] *= 1.3;                        // a slower machine is no change
    if (trial.machine == 1 && trial.block >= 40) *trial.values[0] *= 1.05;  // but this is one
  }
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->run_changes.size(), 2u);
  EXPECT_TRUE(report->run_changes[0].changes.empty());
  EXPECT_EQ(report->run_changes[1].machine, "right");
  ASSERT_EQ(report->run_changes[1].changes.size(), 1u);
  EXPECT_NEAR(report->run_changes[1].changes[0].block, 41, 2);
}

// Work grows with the square of their number: hundreds of machines once took hours.
TEST(RunChanges, OfVeryManyMachinesSomeAreLeftOutAndCounted) {
  const report::Samples one = with_a_step(1);
  report::Samples many = one;
  constexpr uint32_t kMachines = 300;
  many.trials.clear();
  many.machines.clear();
  for (uint32_t machine = 0; machine < kMachines; ++machine) {
    many.machines.push_back("node" + std::to_string(machine));
    for (report::Trial trial : one.trials) {
      trial.machine = machine;
      if (machine == 7 && trial.block >= 30) *trial.values[0] *= 1.3;
      many.trials.push_back(std::move(trial));
    }
  }
  const report::RunSearch search = report::search_run(many);
  ASSERT_GT(search.runs.size(), 50u);
  EXPECT_GT(search.not_searched, 0u);
  EXPECT_EQ(search.runs.size() + search.not_searched, kMachines);
  for (const report::RunChanges& run : search.runs) {
    EXPECT_EQ(run.machine == "node7", !run.changes.empty()) << run.machine;
    EXPECT_NEAR(run.level * static_cast<double>(search.runs.size()), many.alpha, 1e-12);
    EXPECT_GE(run.trials / run.chunk, 20u);
  }
  EXPECT_EQ(report::runs_not_searched_text(1),
            "1 more run of machines or responses was not searched, since all together would take too long");

  many.alpha = 1e-9;
  EXPECT_EQ(report::search_run(many).not_searched, kMachines) << "not even one could be searched";
}

}  // namespace
}  // namespace stab::analysis
