// What several comparisons have in common counts once: links that all workloads of a program run, links that come back in other
// blocks, clusters that lie across blocks. How often two equal builds are told apart at 5 %;
// docs/evaluation/records/calibration.md has the rates.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/commands/stats/analyze_command.h"
#include "analysis/report/report_data/report.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_layouts.h"
#include "tests/unit/temporary_directory.h"

namespace stab::analysis {
namespace {

constexpr double kAlpha = 0.05;

// 4 standard errors of a rate.
double limit(int rounds) {
  return 4 * std::sqrt(kAlpha * (1 - kAlpha) / rounds);
}

void report_rate(const std::string& what, double rate) {
  std::printf("rate %-78s %.4f\n", what.c_str(), rate);
}

struct Builds {
  size_t levels = 2;     // of the treatment
  size_t workloads = 1;  // of one program, all of which run the same links
  size_t links = 10;
  size_t blocks = 30;
  double layout_sd = 0.02, run_sd = 0.004, block_sd = 0.05;
  bool alike = true;  // a link does to all workloads the same
};

// Equal builds, each cell of a block in a link of its own, as the lab's schedule draws them: anew when all have run.
report::Samples equal_builds(Rng& rng, const Builds& shape) {
  report::Samples samples;
  samples.factors = {{"build", {}, false, 0, {}}};
  for (size_t level = 0; level < shape.levels; ++level) samples.factors[0].levels.push_back("b" + std::to_string(level));
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.01}};
  std::vector<std::vector<double>> layouts(shape.levels, std::vector<double>(shape.links));
  uint32_t order = 0;
  for (uint32_t workload = 0; workload < shape.workloads; ++workload) {
    samples.workloads.push_back("p/w" + std::to_string(workload));
    samples.programs.push_back("p");
    if (workload == 0 || !shape.alike)
      for (auto& own : layouts)
        for (double& layout : own) layout = shape.layout_sd * standard_normal(rng);
    std::vector<std::vector<uint64_t>> rounds(shape.levels);
    for (uint32_t block = 0; block < shape.blocks; ++block) {
      const double common = shape.block_sd * standard_normal(rng);
      for (uint16_t level = 0; level < shape.levels; ++level) {
        if (rounds[level].empty()) {
          rounds[level].resize(shape.links);
          std::iota(rounds[level].begin(), rounds[level].end(), uint64_t{1});
          rng.shuffle(rounds[level]);
        }
        report::Trial trial;
        trial.workload = workload;
        trial.levels = {level};
        trial.block = block;
        trial.link = rounds[level].back();
        rounds[level].pop_back();
        trial.order = order++;
        trial.values = {std::exp(common + layouts[level][trial.link - 1] + shape.run_sd * standard_normal(rng))};
        samples.trials.push_back(std::move(trial));
      }
    }
  }
  return with_layouts(std::move(samples));
}

// The share of rounds in which the first contrast of that population is below 5 %.
double alarms(const std::string& name, const Builds& shape, report::Population asked, int rounds) {
  Rng rng = Rng::stream(11, name);
  int found = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto report = report::analyse(equal_builds(rng, shape));
    EXPECT_TRUE(report) << report.error().message;
    if (!report) return 1;
    for (const report::Contrast& contrast : report->contrasts) {
      if (contrast.population != asked) continue;
      EXPECT_EQ(contrast.refused, "") << name;
      found += contrast.p_value < kAlpha;
      break;
    }
  }
  const double rate = static_cast<double>(found) / rounds;
  report_rate(name, rate);
  return rate;
}

TEST(SharedDraws, LinksThatComeBackInOtherBlocks) {
  constexpr int kRounds = 1000;
  EXPECT_NEAR(alarms("two builds, ten links crossed with 30 blocks", {}, report::Population::kOneWorkload, kRounds), kAlpha,
              limit(kRounds));
  EXPECT_NEAR(alarms("four builds", {.levels = 4}, report::Population::kOneWorkload, kRounds), kAlpha, limit(kRounds));
  // Each link's draw holds the noise of fitting blocks beside it, which the mean over links does not: too careful, never too
  // bold.
  EXPECT_LE(alarms("two builds, links that do nothing", {.layout_sd = 0}, report::Population::kOneWorkload, kRounds), kAlpha);
}

