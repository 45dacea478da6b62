// Series of experiments: against metafor's numbers (tests/reference/analysis/trend.R), and what can't be compared is said.
#include "analysis/report/contrasts/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>

#include "analysis/commands/bisect/series_trend.h"
#include "analysis/statistics/models/arm_network.h"
#include "tests/places.h"
#include "tests/unit/analysis/made_series.h"

namespace stab::analysis {
namespace {

struct Value {
  std::string from, to;
  double estimate, standard_error, df;
};

struct Case {
  std::string name;
  std::vector<report::SeriesPart> parts;
  std::vector<Value> values;
  double q = 0;
  size_t q_df = 0;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/trend.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "case") {
      all.emplace_back();
      words >> all.back().name;
    } else if (kind == "row") {
      size_t night = 0, block = 0;
      std::string level;
      double value = 0;
      words >> night >> block >> level >> value;
      while (all.back().parts.size() < night) all.back().parts.push_back(empty_part(all.back().parts.size() + 1));
      add_trial(all.back().parts[night - 1], level, static_cast<uint32_t>(block), value);
    } else if (kind == "value") {
      Value value;
      words >> value.from >> value.to >> value.estimate >> value.standard_error >> value.df;
      all.back().values.push_back(value);
    } else {
      words >> all.back().q >> all.back().q_df;
    }
    EXPECT_TRUE(words) << line;
  }
  return all;
}

const report::TrendPoint& point_of(const report::TrendLine& line, std::string_view level) {
  for (const report::TrendPoint& point : line.points)
    if (point.level == level) return point;
  ADD_FAILURE() << "no " << level;
  return line.points.front();
}

TEST(Trend, AgreesWithMetafor) {
  const std::vector<Case> all = cases();
  ASSERT_EQ(all.size(), 3U);
  size_t compared = 0;
  for (const Case& one : all)
    for (const Value& value : one.values) {
      SCOPED_TRACE(one.name + ": " + value.from + ", " + value.to);
      const auto trend = report::trend_of(one.parts, {"revision", value.from, {}, true});
      ASSERT_TRUE(trend) << trend.error().message;
      ASSERT_EQ(trend->lines.size(), 1U);
      const report::TrendPoint& point = point_of(trend->lines[0], value.to);
      ASSERT_TRUE(point.against_anchor);
      EXPECT_NEAR(std::log(point.against_anchor->estimate), value.estimate, 1e-9);
      EXPECT_NEAR(point.standard_error / value.standard_error, 1, 1e-8);
      EXPECT_NEAR(point.df / value.df, 1, 1e-7);
      EXPECT_NEAR(trend->lines[0].q, one.q, 1e-7);
      EXPECT_EQ(trend->lines[0].q_df, one.q_df);
      ++compared;
    }
  EXPECT_EQ(compared, 6U + 15U + 3U);
}

// A night that compares v0, v1 and one that compares v1, v2 say how v2 stands against v0, with the errors of both.
TEST(Trend, AChainHasTheErrorsOfItsLinks) {
  const std::vector<report::SeriesPart> parts = {made_part(1, {"v0", "v1"}, {0, 0.1}, 12),
                                                 made_part(2, {"v1", "v2"}, {0.1, 0.3}, 12)};
  const auto trend = report::trend_of(parts, {"", "v0"});
  ASSERT_TRUE(trend) << trend.error().message;
  EXPECT_EQ(trend->factor, "revision");
  const report::TrendLine& line = trend->lines[0];
  const report::TrendPoint &first = point_of(line, "v1"), &second = point_of(line, "v2");
  ASSERT_TRUE(second.step && second.against_anchor && first.against_anchor);
  EXPECT_EQ(second.before, "v1");
  EXPECT_EQ(first.before, "v0");
  EXPECT_NEAR(second.against_anchor->estimate, first.against_anchor->estimate * second.step->estimate, 1e-12);
  EXPECT_GT(second.standard_error, first.standard_error);
  EXPECT_EQ(first.verdict, report::Verdict::kChanged);
  EXPECT_EQ(second.verdict, report::Verdict::kChanged);
  EXPECT_EQ(line.q_df, 0U);
  EXPECT_EQ(second.since, "2");
}

