// What lies between the sessions of a trend: against base R's numbers (tests/reference/analysis/trend_sessions.R), what counts as
// a session, and what is said of it.
#include "analysis/report/contrasts/trend_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/commands/bisect/series_trend.h"
#include "tests/places.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_series.h"

namespace stab::analysis {
namespace {

using ::testing::HasSubstr;
using Source = report::TrendSessions::Source;

report::TrendSession session_named(const std::string& name) { return {name, "vm", "boot-" + name}; }

struct SessionsValue {
  std::string from, to;
  double estimate, half, error, df;  // half: of the interval; error and df: of the blocks alone
};

struct SessionsCase {
  std::string name;
  std::vector<report::SeriesPart> parts;
  std::vector<SessionsValue> values;
  std::map<std::string, std::pair<double, double>> of_sd;  // tolerance, number
  size_t known = 0;
};

std::vector<SessionsCase> sessions_cases() {
  std::vector<SessionsCase> all;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/trend_sessions.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind;
    if (kind == "case") {
      all.emplace_back();
      words >> all.back().name;
    } else if (kind == "night") {
      size_t night = 0;
      words >> night >> name;
      all.back().parts.push_back(empty_part(night));
      all.back().parts.back().sessions = {session_named(name)};
    } else if (kind == "row") {
      size_t night = 0, block = 0;
      double value = 0;
      words >> night >> block >> name >> value;
      add_trial(all.back().parts[night - 1], name, static_cast<uint32_t>(block), value);
    } else if (kind == "value") {
      SessionsValue one;
      words >> one.from >> one.to >> one.estimate >> one.half >> one.error >> one.df;
      all.back().values.push_back(one);
    } else if (kind == "known") {
      words >> all.back().known;
    } else {
      std::pair<double, double> value;
      words >> value.first >> value.second;
      all.back().of_sd[kind] = value;
    }
    EXPECT_TRUE(words) << line;
  }
  return all;
}

const report::TrendPoint& level_of(const report::TrendLine& line, const std::string& level) {
  for (const report::TrendPoint& point : line.points)
    if (point.level == level) return point;
  ADD_FAILURE() << "no " << level;
  return line.points.front();
}

TEST(TrendSessions, AgreeWithR) {
  const std::vector<SessionsCase> all = sessions_cases();
  ASSERT_EQ(all.size(), 2U);
  size_t compared = 0;
  for (const SessionsCase& one : all) {
    for (const SessionsValue& value : one.values) {
      SCOPED_TRACE(one.name + ": " + value.from + ", " + value.to);
      const auto trend = report::trend_of(one.parts, {"revision", value.from});
      ASSERT_TRUE(trend) << trend.error().message;
      const report::TrendLine& line = trend->lines[0];
      const report::TrendPoint& point = level_of(line, value.to);
      ASSERT_TRUE(point.against_anchor);
      EXPECT_NEAR(std::log(point.against_anchor->estimate), value.estimate, 1e-9);
      EXPECT_NEAR(std::log(point.against_anchor->high / point.against_anchor->low) / 2 / value.half, 1, 3e-3);
      EXPECT_NEAR(point.within_error / value.error, 1, 1e-8);
      EXPECT_NEAR(point.within_df / value.df, 1, 1e-7);
      ++compared;
    }
    const auto trend = report::trend_of(one.parts, {});
    ASSERT_TRUE(trend) << trend.error().message;
    const report::TrendSessions& known = trend->lines[0].sessions;
    EXPECT_EQ(known.source, one.name == "chain" ? Source::kSteps : Source::kRepeats);
    EXPECT_EQ(one.name == "chain" ? known.steps : known.repeats, one.known);
    for (const auto& [key, ours] : {std::pair{"sd", known.sd}, std::pair{"low", known.low}, std::pair{"high", known.high}}) {
      const auto& [tolerance, theirs] = one.of_sd.at(key);
      EXPECT_NEAR(ours, theirs, tolerance * theirs + 1e-12) << one.name << " " << key;
    }
  }
  EXPECT_EQ(compared, 11U + 15U);
}

// Nights with the anchor, the night before's level and their own. Each level of a night errs by its own part.
std::vector<report::SeriesPart> wandering(size_t count, double between, uint64_t seed, bool chain = false) {
  Rng rng = Rng::stream(seed, "wandering");
  std::vector<report::SeriesPart> parts;
  for (size_t night = 1; night <= count; ++night) {
    std::vector<std::string> levels{"v" + std::to_string(night - 1), "v" + std::to_string(night)};
    if (night > 1 && !chain) levels.insert(levels.begin(), "v0");
    std::vector<double> effects;
    for (size_t i = 0; i < levels.size(); ++i) effects.push_back(between / std::sqrt(2) * standard_normal(rng));
    parts.push_back(made_part(night, levels, effects, 8, seed));
    parts.back().sessions = {session_named(std::to_string(night))};
  }
  return parts;
}

TEST(TrendSessions, AreFoundAndWidenIntervals) {
  const std::vector<report::SeriesPart> parts = wandering(30, 0.02, 4);
  const auto trend = report::trend_of(parts, {"", "v0"}), alone = report::trend_of(parts, {"", "v0", {}, true});
  ASSERT_TRUE(trend && alone);
  const report::TrendSessions& known = trend->lines[0].sessions;
  EXPECT_EQ(known.source, Source::kRepeats);
  EXPECT_EQ(known.repeats, 29U);
  EXPECT_NEAR(known.sd, 0.02, 0.007);
  EXPECT_LT(known.low, 0.02);
  EXPECT_GT(known.high, 0.02);
  ASSERT_TRUE(known.p_value);
  EXPECT_LT(*known.p_value, 1e-6);
  EXPECT_EQ(alone->lines[0].sessions.source, Source::kNone);
  for (size_t i = 1; i < trend->lines[0].points.size(); ++i) {
    const report::TrendPoint &wide = trend->lines[0].points[i], &narrow = alone->lines[0].points[i];
    EXPECT_LT(wide.step->low, narrow.step->low);
    EXPECT_GT(wide.step->high, narrow.step->high);
    EXPECT_EQ(wide.step_within->high, narrow.step->high);
    EXPECT_GE(wide.p_value, narrow.p_value);
    EXPECT_GE(wide.p_equivalence, narrow.p_equivalence);
  }
}

// What nights repeat knows nothing of what programs do.
TEST(TrendSessions, ChangesOfAProgramDoNotCount) {
  std::vector<report::SeriesPart> parts = wandering(20, 0.005, 5);
  const auto calm = report::trend_of(parts, {"", "v0"});
  for (report::SeriesPart& part : parts)
    for (report::Trial& trial : part.samples.trials) {
      const int version = std::stoi(part.samples.factors[1].levels[trial.levels[1]].substr(1));
      trial.values[0] = *trial.values[0] * (version % 3 == 1 ? 1.5 : 1) * (version > 9 ? 0.7 : 1);
    }
  const auto changed = report::trend_of(parts, {"", "v0"});
  ASSERT_TRUE(calm && changed);
  EXPECT_NEAR(changed->lines[0].sessions.sd / calm->lines[0].sessions.sd, 1, 1e-6);
}

// In a chain a few large steps are changes, and don't make every interval as wide.
TEST(TrendSessions, AChainTakesFewLargeStepsForChanges) {
  std::vector<report::SeriesPart> parts = wandering(24, 0.005, 6, true);
  const auto calm = report::trend_of(parts, {"", "v0"});
  for (report::SeriesPart& part : parts)
    for (report::Trial& trial : part.samples.trials)
      if (std::stoi(part.samples.factors[1].levels[trial.levels[1]].substr(1)) >= 12) trial.values[0] = *trial.values[0] * 1.3;
  const auto changed = report::trend_of(parts, {"", "v0"});
  ASSERT_TRUE(calm && changed);
  EXPECT_EQ(changed->lines[0].sessions.source, Source::kSteps);
  EXPECT_LT(changed->lines[0].sessions.sd, 2 * calm->lines[0].sessions.sd + 0.002);
  EXPECT_EQ(level_of(changed->lines[0], "v12").verdict, report::Verdict::kChanged);
}

TEST(TrendSessions, ExperimentsOfOneSessionRepeatNothing) {
  std::vector<report::SeriesPart> parts;
  for (size_t i = 1; i <= 6; ++i) {
    parts.push_back(made_part(i, {"v0", "v1"}, {0, 0}, 8));
    parts.back().sessions = {session_named("today")};
  }
  const auto same = report::trend_of(parts, {});
  for (size_t i = 0; i < parts.size(); ++i) parts[i].sessions = {session_named(std::to_string(i))};
  const auto apart = report::trend_of(parts, {});
  for (report::SeriesPart& part : parts) part.sessions.clear();
  const auto unknown = report::trend_of(parts, {});
  ASSERT_TRUE(same && apart && unknown);
  EXPECT_EQ(same->lines[0].sessions.repeats, 0U);
  EXPECT_EQ(same->lines[0].sessions.source, Source::kNone);
  EXPECT_EQ(apart->lines[0].sessions.repeats, 5U);
  EXPECT_EQ(unknown->lines[0].sessions.repeats, 5U);
}

TEST(TrendSessions, PartsThatShareASessionAreOne) {
  std::vector<report::SeriesPart> parts(4, empty_part(1));
  parts[0].sessions = {session_named("a")};
  parts[1].sessions = {session_named("b")};
  parts[2].sessions = {session_named("a"), session_named("b")};
  parts[3].sessions = {{"", "vm", ""}};
  EXPECT_EQ(report::session_numbers(parts), (std::vector<size_t>{0, 0, 0, 3}));
}

// A control of a logbook says what a series of two nights can't.
TEST(TrendSessions, ControlsOfALogbookCount) {
  report::TrendRequest request{"", "v0", {}, false};
  for (int64_t session = 0; session < 8; ++session)
    request.controls.push_back({session, "work", "wall_time", {session % 2 == 0 ? 0.03 : -0.03, 0.004, 30}});
  request.controls.push_back({9, "other", "wall_time", {0.5, 0.004, 30}});
  request.controls.push_back({9, "work", "cpu_time", {0.5, 0.004, 30}});
  const std::vector<report::SeriesPart> parts = wandering(2, 0, 7);
  const auto with = report::trend_of(parts, request), without = report::trend_of(parts, {"", "v0"});
  ASSERT_TRUE(with && without);
  EXPECT_EQ(without->lines[0].sessions.source, Source::kNone);
  EXPECT_EQ(with->lines[0].sessions.source, Source::kRepeats);
  EXPECT_EQ(with->lines[0].sessions.controls, 8U);
  EXPECT_NEAR(with->lines[0].sessions.sd, 0.03, 0.01);
  EXPECT_GT(level_of(with->lines[0], "v1").against_anchor->high, 1.01 * level_of(without->lines[0], "v1").against_anchor->high);
}

TEST(TrendSessions, AreInTextAndJson) {
  commands::TrendOptions options{.series = "nightly", .request = {"", "v0"}, .left_out = {}};
  options.width = 1000;
  const std::vector<report::SeriesPart> parts = wandering(12, 0.02, 8);
  EXPECT_THAT(commands::run_trend(parts, options).out, HasSubstr("by 11 comparisons that sessions repeat). Intervals and lasting "
                                                                 "changes allow for it."));
  EXPECT_THAT(commands::run_trend(wandering(12, 0.02, 8, true), options).out,
              HasSubstr("by 12 steps, of which one in ten may be"));
  EXPECT_THAT(commands::run_trend(wandering(2, 0, 8), options).out,
              HasSubstr("is not in the intervals: that takes 3 comparisons that sessions repeat, and there is 1."));
  const std::vector<report::SeriesPart> night = wandering(1, 0, 8);
  for (int64_t session = 0; session < 3; ++session)
    options.request.controls.push_back({session, "work", "wall_time", {0.01, 0.004, 30}});
  EXPECT_THAT(commands::run_trend(night, options).out, HasSubstr(", by 3 A/A controls). Intervals"));
  EXPECT_THAT(commands::run_trend(parts, options).out,
              HasSubstr(", by 11 comparisons that sessions repeat and 3 A/A controls)."));
  options.request.controls.clear();
  options.json = true;
  const auto json = nlohmann::json::parse(commands::run_trend(parts, options).out)["lines"][0];
  const auto& sessions = json["sessions"];
  EXPECT_EQ(sessions["source"], "repeats");
  EXPECT_EQ(sessions["in_interval"], true);
  EXPECT_EQ(sessions["repeats"], 11);
  EXPECT_GT(sessions["sd_high"], sessions["sd"]);
  EXPECT_GT(json["points"][2]["step"]["conf_high"], json["points"][2]["step_within"]["conf_high"]);
  EXPECT_GT(json["points"][2]["standard_error"], json["points"][2]["standard_error_within"]);
  const auto none = nlohmann::json::parse(commands::run_trend(wandering(2, 0, 8), options).out)["lines"][0]["sessions"];
  EXPECT_EQ(none["in_interval"], false);
  EXPECT_TRUE(none["sd"].is_null());
}

}  // namespace
}  // namespace stab::analysis
