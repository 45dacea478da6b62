// The declared estimator "mixed": R's numbers for the same exported trials, what it refuses, and how it is shown.
#include "analysis/report/contrasts/mixed_contrasts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "analysis/report/report_data/report.h"
#include "tests/places.h"
#include "tests/unit/analysis/made_layouts.h"
#include "tests/unit/analysis/watched_blocks.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/";

// The trials of data/mixed_report.csv; of one program where one is named.
report::Samples exported(std::optional<uint32_t> only = {}) {
  report::Samples samples;
  samples.factors = {{"code", {"off"}, true, 0, {true}}, {"opt", {"O1", "O2", "O3"}, false, 0, {}}};
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.03}};
  samples.estimators = {{report::Estimator::Kind::kMixed, 0.5}};
  for (int program = 0; program < (only ? 1 : 6); ++program) samples.workloads.push_back("p" + std::to_string(program));
  std::ifstream file(kFolder + "data/mixed_report.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    uint32_t program = 0, opt = 0;
    double seconds = 0;
    report::Trial trial;
    words >> program >> opt >> trial.block >> trial.link >> seconds;
    if (only && program != *only) continue;
    trial.workload = only ? 0 : program;
    trial.levels = {0, static_cast<uint16_t>(opt)};
    trial.order = static_cast<uint32_t>(samples.trials.size());
    trial.seed = trial.order + 1;
    trial.values = {seconds};
    samples.trials.push_back(std::move(trial));
  }
  samples.planned = static_cast<uint32_t>(samples.trials.size());
  return with_layouts(std::move(samples));
}

// Lines of mixed_report.txt that begin with this name, without it.
std::vector<std::vector<std::string>> of_r(const std::string& name) {
  std::vector<std::vector<std::string>> out;
  std::ifstream file(kFolder + "mixed_report.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != name) continue;
    out.emplace_back();
    while (words >> word) out.back().push_back(word);
  }
  return out;
}

void expect_as_r(const std::string& name, const report::Samples& samples, const std::map<std::string, std::string>& terms) {
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->estimators.size(), 2u);
  const auto lines = of_r(name);
  ASSERT_EQ(lines.size(), 3u) << "no numbers of R for " << name;
  for (size_t i = 0; i < 2; ++i) {
    const report::EstimatorContrast& contrast = report->estimators[i];
    ASSERT_EQ(contrast.refused, "");
    EXPECT_EQ(contrast.estimator, "mixed");
    const bool several = samples.workloads.size() > 1;
    EXPECT_EQ(contrast.population, several ? report::Population::kLikeThese : report::Population::kOneWorkload);
    EXPECT_EQ(contrast.workload, several ? "" : "p0");
    EXPECT_EQ(contrast.n, several ? 6u : 15u);
    EXPECT_NEAR(std::log(contrast.interval.estimate), std::stod(lines[i][1]), 1e-6);
    EXPECT_NEAR(contrast.standard_error / std::stod(lines[i][2]), 1, 1e-4);
    EXPECT_NEAR(contrast.df / std::stod(lines[i][3]), 1, 1e-3);
    EXPECT_NEAR(contrast.p_value, std::stod(lines[i][4]), 1e-4);
    const double half = statistics::t_quantile_upper(0.025, contrast.df) * contrast.standard_error;
    EXPECT_NEAR(contrast.interval.high, contrast.interval.estimate * std::exp(half), 1e-9);
    ASSERT_EQ(contrast.components.size(), terms.size());
    for (const report::MixedComponent& part : contrast.components) {
      ASSERT_TRUE(terms.contains(part.term)) << part.term;
      const auto at = std::find(lines[2].begin(), lines[2].end(), terms.at(part.term));
      ASSERT_NE(at, lines[2].end());
      EXPECT_NEAR(part.variance / std::stod(*(at + 1)), 1, 1e-3) << part.term;
    }
  }
}

TEST(MixedContrasts, OverProgramsTheyAreRs) {
  expect_as_r("programs", exported(),
              {{"program", "program"},
               {"program:opt", "program:opt"},
               {"layout", "program:opt:link"},
               {"program:block", "program:block"},
               {"residual", "Residual"}});
}

TEST(MixedContrasts, OfOneProgramItsLinksAreTheSample) {
  expect_as_r("one", exported(3), {{"layout", "opt:link"}, {"block", "block"}, {"residual", "Residual"}});
}

TEST(MixedContrasts, AreShownWithTheirVariances) {
  const auto report = report::analyse(exported());
  ASSERT_TRUE(report);
  const std::string text = report::render_terminal(*report, 120, false), json = report::to_json(*report);
  EXPECT_THAT(text, HasSubstr("mixed model of wall_time, Kenward-Roger: variance of program"));
  EXPECT_THAT(text, HasSubstr("program:opt"));
  EXPECT_THAT(json, HasSubstr("\"estimator\": \"mixed\""));
  EXPECT_THAT(json, HasSubstr("\"term\": \"program:block\""));
}

std::string refused(const report::Samples& samples) {
  const auto report = report::analyse(samples);
  if (!report) return report.error().message;
  return report->estimators.empty() ? "nothing was asked" : report->estimators[0].refused;
}

TEST(MixedContrasts, RefuseWhatTheDesignCantCarry) {
  EXPECT_EQ(refused(exported()), "");
  report::Samples samples = exported();
  samples.factors[0].levels.push_back("shuffle");
  samples.factors[0].fixed.push_back(false);
  EXPECT_THAT(refused(samples), HasSubstr("'code' differ in spread by design"));
  samples = exported();
  samples.responses[0].scale = report::Scale::kLinear;
  samples.responses[0].margin_is_share = true;
  EXPECT_THAT(refused(samples), HasSubstr("share of the baseline's mean"));
  // One program whose layouts never come back: nothing is a sample but the trials.
  Rng rng = Rng::stream(41, "alone");
  samples = watched_blocks(rng, {}, 20, 0, 1);
  samples.stopping = {};
  samples.estimators = {{report::Estimator::Kind::kMixed, 0.5}};
  EXPECT_THAT(refused(samples), HasSubstr("nothing is a sample here"));
  samples = watched_blocks(rng, {.programs = 12}, 60, 0, 1);
  samples.stopping = {};
  samples.estimators = {{report::Estimator::Kind::kMixed, 0.5}};
  EXPECT_THAT(refused(samples), HasSubstr("a report fits at most 500"));
  // A sequence's end is not reached.
  samples.stopping.rule = report::StoppingRule::kSequence;
  samples.stopping.first = 8;
  samples.stopping.max = 70;
  EXPECT_THAT(refused(samples), HasSubstr("no confidence sequence covers it"));
  // One link a side.
  samples = exported();
  for (report::Trial& trial : samples.trials) trial.link = 1;
  EXPECT_THAT(refused(with_layouts(std::move(samples))), HasSubstr("one layout a side"));
}

}  // namespace
}  // namespace stab::analysis
