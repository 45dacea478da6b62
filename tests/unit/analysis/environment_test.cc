// What a report says of the machine as it stood: what differed between trials, along what, and where a factor's difference may be
// the machine's.
#include "analysis/report/report_data/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/report/report_data/report.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/report_of.h"

namespace stab::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

const report::Caveat* caveat(const report::Report& report, report::CaveatCode code) {
  for (const report::Caveat& one : report.caveats)
    if (one.code == code) return &one;
  return nullptr;
}

// Twenty blocks under two kernels; `second` says of which trials the second one is.
template <class Second>
report::Samples two_kernels(const Second& second) {
  report::Samples samples = lab_samples(3, {.programs = 2, .replicates = 20});
  samples.environment_facts_compared = 20;
  samples.environment_facts = {"kernel.release"};
  samples.environments = {{true, {"6.1"}}, {true, {"6.8"}}};
  for (report::Trial& trial : samples.trials) trial.environment = second(trial);
  return samples;
}

TEST(Environment, OneLineWhereNothingDiffers) {
  report::Samples samples = lab_samples(3, {.replicates = 4});
  EXPECT_THAT(report::render_terminal(report_of(samples)), Not(HasSubstr("environment"))) << "nobody recorded any";
  EXPECT_FALSE(nlohmann::json::parse(report::to_json(report_of(samples))).contains("environment"));
  samples.environment_facts_compared = 20;
  samples.environments = {{true, {}}};
  const report::Report report = report_of(samples);
  EXPECT_THAT(report::render_terminal(report),
              HasSubstr("  no difference: 20 recorded facts of the machine, the same for all of 96 trials\n"));
  const auto json = nlohmann::json::parse(report::to_json(report))["environment"];
  EXPECT_EQ(json["facts"], 20);
  EXPECT_EQ(json["trials"], 96);
  EXPECT_TRUE(json["differences"].empty());
  EXPECT_EQ(caveat(report, report::CaveatCode::kEnvironmentChanged), nullptr);
}

TEST(Environment, WhatChangesBetweenBlocksIsNamedWithItsBlocks) {
  const report::Report report = report_of(two_kernels([](const report::Trial& trial) { return trial.block >= 8; }));
  ASSERT_EQ(report.environment.differences.size(), 1u);
  const report::EnvironmentDifference& one = report.environment.differences[0];
  EXPECT_EQ(one.along, report::EnvironmentAlong::kBlocks);
  EXPECT_TRUE(one.splits.empty());
  ASSERT_EQ(one.values.size(), 2u);
  EXPECT_EQ(one.values[0].trials, 8u * 8 * 2);
  EXPECT_EQ(one.values[1].trials, 12u * 8 * 2);
  EXPECT_EQ(one.values[1].first_block, 8u);
  EXPECT_EQ(one.values[1].blocks, 12u);
  const report::Caveat* said = caveat(report, report::CaveatCode::kEnvironmentChanged);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->message,
            "the machine changed within the experiment: kernel.release was '6.1' in blocks 0 to 7 and '6.8' in blocks 8 to 19");
  EXPECT_EQ(caveat(report, report::CaveatCode::kEnvironmentSplit), nullptr);
  const std::string text = report::render_terminal(report);
  EXPECT_THAT(text, HasSubstr("The environment of the trials: what differed, of 20 recorded facts"));
  EXPECT_THAT(text, HasSubstr("kernel.release  6.1       128  0 to 7 (8)"));
  EXPECT_THAT(text, HasSubstr("6.8       192  8 to 19 (12)"));
}