TEST(Trend, WhatNoChainLeadsToIsSaid) {
  const std::vector<report::SeriesPart> parts = {made_part(1, {"v0", "v1"}, {0, 0}, 8), made_part(2, {"v2", "v3"}, {0, 0}, 8)};
  const auto trend = report::trend_of(parts, {"", "v0"});
  ASSERT_TRUE(trend) << trend.error().message;
  const report::TrendPoint& lost = point_of(trend->lines[0], "v2");
  EXPECT_FALSE(lost.against_anchor);
  EXPECT_NE(lost.refused.find("no chain of experiments leads from 'v0'"), std::string::npos);
  EXPECT_FALSE(lost.step);
  EXPECT_TRUE(point_of(trend->lines[0], "v3").step);  // its own night has both
}

// A plain binary a side: a night like that compares luck, as its report says, and is no part of a chain.
TEST(Trend, OneLayoutASideIsLeftOut) {
  std::vector<report::SeriesPart> parts = {made_part(1, {"v0", "v1"}, {0, 0}, 8), made_part(2, {"v0", "v2"}, {0, 0.2}, 8)};
  for (report::Trial& trial : parts[1].samples.trials) {
    trial.fixed_code = true;
    trial.layout = trial.levels[1];
  }
  parts[1].samples.factors[0] = {.name = "code", .levels = {"off"}, .layout = true, .fixed = {true}};
  const auto trend = report::trend_of(parts, {"", "v0"});
  ASSERT_TRUE(trend) << trend.error().message;
  ASSERT_EQ(trend->left_out.size(), 1U);
  EXPECT_NE(trend->left_out[0].find("2: work, one layout a side"), std::string::npos) << trend->left_out[0];
  ASSERT_EQ(trend->lines[0].points.size(), 2U);
}

TEST(Trend, NightsThatContradictEachOtherShowIt) {
  const std::vector<report::SeriesPart> parts = {made_part(1, {"v0", "v1"}, {0, 0.2}, 10),
                                                 made_part(2, {"v0", "v1"}, {0, -0.2}, 10)};
  const auto trend = report::trend_of(parts, {});
  ASSERT_TRUE(trend) << trend.error().message;
  EXPECT_EQ(trend->lines[0].q_df, 1U);
  EXPECT_LT(trend->lines[0].q_p, 1e-6);
  commands::TrendOptions options;
  options.series = "nightly";
  const commands::CommandOutput output = commands::run_trend(parts, options);
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_NE(output.out.find("contradict each other"), std::string::npos) << output.out;
}

TEST(Trend, SeveralWorkloadsHaveALineEach) {
  report::SeriesPart part = made_part(1, {"v0", "v1"}, {0, 0.1}, 10);
  part.samples.workloads.push_back("other");
  const size_t trials = part.samples.trials.size();
  for (size_t i = 0; i < trials; ++i) {
    report::Trial trial = part.samples.trials[i];
    trial.workload = 1;
    trial.order += 1000;
    trial.values = {2 * *trial.values[0] * (trial.levels[1] == 1 ? 0.9 : 1.001)};
    part.samples.trials.push_back(trial);
  }
  const auto trend = report::trend_of({part}, {});
  ASSERT_TRUE(trend) << trend.error().message;
  ASSERT_EQ(trend->lines.size(), 3U);
  EXPECT_EQ(trend->lines[0].workload, "");
  EXPECT_EQ(trend->lines[1].workload, "work");
  EXPECT_EQ(trend->lines[2].workload, "other");
  commands::TrendOptions options;
  options.series = "nightly";
  EXPECT_NE(commands::run_trend({part}, options).out.find("work: v0 to v1"), std::string::npos)
      << commands::run_trend({part}, options).out;
  options.full = true;
  EXPECT_NE(commands::run_trend({part}, options).out.find("other"), std::string::npos);
}

