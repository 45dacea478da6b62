// Sliced blocks in a report: which blocks answer, what their control says, and which numbers are of differences.
#include "analysis/report/contrasts/control_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "analysis/commands/stats/power_command.h"
#include "analysis/report/conditions/run_changes.h"
#include "analysis/report/contrasts/combination.h"
#include "analysis/report/contrasts/estimators.h"
#include "analysis/report/rendering/first_screen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "tests/places.h"
#include "tests/unit/analysis/made_sliced.h"

namespace stab::analysis {
namespace {

// Times in percent of a second, of cells b0 and b1 in each block.
struct Block {
  double first, second;
  bool alone = false;
};

report::Samples of_blocks(const std::vector<Block>& blocks) {
  report::Samples samples;
  samples.is_sliced = true;
  samples.workloads = {"lua"};
  samples.factors = {{"code", {"shuffle"}, true, 0}, {"build", {"b0", "b1"}, false, 0}};
  samples.responses = {{.name = "cpu_time", .unit = "s", .scale = report::Scale::kLinear, .margin = 0.5}};
  uint32_t order = 0;
  for (uint32_t b = 0; b < blocks.size(); ++b)
    for (uint16_t cell = 0; cell < 2; ++cell) {
      report::Trial trial;
      trial.levels = {0, cell};
      trial.block = b;
      trial.order = order;
      trial.seed = ++order;
      trial.ran_alone = blocks[b].alone;
      trial.values = {cell == 0 ? blocks[b].first : blocks[b].second};
      samples.trials.push_back(trial);
    }
  return with_layouts(std::move(samples));
}

const std::vector<Block> kReferenceBlocks = {{20, 21.1}, {35, 36.2}, {28, 28.9}, {22, 26.0, true}, {31, 31.8}, {27, 28.05},
                                             {40, 41.3}, {25, 29.5, true}, {29, 30.15}, {33, 35.0, true}};

report::Report report_of(const report::Samples& samples) {
  auto report = report::analyse(samples);
  if (!report) ADD_FAILURE() << report.error().message;
  return report ? *std::move(report) : report::Report{};
}

const report::Caveat* caveat(const report::Report& report, report::CaveatCode code) {
  for (const report::Caveat& one : report.caveats)
    if (one.code == code) return &one;
  return nullptr;
}

struct Case {
  std::string name;
  std::vector<Block> blocks;
  std::map<std::string, double> values;
};

std::vector<Case> cases_of_r() {
  std::vector<Case> all;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/slicing.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, key;
    words >> kind;
    if (kind == "case") {
      all.emplace_back();
      std::getline(words, all.back().name);
    } else if (kind == "row") {
      Block& block = all.back().blocks.emplace_back();
      words >> block.first >> block.second >> block.alone;
    } else if (kind == "value") {
      words >> key;
      words >> all.back().values[key];
    }
  }
  return all;
}

TEST(Slicing, AnswersComeFromTheSlicedBlocksAndTheirControlFromTheOthersAsInR) {
  const std::vector<Case> all = cases_of_r();
  ASSERT_EQ(all.size(), 4u);
  for (const Case& one : all) {
    report::Samples samples = of_blocks(one.blocks);
    samples.responses[0].margin = 100;  // nothing is moved
    const report::Report report = report_of(samples);
    const auto expect = [&](const char* key, double value) {
      const double wanted = one.values.at(key);
      EXPECT_NEAR(value, wanted, 1e-9 * std::max(1.0, std::fabs(wanted))) << one.name << ", " << key;
    };
    const auto alone = static_cast<uint64_t>(
        std::count_if(one.blocks.begin(), one.blocks.end(), [](const Block& block) { return block.alone; }));
    const report::Contrast& contrast = report.contrasts.at(0);
    EXPECT_TRUE(contrast.blocked);
    EXPECT_FALSE(contrast.by_alone);
    EXPECT_EQ(contrast.n, one.blocks.size() - alone);
    expect("sliced", contrast.interval.estimate);
    expect("sliced_low", contrast.interval.low);
    expect("sliced_high", contrast.interval.high);
    expect("sliced_df", contrast.df);
    expect("sliced_p", contrast.p_value);
    ASSERT_TRUE(report.slicing);
    EXPECT_EQ(report.slicing->sliced_blocks, one.blocks.size() - alone);
    EXPECT_EQ(report.slicing->alone_blocks, alone);
    ASSERT_EQ(report.slicing->biases.size(), 1u);
    const report::SlicingBias& bias = report.slicing->biases[0];
    EXPECT_EQ(bias.refused, "");
    expect("alone", bias.alone.estimate);
    expect("alone_low", bias.alone.low);
    expect("bias", bias.bias.estimate);
    expect("bias_low", bias.bias.low);
    expect("bias_high", bias.bias.high);
    expect("bias_df", bias.df);
    expect("bias_p", bias.p_value);
    // Cells hold the trials that answer; none of the others is lost.
    EXPECT_EQ(report.cells.at(0).n, contrast.n);
    EXPECT_EQ(report.analysed, 2 * one.blocks.size());
    samples.responses[0].margin = 0.1;
    EXPECT_EQ(report_of(samples).slicing->biases[0].moves, bias.p_value < 0.05 && std::fabs(bias.bias.estimate) > 0.1)
        << one.name;
  }
}

TEST(Slicing, OneBlockAloneGivesWordsAndNoNumber) {
  Rng rng = Rng::stream(1, "slicing");
  const report::Report none = report_of(sliced_blocks(rng, {.alone_each = 0}));
  EXPECT_EQ(none.slicing->refused, "no block ran alone: what slicing does to these differences is not known");
  EXPECT_TRUE(none.slicing->biases.empty());
  const report::Report one = report_of(sliced_blocks(rng, {.blocks = 12}));
  EXPECT_EQ(one.slicing->alone_blocks, 1u);
  EXPECT_TRUE(one.slicing->biases.empty());
  ASSERT_TRUE(caveat(one, report::CaveatCode::kSlicingUnchecked));
  EXPECT_NE(caveat(one, report::CaveatCode::kSlicingUnchecked)->message.find("two are the fewest that have a spread"),
            std::string::npos);
  EXPECT_EQ(caveat(report_of(sliced_blocks(rng, {})), report::CaveatCode::kSlicingUnchecked), nullptr);
}

TEST(Slicing, BlocksAloneThatDontVaryAreRefusedInWords) {
  std::vector<Block> blocks = kReferenceBlocks;
  for (Block& block : blocks)
    if (block.alone) block.second = block.first + 4;
  const report::Report report = report_of(of_blocks(blocks));
  EXPECT_TRUE(report.slicing->biases.at(0).refused.starts_with("the blocks alone: ")) << report.slicing->biases[0].refused;
  EXPECT_FALSE(report.contrasts.at(0).by_alone);
  EXPECT_EQ(report::to_json(report).find("nan"), std::string::npos);
}

TEST(Slicing, ABiasBeyondMarginAndChanceMovesTheAnswerToTheBlocksAlone) {
  Rng rng = Rng::stream(2, "slicing");
  report::Samples samples =
      sliced_blocks(rng, {.blocks = 100, .alone_each = 4, .alone_sd = 0.01, .effect = -0.10, .bias = -0.12});
  samples.estimators = {{report::Estimator::Kind::kHodgesLehmann}};
  samples.shift_quantiles = {0.5};
  const report::Report report = report_of(samples);
  const report::SlicingBias& bias = report.slicing->biases.at(0);
  EXPECT_TRUE(bias.moves);
  EXPECT_NEAR(std::log(bias.bias.estimate), -0.12, 0.02);
  const report::Contrast& answer = report.contrasts.at(0);
  EXPECT_TRUE(answer.by_alone);
  EXPECT_EQ(answer.n, 25u);
  EXPECT_NEAR(std::log(answer.interval.estimate), -0.10, 0.02);
  EXPECT_EQ(answer.verdict, report::Verdict::kChanged);  // both kinds say so
  ASSERT_TRUE(caveat(report, report::CaveatCode::kSlicingMoves));
  EXPECT_NE(caveat(report, report::CaveatCode::kSlicingMoves)->message.find("the answer is that of the 25 blocks alone"),
            std::string::npos)
      << caveat(report, report::CaveatCode::kSlicingMoves)->message;
  EXPECT_NE(report.estimators.at(0).refused, "");
  EXPECT_EQ(report.estimators.at(0).verdict, report::Verdict::kWithheld);
  EXPECT_NE(report.shift_functions.at(0).refused, "");
  EXPECT_NE(report::render_terminal(report).find("blocks alone"), std::string::npos);
}

// The sliced blocks see nothing; the blocks alone see 3, with p between a tenth of 5 % and 5 %, or far below.
TEST(Slicing, AnAnswerThatTheBlocksAloneGiveByThemselvesTakesATenthOfAlpha) {
  std::vector<Block> blocks;
  for (int b = 0; b < 20; ++b) blocks.push_back({30.0 + b, 30.0 + b + (b % 2 ? 0.05 : -0.05)});
  const auto with_alone = [&](double spread) {
    std::vector<Block> all = blocks;
    for (const double off : {-1.0, 0.0, 1.0, -1.0, 1.0}) all.push_back({40, 43 + spread * off, true});
    return report_of(of_blocks(all));
  };
  const report::Report doubtful = with_alone(2.2), sure = with_alone(0.5);
  for (const report::Report* report : {&doubtful, &sure}) {
    EXPECT_TRUE(report->slicing->biases.at(0).moves);
    EXPECT_TRUE(report->contrasts.at(0).by_alone);
    EXPECT_NEAR(report->contrasts.at(0).interval.estimate, 3, 1e-9);
    EXPECT_LT(report->contrasts.at(0).p_value, 0.05);
  }
  EXPECT_GT(doubtful.contrasts[0].p_value, 0.005);
  EXPECT_EQ(doubtful.contrasts[0].verdict, report::Verdict::kUnsure);
  EXPECT_EQ(sure.contrasts[0].verdict, report::Verdict::kChanged);
}

TEST(Slicing, ABlockIsOfOneKind) {
  report::Samples samples = of_blocks(kReferenceBlocks);
  samples.trials[1].ran_alone = true;
  EXPECT_EQ(report::analyse(samples).error().message, "block 0 ran alone and in slices; a block is of one kind");
  samples = of_blocks(kReferenceBlocks);
  samples.is_sliced = false;
  EXPECT_NE(report::analyse(samples).error().message.find("in an experiment that isn't sliced"), std::string::npos);
  samples = of_blocks({{20, 21, true}, {22, 24, true}});
  EXPECT_EQ(report::analyse(samples).error().message,
            "no trial has a value of cpu_time in a sliced block: so far blocks ran alone only, which are the control");
  samples = of_blocks(kReferenceBlocks);
  samples.trials[0].overlap = NAN;
  EXPECT_FALSE(report::analyse(samples));
}

// Rules leave out so many trials that fewer than half of the blocks are whole. Elsewhere cells are then taken one by one, as if
// their trials were independent: here that would be an interval twenty times as wide.
TEST(Slicing, TrialsOfABlockAreNeverIndependentValues) {
  Rng rng = Rng::stream(3, "slicing");
  const SlicedShape shape{.blocks = 60, .block_sd = 0.2, .excluded = 0.45};
  report::Samples samples = sliced_blocks(rng, shape);
  const report::Contrast contrast = report_of(samples).contrasts.at(0);
  EXPECT_TRUE(contrast.blocked);
  EXPECT_LT(contrast.n, 25u);
  EXPECT_LT(contrast.standard_error, 0.004);
  // No block is whole.
  for (report::Trial& trial : samples.trials) trial.excluded = trial.block % 2 == trial.levels[1] ? "" : "preempted";
  const report::Report none = report_of(samples);
  EXPECT_EQ(none.contrasts.at(0).refused, report::kSlicedAlike);
  for (const report::AnovaTable& table : none.anovas) EXPECT_NE(table.robust_method, "HC3");
  samples.estimators = {{report::Estimator::Kind::kHodgesLehmann}, {report::Estimator::Kind::kQuantile, 0.5}};
  for (const report::EstimatorContrast& one : report_of(samples).estimators)
    EXPECT_EQ(one.refused, report::kSlicedAlike) << one.estimator;
}

TEST(Slicing, ComponentsAreThoseOfDifferencesAndBlocksStandBeside) {
  Rng rng = Rng::stream(4, "slicing");
  const report::Report report =
      report_of(sliced_blocks(rng, {.cells = 4, .blocks = 200, .heavy = false, .drift = 0, .runs = 3, .layout_sd = 0.01}));
  const report::SpreadComponents& parts = report.components.at(0);
  EXPECT_NEAR(std::sqrt(parts.layout), 0.01, 0.001);
  EXPECT_NEAR(std::sqrt(parts.run.value()), 0.0035, 0.0003);
  EXPECT_NEAR(std::sqrt(parts.block.value()), 0.1, 0.015);
  // With one run of each layout both are one, without the block, as before.
  const report::SpreadComponents together =
      report_of(sliced_blocks(rng, {.blocks = 200, .heavy = false, .drift = 0, .layout_sd = 0.01})).components.at(0);
  EXPECT_NEAR(std::sqrt(together.layout), std::hypot(0.01, 0.0035), 0.001);
  EXPECT_NEAR(std::sqrt(together.block.value()), 0.1, 0.015);
}

TEST(Slicing, LowOverlapIsSaid) {
  Rng rng = Rng::stream(5, "slicing");
  const report::Report half = report_of(sliced_blocks(rng, {.half_overlap = true}));
  ASSERT_TRUE(caveat(half, report::CaveatCode::kLowOverlap));
  EXPECT_EQ(caveat(half, report::CaveatCode::kLowOverlap)->message,
            "trials of program0 with build=b1 ran at the same time as all of their block in 50 % of their CPU time");
  EXPECT_EQ(caveat(report_of(sliced_blocks(rng, {})), report::CaveatCode::kLowOverlap), nullptr);
}

// Neighbouring blocks' differences resemble each other: no drawn order undoes that, and the report says by how much it matters.
TEST(Slicing, MemoryFromBlockToBlockIsSaidWithItsPrice) {
  Rng rng = Rng::stream(6, "slicing");
  const report::Report report = report_of(sliced_blocks(rng, {.blocks = 200, .memory = 0.5}));
  const report::Caveat* said = caveat(report, report::CaveatCode::kAutocorrelation);
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->message.starts_with("program0: a sliced block's differences resemble those of the block before"));
  EXPECT_NE(said->hint.find("times as wide"), std::string::npos);
}