// Trials of one level that were run again later: their difference may be the kernel's.
TEST(Environment, WhatGoesWithAFactorIsTheGravestCaveat) {
  const report::Report report = report_of(two_kernels([](const report::Trial& trial) { return trial.levels[2] == 1; }));
  const report::EnvironmentDifference& one = report.environment.differences.at(0);
  EXPECT_EQ(one.along, report::EnvironmentAlong::kTrials);
  ASSERT_EQ(one.splits.size(), 1u) << "code and stack have both kernels in equal shares";
  EXPECT_EQ(one.splits[0].factor, "heap");
  EXPECT_EQ(one.splits[0].level, "page");
  EXPECT_EQ(one.splits[0].value, one.values[1].value) << "what came later is what changed";
  EXPECT_EQ(std::abs(one.splits[0].share - one.splits[0].baseline_share), 1);
  ASSERT_FALSE(report.caveats.empty());
  EXPECT_EQ(report.caveats[0].code, report::CaveatCode::kEnvironmentSplit);
  EXPECT_THAT(report.caveats[0].message, HasSubstr("the machine changed together with heap: kernel.release was '6."));
  EXPECT_THAT(report.caveats[0].message, HasSubstr("% of the trials with heap=page and in "));
  EXPECT_EQ(caveat(report, report::CaveatCode::kEnvironmentChanged), nullptr) << "said once";
  EXPECT_THAT(report::render_terminal(report), HasSubstr("not shared out evenly: kernel.release was"));
  const auto json = nlohmann::json::parse(report::to_json(report))["environment"]["differences"][0];
  EXPECT_EQ(json["along"], "trials");
  EXPECT_EQ(json["splits"][0]["factor"], "heap");
}

// One of many blocks that was interrupted is no reason to distrust a factor; in few blocks it is.
TEST(Environment, ABlockThatWasInterruptedCountsByItsShare) {
  const auto torn = [](uint32_t blocks) {
    report::Samples samples = lab_samples(3, {.programs = 1, .replicates = static_cast<int>(blocks)});
    samples.environment_facts_compared = 20;
    samples.environment_facts = {"kernel.release"};
    samples.environments = {{true, {"6.1"}}, {true, {"6.8"}}};
    for (report::Trial& trial : samples.trials) trial.environment = trial.block + 1 == blocks && trial.levels[0] == 1;
    return report_of(samples);
  };
  EXPECT_TRUE(torn(20).environment.differences.at(0).splits.empty());
  EXPECT_EQ(torn(20).environment.differences.at(0).along, report::EnvironmentAlong::kTrials);
  EXPECT_TRUE(caveat(torn(20), report::CaveatCode::kEnvironmentChanged));
  EXPECT_EQ(torn(5).environment.differences.at(0).splits.size(), 1u);
  EXPECT_TRUE(caveat(torn(5), report::CaveatCode::kEnvironmentSplit));
}

// A build against another in blocks, the machine booted anew after block 4.
report::Samples booted_half_way() {
  report::Samples samples = lab_samples(3, {.programs = 1, .replicates = 10});
  samples.factors = {{"build", {"old", "new"}}};
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.levels[0] == 0 || trial.levels[1] == 0; });
  for (report::Trial& trial : samples.trials) {
    trial.levels = {trial.levels[2]};
    trial.fixed_code = false;
    trial.environment = trial.block > 4;
  }
  samples.environment_facts_compared = 20;
  samples.environment_facts = {"boot_id"};
  samples.environments = {{true, {"one"}}, {true, {"two"}}};
  return samples;
}

// Blocks that lack a level take no part in the comparison, so that what they ran under makes no difference to it.
TEST(Environment, ExclusionsDontSplitWhatBlocksTakeOut) {
  report::Samples samples = booted_half_way();
  for (report::Trial& trial : samples.trials)
    if (trial.levels[0] == 1 && (trial.block == 7 || trial.block == 9)) trial.excluded = "load_1min > 3";
  const report::Report report = report_of(samples);
  ASSERT_TRUE(report.contrasts.at(0).blocked);
  EXPECT_TRUE(report.environment.differences.at(0).splits.empty());
  EXPECT_EQ(caveat(report, report::CaveatCode::kEnvironmentSplit), nullptr);

  // Of as few complete blocks the contrast is Welch's, in which the boot's share counts.
  for (report::Trial& trial : samples.trials)
    if (trial.levels[0] == 1 && trial.block > 4 && trial.block != 8) trial.excluded = "load_1min > 3";
  for (report::Trial& trial : samples.trials)
    if (trial.levels[0] == 0 && trial.block < 2) trial.excluded = "load_1min > 3";
  const report::Report welch = report_of(samples);
  ASSERT_FALSE(welch.contrasts.at(0).blocked);
  EXPECT_TRUE(caveat(welch, report::CaveatCode::kEnvironmentSplit));
}