// The errors that changes are judged by are those of the differences: of any two levels, chained or not.
TEST(Trend, ErrorsOfLevelsGiveTheErrorsOfTheirDifferences) {
  const std::vector<statistics::ArmContrasts> nights = {{{0, 1}, {0.1}, {0.04}, 7, 8},
                                            {{0, 1, 2}, {0.1, 0.2}, {0.05, 0.02, 0.02, 0.06}, 5, 6},
                                            {{2, 3}, {0.3}, {0.09}, 9, 10}};
  const auto network = statistics::ArmNetwork::fit(4, nights);
  ASSERT_TRUE(network);
  const std::vector<size_t> arms{2, 0, 3, 1};
  const std::vector<statistics::ArmErrors> errors = network->errors_of(arms);
  ASSERT_EQ(errors.size(), 3U);
  for (size_t i = 0; i < arms.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      double variance = 0;
      for (const statistics::ArmErrors& part : errors)
        for (size_t term = 0; term < part.terms; ++term)
          variance += std::pow(part.loadings[i * part.terms + term] - part.loadings[j * part.terms + term], 2);
      const double error = network->difference(arms[j], arms[i], 0.95).standard_error;
      EXPECT_NEAR(std::sqrt(variance) / error, 1, 1e-12) << arms[j] << " and " << arms[i];
    }
}

// tests/reference/analysis/trend_changes.R: the first split, its Q, and its p from 20,000 series. Ours is from 199.
TEST(Trend, ChangesAgreeWithR) {
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/trend_changes.txt");
  const std::vector<Case> all = cases();
  size_t compared = 0;
  std::string name;
  size_t at = 0;
  double q = 0, p = 0;
  while (file >> name >> at >> q >> p) {
    SCOPED_TRACE(name);
    const auto of = std::find_if(all.begin(), all.end(), [&](const Case& one) { return one.name == name; });
    ASSERT_NE(of, all.end());
    const auto trend = report::trend_of(of->parts, {"revision", "v0", {}, true});
    ASSERT_TRUE(trend) << trend.error().message;
    const report::TrendChanges& changes = trend->lines[0].changes;
    ASSERT_TRUE(changes.asked) << changes.refused;
    ++compared;
    if (p > 0.05) {
      EXPECT_TRUE(changes.found.empty());
      ASSERT_TRUE(changes.p_of_next);
      EXPECT_NEAR(*changes.p_of_next, p, 4 * std::sqrt(p * (1 - p) / 199));
      continue;
    }
    const auto first = std::find_if(changes.found.begin(), changes.found.end(),
                                    [&](const report::TrendChange& one) { return one.point == at; });
    ASSERT_NE(first, changes.found.end());
    EXPECT_NEAR(first->statistic / q, 1, 1e-8);
    EXPECT_NEAR(first->p_value, p, 4 * std::sqrt(p * (1 - p) / 199) + 1.0 / 200);
  }
  EXPECT_EQ(compared, 2U);
}

TEST(Trend, AShiftThatNoStepShowsIsFound) {
  // 0.9 % in one step, whose interval is about +-1.4 %.
  const std::vector<report::SeriesPart> parts = nights(16, false, [](size_t i) { return i < 8 ? 0 : 0.009; });
  const auto trend = report::trend_of(parts, {"", "v0"});
  ASSERT_TRUE(trend) << trend.error().message;
  const report::TrendLine& line = trend->lines[0];
  EXPECT_NE(point_of(line, "v8").verdict, report::Verdict::kChanged);
  ASSERT_TRUE(line.changes.asked) << line.changes.refused;
  ASSERT_EQ(line.changes.found.size(), 1U);
  const report::TrendChange& change = line.changes.found[0];
  EXPECT_NEAR(static_cast<double>(change.point), 8, 1);
  EXPECT_NEAR(std::log(change.shift), 0.009, 0.004);
  EXPECT_LE(change.p_value, 0.05);
  EXPECT_EQ(change.levels_before + change.levels_after, line.points.size());
  ASSERT_EQ(line.changes.segments.size(), 2U);
  EXPECT_EQ(line.changes.segments[1].first, change.point);
  EXPECT_NEAR(line.changes.segments[1].mean / line.changes.segments[0].mean, change.shift, 1e-12);
}

TEST(Trend, ChangesDontDependOnTheAnchor) {
  const std::vector<report::SeriesPart> parts = nights(12, false, [](size_t i) { return i < 6 ? 0 : 0.02; });
  const auto one = report::trend_of(parts, {"", "v0"}), other = report::trend_of(parts, {"", "v9"});
  ASSERT_TRUE(one && other);
  const report::TrendChanges &first = one->lines[0].changes, &second = other->lines[0].changes;
  ASSERT_EQ(first.found.size(), second.found.size());
  ASSERT_FALSE(first.found.empty());
  EXPECT_EQ(first.found[0].point, second.found[0].point);
  EXPECT_NEAR(first.found[0].shift, second.found[0].shift, 1e-9);
  EXPECT_NEAR(first.found[0].statistic / second.found[0].statistic, 1, 1e-9);
}

