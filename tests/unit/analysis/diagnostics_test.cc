// Diagnostics are tests like others: of experiments with nothing wrong they speak in 5 %, whatever the number of cells,
// blocks and links, and of what they are for they speak. More shapes, with their rates: docs/evaluation/records/calibration.md,
// from tests/bench/diagnostics_table.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analysis/report/report_data/report.h"
#include "analysis/statistics/diagnostics/sequence.h"
#include "analysis/statistics/diagnostics/variance_tests.h"
#include "tests/unit/analysis/simulated_blocks.h"

namespace stab::analysis {
namespace {

constexpr double kAlpha = 0.05;

// How often each check of a report has p < 5 %, by its name.
std::map<std::string, double> rates(const BlocksShape& shape, int rounds) {
  std::map<std::string, double> spoke;
  Rng rng = Rng::stream(shape.cells * 1000 + shape.blocks, "diagnostics test");
  for (int round = 0; round < rounds; ++round) {
    const auto report = report::analyse(simulated_blocks(rng, shape));
    if (!report) throw std::logic_error(report.error().message);
    for (const report::Diagnostic& diagnostic : report->diagnostics)
      spoke[diagnostic.name] += diagnostic.p_value && *diagnostic.p_value < kAlpha ? 1.0 / rounds : 0;
  }
  return spoke;
}

TEST(Diagnostics, SpeakWithoutCauseInFivePercent) {
  constexpr int kRounds = 400;
  const double most = kAlpha + 4 * std::sqrt(kAlpha * (1 - kAlpha) / kRounds);
  for (const size_t links : {0, 10})
    for (const size_t cells : {2, 3, 4, 8})
      for (const size_t blocks : {3, 10, 30}) {
        if (links > 0 && (cells % 2 != 0 || blocks < links)) continue;
        for (const auto& [check, rate] : rates({.cells = cells, .blocks = blocks, .links = links}, kRounds)) {
          const std::string shape = check + ", " + std::to_string(cells) + " cells, " + std::to_string(blocks) + " blocks, " +
                                    std::to_string(links) + " links";
          EXPECT_LE(rate, most) << shape;
          // Of 3 blocks hardly any p is below 5 %, and of two cells only neighbours in different blocks could be others.
          const bool can_speak = blocks >= 10 && (check != "lag-1 autocorrelation" || cells > 2);
          EXPECT_GE(rate, can_speak ? 0.01 : 0) << shape;
        }
      }
}

TEST(Diagnostics, SpeakOfWhatTheyAreFor) {
  constexpr int kRounds = 200;
  const struct {
    Flaw flaw;
    const char* check;
    size_t cells, blocks;
    double block_sd, least;
  } cases[] = {
      {Flaw::kSkewed, "shapiro-wilk", 2, 100, 2, 0.6},   {Flaw::kSkewed, "shapiro-wilk", 8, 30, 2, 0.9},
      {Flaw::kOutliers, "shapiro-wilk", 4, 100, 2, 0.8}, {Flaw::kSpread, "brown-forsythe", 2, 30, 0, 0.75},
      {Flaw::kSpread, "brown-forsythe", 2, 100, 2, 0.6}, {Flaw::kSpread, "brown-forsythe", 8, 30, 2, 0.9},
      {Flaw::kDrift, "drift", 2, 30, 0, 0.9},            {Flaw::kDrift, "drift", 8, 100, 2, 0.6},
      {Flaw::kMemory, "lag-1 autocorrelation", 4, 30, 2, 0.6}, {Flaw::kMemory, "lag-1 autocorrelation", 8, 30, 2, 0.9},
  };
  for (const auto& [flaw, check, cells, blocks, block_sd, least] : cases)
    EXPECT_GE(rates({.cells = cells, .blocks = blocks, .block_sd = block_sd, .flaw = flaw}, kRounds)[check], least)
        << check << ", " << cells << " cells, " << blocks << " blocks";
}

// What "intervals hold, because" in the caveat rests on: noise that lasts from trial to trial falls on all cells of a
// block in an order that was drawn.
TEST(Diagnostics, IntervalsHoldWhereTrialsRememberInBlocks) {
  constexpr int kRounds = 1500;
  for (const size_t cells : {2, 4, 8}) {
    Rng rng = Rng::stream(cells, "memory");
    double alarms = 0, contrasts = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto report =
          report::analyse(simulated_blocks(rng, {.cells = cells, .blocks = 20, .block_sd = 0, .flaw = Flaw::kMemory}));
      ASSERT_TRUE(report);
      alarms += report->contrasts[0].p_value < kAlpha;
      contrasts += 1;
    }
    std::printf("rate %-58s %.4f\n", ("p < 5 % of equal cells, AR(1) 0.5, " + std::to_string(cells) + " cells in blocks").c_str(),
                alarms / contrasts);
    EXPECT_NEAR(alarms / contrasts, kAlpha, 4 * std::sqrt(kAlpha * (1 - kAlpha) / kRounds)) << cells;
  }
}

// Mean and variance over all orders within groups, against every order of small groups.
TEST(Diagnostics, LagOneAgainstEveryOrder) {
  const std::vector<double> values{0.3, -1.2, 2.5, 0.9, -0.4, 1.7, -2.2, 0.1, 3.1, -0.8};
  const std::vector<uint32_t> groups{0, 0, 1, 1, 1, 0, 2, 2, 1, 2};
  const auto test = statistics::lag1_within(values, groups);
  ASSERT_TRUE(test);
  // Ranks, as deviations within groups, put in every order.
  std::vector<double> ranks;
  for (double value : values) {
    double rank = 1;
    for (double other : values) rank += other < value;
    ranks.push_back(rank);
  }
  std::vector<std::vector<double>> members(3);
  for (size_t i = 0; i < values.size(); ++i) members[groups[i]].push_back(ranks[i]);
  double squares = 0;
  for (auto& group : members) {
    double sum = 0;
    for (double rank : group) sum += rank;
    for (double& rank : group) rank -= sum / static_cast<double>(group.size());
    for (double rank : group) squares += rank * rank;
  }
  const auto product = [&](const std::vector<std::vector<double>>& order) {
    size_t next[3] = {};
    double before = 0, sum = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      const double here = order[groups[i]][next[groups[i]]++];
      sum += before * here;
      before = here;
    }
    return sum;
  };
  const double seen = product(members);
  double mean = 0, second = 0, orders = 0;
  for (auto& group : members) std::sort(group.begin(), group.end());
  std::vector<std::vector<double>> order = members;
  do {
    do {
      do {
        const double sum = product(order);
        mean += sum;
        second += sum * sum;
        orders += 1;
      } while (std::next_permutation(order[2].begin(), order[2].end()));
    } while (std::next_permutation(order[1].begin(), order[1].end()));
  } while (std::next_permutation(order[0].begin(), order[0].end()));
  mean /= orders;
  const double sd = std::sqrt(second / orders - mean * mean);
  EXPECT_NEAR(test->statistic, (seen - mean) / squares, 1e-12);
  EXPECT_NEAR(test->p_value, 2 * statistics::normal_upper(std::fabs(seen - mean) / sd), 1e-9);
}

// Blocks that are high or low as a whole, the unit and the order of blocks make no difference; of two groups the larger
// spread is found whatever the blocks do.
TEST(Diagnostics, SpreadInBlocksIsInvariant) {
  Rng rng = Rng::stream(3, "spread");
  std::vector<std::vector<double>> blocks;
  for (int b = 0; b < 12; ++b) blocks.push_back({rng.uniform(), 3 * rng.uniform(), rng.uniform()});
  const auto test = statistics::levene_in_blocks(blocks);
  ASSERT_TRUE(test);
  auto other = blocks;
  std::reverse(other.begin(), other.end());
  for (auto& block : other)
    for (double& value : block) value = 100 - 7 * value;
  EXPECT_NEAR(statistics::levene_in_blocks(other)->f, test->f, 1e-9);
  EXPECT_FALSE(statistics::levene_in_blocks({{1, 2}, {2, 1}})) << "two blocks";
  EXPECT_FALSE(statistics::levene_in_blocks({{1, 2}, {1, 2}, {1, 2}})) << "constant cells";
}

}  // namespace
}  // namespace stab::analysis