TEST(Environment, WhatSplitsBlocksIsSaidWhateverIsExcluded) {
  report::Samples samples = booted_half_way();
  for (report::Trial& trial : samples.trials) {
    trial.environment = trial.levels[0] == 1 && trial.block > 4;
    if (trial.levels[0] == 1 && (trial.block == 7 || trial.block == 9)) trial.excluded = "load_1min > 3";
  }
  const report::Report report = report_of(samples);
  ASSERT_TRUE(report.contrasts.at(0).blocked);
  ASSERT_TRUE(caveat(report, report::CaveatCode::kEnvironmentSplit));
  const report::EnvironmentSplit& split = report.environment.differences.at(0).splits.at(0);
  EXPECT_EQ(split.share, 3 / 8.0) << "of the blocks that take part";
  EXPECT_EQ(split.baseline_share, 0);
}

// Uneven within one workload only, and the other way round in the other: shares over all of them would hide it.
TEST(Environment, SharesAreThoseWithinAWorkload) {
  const report::Report report =
      report_of(two_kernels([](const report::Trial& trial) { return (trial.workload == 0) == (trial.levels[0] == 1); }));
  ASSERT_EQ(report.environment.differences.at(0).splits.size(), 1u);
  EXPECT_EQ(report.environment.differences[0].splits[0].factor, "code");
}

TEST(Environment, MachinesThatDifferAreNoChangeWithinTheExperiment) {
  report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block % 2; });
  samples.machines = {"left", "right"};
  for (report::Trial& trial : samples.trials) trial.machine = trial.block % 2;
  const report::Report report = report_of(samples);
  const report::EnvironmentDifference& one = report.environment.differences.at(0);
  EXPECT_EQ(one.along, report::EnvironmentAlong::kMachines);
  EXPECT_EQ(one.values[0].machines, std::vector<std::string>{"left"});
  EXPECT_EQ(one.values[1].machines, std::vector<std::string>{"right"});
  EXPECT_EQ(caveat(report, report::CaveatCode::kEnvironmentChanged), nullptr);
  EXPECT_THAT(report::render_terminal(report), HasSubstr("kernel.release  6.1       160  0 to 18 (10)  left\n"));
}

TEST(Environment, ABootIsShownAndNoCaveat) {
  report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block >= 8; });
  samples.environment_facts = {"boot_id"};
  const report::Report report = report_of(samples);
  EXPECT_TRUE(report.environment.differences.at(0).says_where);
  EXPECT_EQ(caveat(report, report::CaveatCode::kEnvironmentChanged), nullptr);
  for (report::Trial& trial : samples.trials) trial.environment = trial.levels[0];
  EXPECT_TRUE(caveat(report_of(samples), report::CaveatCode::kEnvironmentSplit))
      << "a factor that ran in a boot of its own is one";
}

TEST(Environment, WhatIsNotRecordedIsNoDifferenceAndIsSaid) {
  report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block >= 8; });
  samples.environments[0] = {false, {""}};
  const report::Report report = report_of(samples);
  EXPECT_TRUE(report.environment.differences.empty());
  EXPECT_EQ(report.environment.unrecorded_trials, 128u);
  EXPECT_THAT(report::render_terminal(report), HasSubstr("of 128 trials only boot and CPU were recorded"));
  samples.environments[0] = {true, {""}};
  const report::Report told = report_of(samples);
  EXPECT_EQ(told.environment.differences.at(0).values[0].value, "not told") << "a machine that does not tell differs";
}

TEST(Environment, WhoReadsVerdictsAloneGetsNoTable) {
  const report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block >= 8; });
  EXPECT_EQ(report_of(samples).environment.differences.size(), 1u);
  const auto verdicts = report::analyse(samples, report::Depth::kVerdicts);
  ASSERT_TRUE(verdicts);
  EXPECT_TRUE(verdicts->environment.differences.empty());
}