TEST(Trend, FewLevelsAreNotAskedForChanges) {
  const auto trend = report::trend_of(nights(2, false, [](size_t) { return 0; }), {});
  ASSERT_TRUE(trend) << trend.error().message;
  EXPECT_FALSE(trend->lines[0].changes.asked);
  EXPECT_NE(trend->lines[0].changes.refused.find("4 levels and more"), std::string::npos) << trend->lines[0].changes.refused;
}

TEST(Trend, ChangesAreInTextAndJson) {
  const std::vector<report::SeriesPart> parts = nights(12, false, [](size_t i) { return i < 6 ? 0 : 0.02; });
  commands::TrendOptions options;
  options.series = "nightly";
  const std::string text = commands::run_trend(parts, options).out;
  EXPECT_NE(text.find("a lasting change at v6"), std::string::npos) << text;
  options.json = true;
  const std::string json = commands::run_trend(parts, options).out;
  for (const char* words : {"\"scale\": \"log\"", "\"levels_before\"", "\"segments\"", "\"p_of_next\""})
    EXPECT_NE(json.find(words), std::string::npos) << words << json;
  const std::string calm =
      commands::run_trend(nights(6, false, [](size_t) { return 0; }), {.series = "nightly", .request = {}, .left_out = {}}).out;
  EXPECT_NE(calm.find("Lasting changes: none at 5 %"), std::string::npos) << calm;
  std::vector<report::SeriesPart> linear = nights(6, false, [](size_t) { return 0; });
  for (report::SeriesPart& part : linear) part.samples.responses[0].scale = report::Scale::kLinear;
  EXPECT_NE(commands::run_trend(linear, options).out.find("\"scale\": \"linear\""), std::string::npos);
}

// Twelve nights, which have changed by `shift` from v6 on; each day has a session of its own, and the machine was booted once.
std::vector<report::SeriesPart> nights_of_commits(double shift, const std::string& repository) {
  std::vector<report::SeriesPart> parts = nights(12, false, [&](size_t i) { return i < 6 ? 0 : shift; });
  add_commits(parts, repository);
  return parts;
}

TEST(Trend, AChangeNamesItsSessionsAndItsCommits) {
  commands::TrendOptions options;
  options.series = "nightly";
  options.width = 1000;
  const std::vector<report::SeriesPart> parts = nights_of_commits(0.02, "/srv/our tree");
  const std::string text = commands::run_trend(parts, options).out;
  EXPECT_NE(text.find("(slower) from the 6 before"), std::string::npos) << text;
  EXPECT_NE(text.find("first measured: v5 in 2026-11-14 on vm (boot aaaaaaaa); v6 in 2026-11-15 on vm (boot bbbbbbbb); the "
                      "machine was booted in between\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n      cd '/srv/our tree' && stabctl bisect release/v5..release/v6\n"), std::string::npos) << text;
  options.json = true;
  const std::string json = commands::run_trend(parts, options).out;
  for (const char* words : {"\"before\": \"v5\"", "\"direction\": \"worse\"", "\"range\": \"release/v5..release/v6\"",
                            "\"repository\": \"/srv/our tree\"", "\"machine\": \"vm\""})
    EXPECT_NE(json.find(words), std::string::npos) << words << json;
}

TEST(Trend, AnImprovementIsACommitToFindToo) {
  commands::TrendOptions options;
  options.series = "nightly";
  std::vector<report::SeriesPart> parts = nights_of_commits(-0.02, "https://example.org/tree.git");
  std::string text = commands::run_trend(parts, options).out;
  EXPECT_NE(text.find("(faster)"), std::string::npos) << text;
  EXPECT_NE(text.find("\n      stabctl bisect release/v5..release/v6 --faster\n"), std::string::npos) << text;
  // The same numbers of a throughput are a loss.
  for (report::SeriesPart& part : parts) {
    part.samples.responses[0].unit = "1/s";
    part.samples.responses[0].higher_is_better = true;
  }
  text = commands::run_trend(parts, options).out;
  EXPECT_NE(text.find("(lower)"), std::string::npos) << text;
  EXPECT_EQ(text.find("--faster"), std::string::npos) << text;
}