// What all trials of a block have in common is no change of the run.
TEST(Slicing, BlocksAreStepsOfTheRun) {
  int alarms = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng = Rng::stream(seed, "slicing, run");
    const report::Samples samples = sliced_blocks(rng, {.cells = 8, .blocks = 60, .drift = 0});
    for (const report::RunChanges& run : report::search_run(samples).runs) {
      EXPECT_EQ(run.trials, 54u);
      alarms += !run.changes.empty();
    }
  }
  EXPECT_LE(alarms, 7);
}

TEST(Slicing, TheFirstScreenSaysItInALine) {
  report::Samples samples = of_blocks(kReferenceBlocks);
  samples.responses[0].margin = 4;
  const std::string screen = report::render_first_screen(report_of(samples), {}, 200);
  EXPECT_NE(screen.find("slicing: 7 blocks sliced, 3 alone; difference between the two kinds for this question "),
            std::string::npos)
      << screen;
}

// Two cells whose blocks are 10 % apart and whose differences vary by 0.5 %: power goes by the latter. What is asked for is a
// number of blocks in slices; the plan's replicates are those with their share of blocks alone.
TEST(Slicing, PowerGoesByTheSpreadOfABlocksDifference) {
  Rng rng = Rng::stream(7, "slicing");
  report::Samples pilot = sliced_blocks(rng, {.blocks = 40, .heavy = false, .alone_sd = 0.01});
  pilot.responses[0].margin = 0.002;
  commands::PowerOptions options;
  options.json = true;
  const commands::CommandOutput power = commands::run_power(pilot, options);
  ASSERT_EQ(power.exit_code, 0) << power.err;
  const auto number = [&](const std::string& key) {
    const size_t at = power.out.find("\"" + key + "\"");
    EXPECT_NE(at, std::string::npos) << power.out;
    return std::stod(power.out.substr(power.out.find(':', at) + 1));
  };
  EXPECT_LT(number("standard_error"), 0.0015);
  const double most = std::max(number("n_for_change"), number("n_for_equivalence"));
  EXPECT_LT(most, 150);
  EXPECT_EQ(number("replicates"), std::ceil(most * 40 / 36));
  options.is_sliced = true;
  EXPECT_EQ(commands::run_power(pilot, options).exit_code, 0);
  // A program that the pilot doesn't know and a second response each double the questions.
  const double questions = number("questions");
  options.responses = 2;
  options.unknown = {"other"};
  const commands::CommandOutput more = commands::run_power(pilot, options);
  EXPECT_NE(more.out.find("\"questions\": " + std::to_string(static_cast<int>(4 * questions)) + ","), std::string::npos)
      << more.out;
  options.is_sliced = false;
  const commands::CommandOutput other = commands::run_power(pilot, options);
  EXPECT_NE(other.exit_code, 0);
  EXPECT_NE(other.err.find("run a pilot of the plan's kind"), std::string::npos) << other.err;
}