TEST(Environment, ExcludedTrialsDontCount) {
  report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block == 19; });
  for (report::Trial& trial : samples.trials)
    if (trial.block == 19) trial.excluded = "load_1min > 3";
  EXPECT_TRUE(report_of(samples).environment.differences.empty());
}

TEST(Environment, LongValuesAreShownByWhatSetsThemApart) {
  report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block >= 8; });
  const std::string line = "BOOT_IMAGE=/boot/vmlinuz root=UUID=0123 ro";
  samples.environment_facts = {"kernel.cmdline"};
  samples.environments = {{true, {line + " quiet mitigations=auto"}}, {true, {line + " isolcpus=3 quiet mitigations=auto"}}};
  EXPECT_EQ(report::shown_values(report_of(samples).environment.differences.at(0)),
            (std::vector<std::string>{"...", "... isolcpus=3 ..."}));
  samples.environments[1].values[0] = std::string(1 << 20, 'x');
  const auto shown = report::shown_values(report_of(samples).environment.differences.at(0));
  EXPECT_LT(shown[1].size(), 200u);
  EXPECT_EQ(shown[0], line + " quiet mitigations=auto") << "they have no word in common";
}

TEST(Environment, ATrialOfNoEnvironmentIsRefused) {
  report::Samples samples = two_kernels([](const report::Trial&) { return false; });
  samples.trials[5].environment = 2;
  const auto report = report::analyse(samples);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("is of an unknown environment"));
}

// The run in order: where it stands otherwise than a trial before, once for each such place.
TEST(Environment, ChangesStandWhereTheRunMetThem) {
  const report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block >= 8 && trial.block < 15; });
  const report::Report report = report_of(samples);
  // Each workload runs its blocks in turn.
  ASSERT_EQ(report.environment_changes.changes.size(), 4u);
  const report::EnvironmentChange& first = report.environment_changes.changes[0];
  EXPECT_EQ(first.position, 64u);
  EXPECT_EQ(first.block, 8u);
  EXPECT_EQ(first.text, "kernel.release: 6.1 to 6.8");
  EXPECT_EQ(report.environment_changes.changes[1].text, "kernel.release: 6.8 to 6.1");
  const auto json = nlohmann::json::parse(report::to_json(report))["environment"];
  ASSERT_EQ(json["changes"].size(), 4u);
  EXPECT_EQ(json["changes"][0]["position"], 64);
  EXPECT_EQ(json["changes"][0]["text"], first.text);
  EXPECT_EQ(json["changes_left_out"], 0);
}

TEST(Environment, AMachineThatRunsBesideAnotherIsNoChange) {
  report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block % 2; });
  samples.machines = {"left", "right"};
  for (report::Trial& trial : samples.trials) trial.machine = trial.block % 2;
  EXPECT_TRUE(report_of(samples).environment_changes.changes.empty());
}

TEST(Environment, ChangesThatNeverEndAreCounted) {
  const report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.order % 2; });
  const report::Report report = report_of(samples);
  EXPECT_EQ(report.environment_changes.changes.size(), 100u);
  EXPECT_EQ(report.environment_changes.left_out, samples.trials.size() - 1 - 100);
}

TEST(Environment, ManyFactsAtOnceAreOneChange) {
  report::Samples samples = two_kernels([](const report::Trial& trial) { return trial.block >= 8; });
  samples.environment_facts = {"a", "b", "c", "d", "e"};
  samples.environments = {{true, {"1", "1", "1", "1", "1"}}, {true, {"2", "", "2", "2", "1"}}};
  const report::Report report = report_of(samples);
  const report::EnvironmentChange& change = report.environment_changes.changes[0];
  EXPECT_EQ(change.facts, 4u);
  EXPECT_EQ(change.text, "a: 1 to 2; b: 1 to not told; c: 1 to 2; and 1 more");
}

}  // namespace
}  // namespace stab::analysis