TEST(Trend, WhatIsNoCommitIsSaid) {
  commands::TrendOptions options;
  options.series = "nightly";
  options.width = 1000;
  std::vector<report::SeriesPart> parts = nights_of_commits(0.02, "/srv/tree");
  parts[5].revisions->repository = "/srv/other";
  EXPECT_NE(commands::run_trend(parts, options).out.find("'v5' and 'v6' build commits of different repositories"),
            std::string::npos);
  for (report::SeriesPart& part : parts) {
    part.revisions.reset();
    part.sessions.clear();
  }
  std::string text = commands::run_trend(parts, options).out;
  EXPECT_NE(text.find("its commits are not known: 'v5' is no commit that is known"), std::string::npos) << text;
  EXPECT_NE(text.find("v6 in a session that was not recorded"), std::string::npos) << text;
  // A level that reads like a commit's number is one.
  for (report::SeriesPart& part : parts)
    for (std::string& level : part.samples.factors[1].levels) level = "c0ffee" + level.substr(1);
  text = commands::run_trend(parts, options).out;
  EXPECT_NE(text.find("\n      stabctl bisect c0ffee5..c0ffee6\n"), std::string::npos) << text;
}

TEST(Trend, QuestionsThatHaveNoAnswerSayWhy) {
  const std::vector<report::SeriesPart> one = {made_part(1, {"v0", "v1"}, {0, 0}, 8)};
  const auto why = [](const Result<report::Trend>& trend) { return trend ? std::string() : trend.error().message; };
  EXPECT_NE(why(report::trend_of({}, {})).find("no experiment that is over"), std::string::npos);
  EXPECT_NE(why(report::trend_of(one, {"speed", ""})).find("no treatment 'speed'; it has 'revision'"), std::string::npos);
  EXPECT_NE(why(report::trend_of(one, {"", "v9"})).find("'revision = v9'"), std::string::npos);
  std::vector<report::SeriesPart> two = one;
  two[0].samples.factors.push_back({.name = "opt", .levels = {"a", "b"}});
  for (report::Trial& trial : two[0].samples.trials) trial.levels.push_back(trial.block % 2);
  EXPECT_NE(why(report::trend_of(two, {})).find("name one with --factor"), std::string::npos);
}

TEST(Trend, ANightWithAValueOfZeroIsLeftOutAndSaid) {
  std::vector<report::SeriesPart> parts;
  for (size_t night = 1; night <= 3; ++night)
    parts.push_back(made_part(night, {"v" + std::to_string(night), "v" + std::to_string(night + 1)}, {0, 0}, 8));
  parts[1].samples.trials[3].values = {0.0};
  const auto trend = report::trend_of(parts, {});
  ASSERT_TRUE(trend) << trend.error().message;
  ASSERT_EQ(trend->left_out.size(), 1U);
  EXPECT_EQ(trend->left_out[0].find("2: trial 3"), 0U) << trend->left_out[0];
  EXPECT_NE(trend->left_out[0].find("wall_time is 0, which has no logarithm"), std::string::npos) << trend->left_out[0];
  ASSERT_EQ(trend->lines.size(), 1U);
  EXPECT_EQ(trend->lines[0].points.size(), 4U);
  EXPECT_FALSE(point_of(trend->lines[0], "v4").against_anchor) << "no sound night leads there";
  for (const bool json : {false, true}) {
    commands::TrendOptions options;
    options.series = "nightly";
    options.json = json;
    const commands::CommandOutput shown = commands::run_trend(parts, options);
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_EQ(shown.out.find("nan"), std::string::npos) << shown.out;
    EXPECT_EQ(shown.out.find("NaN"), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("has no logarithm"), std::string::npos) << shown.out;
  }
  for (const size_t night : {0, 2}) parts[night].samples.trials[0].values = {0.0};
  const auto nothing = report::trend_of(parts, {});
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("has no logarithm"), std::string::npos) << nothing.error().message;
}

}  // namespace
}  // namespace stab::analysis
