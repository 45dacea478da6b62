// Contrasts over machines, against R's numbers (tests/reference/analysis/machines.R), and: one machine changes nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "analysis/report/report_data/report.h"
#include "tests/places.h"

namespace stab::analysis {
namespace {

struct Case {
  std::string name;
  report::Samples samples;
  std::map<std::string, double> values;
};

report::Samples empty_samples() {
  report::Samples samples;
  samples.experiment = "machines";
  samples.workloads = {"work"};
  report::Factor code{.name = "code", .levels = {"shuffle"}, .layout = true};
  report::Factor opt{.name = "opt", .levels = {"a", "b"}};
  samples.factors = {code, opt};
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLinear, .margin = 1}};
  return samples;
}

// A block of two trials, each in a layout of its own.
void add_block(report::Samples& samples, uint32_t machine, uint32_t block, double a, double b) {
  for (const uint16_t level : {0, 1}) {
    report::Trial trial;
    trial.levels = {0, level};
    trial.block = block;
    trial.order = 2 * block + level;
    trial.seed = 1000 + trial.order;
    trial.layout = 1000 + trial.order;
    trial.machine = machine;
    trial.values = {level == 0 ? a : b};
    samples.trials.push_back(trial);
    while (samples.machines.size() <= machine) samples.machines.push_back("m" + std::to_string(samples.machines.size()));
  }
  samples.planned += 2;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/machines.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, key;
    words >> kind;
    if (kind == "case") {
      all.push_back({"", empty_samples(), {}});
      words >> all.back().name;
    } else if (kind == "row") {
      uint32_t machine = 0, block = 0;
      double a = 0, b = 0;
      words >> machine >> block >> a >> b;
      add_block(all.back().samples, machine, block, a, b);
    } else if (kind == "value") {
      double value = 0;
      words >> key >> value;
      all.back().values[key] = value;
    }
  }
  return all;
}

TEST(Machines, AgreeWithR) {
  const std::vector<Case> all = cases();
  ASSERT_EQ(all.size(), 4u);
  for (const Case& one : all) {
    SCOPED_TRACE(one.name);
    const auto report = report::analyse(one.samples);
    ASSERT_TRUE(report.ok()) << report.error().message;
    ASSERT_EQ(report->machine_contrasts.size(), 1u);
    const report::MachineContrast& contrast = report->machine_contrasts[0];
    ASSERT_EQ(contrast.refused, "");
    EXPECT_EQ(contrast.machines.size(), one.samples.machines.size());
    const std::map<std::string, double> ours = {{"these", contrast.these.estimate},
                                                {"these_se", contrast.these_standard_error},
                                                {"these_df", contrast.these_df},
                                                {"these_p", contrast.these_p},
                                                {"these_low", contrast.these.low},
                                                {"like_se", contrast.like_standard_error},
                                                {"like_df", contrast.like_df},
                                                {"like_p", contrast.like_p},
                                                {"like_low", contrast.like_these.low},
                                                {"like_high", contrast.like_these.high},
                                                {"f", contrast.f},
                                                {"f_df1", contrast.f_df1},
                                                {"f_df2", contrast.f_df2},
                                                {"f_p", contrast.f_p},
                                                {"between", contrast.between}};
    for (const auto& [key, value] : one.values) {
      ASSERT_TRUE(ours.contains(key)) << key;
      // lme4 iterates; R's tails and ours agree to fewer digits where they are tiny.
      const double digits = key == "between" ? 1e-6 : 1e-9;
      EXPECT_NEAR(ours.at(key), value, digits * std::fabs(value) + 1e-18) << key;
    }
  }
}

TEST(Machines, OneOfThemChangesNothing) {
  for (const Case& one : cases()) {
    report::Samples none = one.samples, single = one.samples;
    none.machines.clear();
    single.machines = {"m0"};
    for (report::Trial& trial : none.trials) trial.machine = 0;
    for (report::Trial& trial : single.trials) trial.machine = 0;
    const auto without = report::analyse(none), with = report::analyse(single);
    ASSERT_TRUE(without.ok() && with.ok());
    EXPECT_EQ(report::to_json(*without), report::to_json(*with));
    EXPECT_EQ(report::render_terminal(*without), report::render_terminal(*with));
    EXPECT_EQ(report::to_json(*without).find("machine_contrasts"), std::string::npos);
  }
}

TEST(Machines, ThatLackACellAreSaid) {
  report::Samples samples = cases()[0].samples;
  std::erase_if(samples.trials, [](const report::Trial& trial) { return trial.machine == 2 && trial.levels[1] == 1; });
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->machine_contrasts.size(), 1u);
  EXPECT_NE(report->machine_contrasts[0].refused, "");
  EXPECT_NE(report::to_json(*report).find("machine_contrasts"), std::string::npos);
  samples.trials[0].machine = 9;
  EXPECT_FALSE(report::analyse(samples).ok());
}

TEST(Machines, CaveatsSayWhatDiffersAndWhatWasLost) {
  report::Samples samples = cases()[3].samples;
  samples.machine_differences = {"cpu: X | Y"};
  samples.lost_machines = {"slot 1 on lab2"};
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report.ok());
  std::map<report::CaveatCode, std::string> said;
  for (const report::Caveat& caveat : report->caveats) said[caveat.code] = caveat.message;
  EXPECT_EQ(said[report::CaveatCode::kDifferentMachines], "machines differ: cpu: X | Y");
  EXPECT_NE(said[report::CaveatCode::kLostMachines].find("slot 1 on lab2"), std::string::npos);
  EXPECT_NE(said[report::CaveatCode::kFewMachines].find("2 machines"), std::string::npos);
  const std::string text = report::render_terminal(*report);
  EXPECT_NE(text.find("machines like these"), std::string::npos) << text;
}

}  // namespace
}  // namespace stab::analysis