// A look and a sequence count blocks of both kinds; the sequence's width is that of the blocks that answer.
TEST(Slicing, SequencesAreAsWideAsTheBlocksThatAnswer) {
  Rng rng = Rng::stream(8, "slicing");
  report::Samples samples = sliced_blocks(rng, {.blocks = 40, .alone_each = 2, .alone_sd = 0.01});
  samples.stopping.rule = report::StoppingRule::kSequence;
  samples.stopping.first = 8;
  samples.stopping.max = 40;
  const report::Report report = report_of(samples);
  EXPECT_EQ(report.sequence_replicates, 20u);
  report::Samples only = samples;  // the same blocks as an experiment that is over after them
  only.is_sliced = false;
  std::erase_if(only.trials, [](const report::Trial& trial) { return trial.ran_alone; });
  for (report::Trial& trial : only.trials) trial.block /= 2;
  const report::Report same = report_of(only);
  EXPECT_NEAR(report.contrasts.at(0).interval.low, same.contrasts.at(0).interval.low, 1e-12);
  EXPECT_NEAR(report.contrasts.at(0).interval.high, same.contrasts.at(0).interval.high, 1e-12);
  const auto looked = report::look(samples, 30);
  ASSERT_TRUE(looked) << looked.error().message;
}

TEST(Slicing, ProgramsLikeTheseArePairedByProgram) {
  Rng rng = Rng::stream(9, "slicing");
  const report::Report report = report_of(sliced_blocks(rng, {.blocks = 40, .alone_each = 4, .bias = 0.05, .programs = 6}));
  size_t asked = 0;
  for (const report::SlicingBias& bias : report.slicing->biases) {
    ASSERT_EQ(bias.refused, "") << name(bias.population);
    EXPECT_NEAR(std::log(bias.bias.estimate), 0.05, bias.population == report::Population::kOneWorkload ? 0.06 : 0.02);
    if (bias.population == report::Population::kLikeThese) {
      EXPECT_EQ(bias.df, 5);
    }
    ++asked;
  }
  EXPECT_EQ(asked, 8u);
}

}  // namespace
}  // namespace stab::analysis