TEST(SharedDraws, WorkloadsOfOneProgramRunTheSameLinks) {
  constexpr int kRounds = 500;
  EXPECT_NEAR(
      alarms("four workloads of one program, a link does the same to all", {.workloads = 4}, report::Population::kThese, kRounds),
      kAlpha, limit(kRounds));
  EXPECT_NEAR(alarms("the same, a link does something else to each", {.workloads = 4, .alike = false}, report::Population::kThese,
                     kRounds),
              kAlpha, limit(kRounds));
  // Each link once: what it does to each workload can't be told from blocks, so the errors are taken to be as large as they can
  // be.
  EXPECT_LE(alarms("four workloads, each link once", {.workloads = 4, .blocks = 10, .block_sd = 0.002},
                   report::Population::kThese, kRounds),
            kAlpha + limit(kRounds));
}

// A number of the first contrast that `stabctl analyze --json` gives.
double p_of(const commands::CommandOutput& output) {
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const std::string name = "\"p_value\": ";
  const size_t at = output.out.find(name, output.out.find("\"contrasts\""));
  EXPECT_NE(at, std::string::npos) << output.out;
  return at == std::string::npos ? 0 : std::strtod(output.out.c_str() + at + name.size(), nullptr);
}

struct Rows {
  int builds = 2, links = 10, blocks = 30, workloads = 1;
  bool same_names = false;  // of the links, in all builds
};

double analyzed_alarms(const std::string& name, const Rows& shape, int rounds) {
  const TemporaryDirectory directory;
  Rng rng = Rng::stream(12, name);
  int found = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string text = "y,work,build,link,block\n";
    std::vector<std::vector<double>> layouts(static_cast<size_t>(shape.builds),
                                             std::vector<double>(static_cast<size_t>(shape.links)));
    for (auto& own : layouts)
      for (double& layout : own) layout = 2 * standard_normal(rng);
    for (int work = 0; work < shape.workloads; ++work) {
      std::vector<std::vector<int>> left(layouts.size());
      for (int block = 0; block < shape.blocks; ++block) {
        for (size_t build = 0; build < layouts.size(); ++build) {
          if (left[build].empty()) {
            left[build].resize(static_cast<size_t>(shape.links));
            std::iota(left[build].begin(), left[build].end(), 0);
            rng.shuffle(left[build]);
          }
          const int link = left[build].back();
          left[build].pop_back();
          text += std::to_string(100 + layouts[build][static_cast<size_t>(link)] + 0.4 * standard_normal(rng)) + ",w" +
                  std::to_string(work) + ",b" + std::to_string(build) + "," + (shape.same_names ? "" : std::to_string(build)) +
                  "l" + std::to_string(link) + "," + std::to_string(block) + "\n";
        }
      }
    }
    std::vector<std::string> words = {
        directory.write("rows.csv", text), "--response", "y", "--factors", "build", "--cluster", "link", "--json"};
    if (shape.workloads > 1)
      words.insert(words.end(), {"--within", "work"});
    else
      words.insert(words.end(), {"--block", "block"});
    const commands::CommandOutput output = commands::run_analyze(words);
    if (shape.workloads == 1) {
      found += p_of(output) < kAlpha;
      continue;
    }
    const size_t these = output.out.find("\"population\": \"these");
    EXPECT_NE(these, std::string::npos) << output.out;
    const size_t at = output.out.find("\"p_value\": ", these);
    found += std::strtod(output.out.c_str() + at + 11, nullptr) < kAlpha;
  }
  const double rate = static_cast<double>(found) / rounds;
  report_rate(name, rate);
  return rate;
}

TEST(SharedDraws, ClustersAcrossBlocksInAFile) {
  constexpr int kRounds = 300;
  EXPECT_LE(analyzed_alarms("analyze --cluster --block, two builds", {}, kRounds), kAlpha + limit(kRounds));
  EXPECT_LE(analyzed_alarms("the same, four builds", {.builds = 4}, kRounds), kAlpha + limit(kRounds));
  EXPECT_LE(analyzed_alarms("the same, five links and 40 blocks", {.links = 5, .blocks = 40}, kRounds), kAlpha + limit(kRounds));
  EXPECT_LE(analyzed_alarms("the same, links of one name in both builds", {.same_names = true}, kRounds),
            kAlpha + limit(kRounds));
}

TEST(SharedDraws, ClustersOfSeveralWorkloadsInAFile) {
  constexpr int kRounds = 300;
  EXPECT_LE(analyzed_alarms("analyze --within --cluster, four workloads", {.workloads = 4}, kRounds), kAlpha + limit(kRounds));
}

}  // namespace
}  // namespace stab::analysis
