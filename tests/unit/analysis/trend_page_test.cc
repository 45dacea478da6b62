// A trend as a page: where its lines and marks stand, and what it says in words. Chromium looks at it in
// tests/page/trend_page_test.
#include "analysis/page/trend_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "analysis/commands/bisect/series_trend.h"
#include "analysis/report/report_data/report_pen.h"
#include "tests/unit/analysis/made_series.h"

namespace stab::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

// What the first group of each match is.
std::vector<std::string> all_of(const std::string& text, const char* pattern) {
  const std::regex searched(pattern);
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), searched), end; at != end; ++at) out.push_back((*at)[1]);
  return out;
}

std::vector<double> numbers_of(const std::string& text, const char* pattern) {
  std::vector<double> out;
  for (const std::string& one : all_of(text, pattern)) out.push_back(std::stod(one));
  return out;
}

report::Trend made(const std::vector<report::SeriesPart>& parts) {
  const auto trend = commands::made_trend(parts, {.series = "nightly", .request = {"", "v0", {}, false}, .left_out = {}});
  EXPECT_TRUE(trend) << trend.error().message;
  return *trend;
}

std::string page_of(const report::Trend& trend) {
  return page::render_trend(trend, {"nightly", {}, "stabctl trend nightly --html trend.html", {}, {}});
}

// Slower by 3 % from v5 on, and by 2 % less from v10 on.
std::vector<report::SeriesPart> up_and_down() {
  std::vector<report::SeriesPart> parts = nights(14, false, [](size_t i) { return i < 5 ? 0 : i < 10 ? 0.03 : 0.01; });
  add_commits(parts, "/srv/our tree");
  return parts;
}

constexpr char kInterval[] = "<g class=\"interval [a-z]+\"><line x1=\"([0-9.]+)\"";

TEST(TrendPage, AChangeForTheWorseAndOneForTheBetterStandBetweenTheirCommits) {
  const report::Trend trend = made(up_and_down());
  const std::vector<report::TrendChange>& found = trend.lines[0].changes.found;
  ASSERT_EQ(found.size(), 2u);
  ASSERT_EQ(found[0].point, 5u);
  ASSERT_EQ(found[1].point, 10u);
  const std::string page = page_of(trend);
  // v0 is the anchor and has no interval, so the first one is of v1.
  const std::vector<double> marks = numbers_of(page, kInterval);
  ASSERT_EQ(marks.size(), 14u);
  const std::vector<double> changes = numbers_of(page, "<line x1=\"([0-9.]+)\"[^>]* class=\"run-change\"");
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(marks[3] < changes[0] && changes[0] < marks[4]) << changes[0];
  EXPECT_TRUE(marks[8] < changes[1] && changes[1] < marks[9]) << changes[1];
  const std::string up = report::difference_text(trend.response, found[0].shift);
  const std::string down = report::difference_text(trend.response, found[1].shift);
  ASSERT_TRUE(up.starts_with("+") && down.starts_with("-")) << up << " " << down;
  EXPECT_THAT(all_of(page, "class=\"label strong\">([^<]+)<"),
              ElementsAre(up + " in release/v4..release/v5", down + " in release/v9..release/v10"));
  EXPECT_THAT(all_of(page, "<li class=\"answer\"><div><strong class=\"([^\"]+)\">"), ElementsAre("word-worse", "word-better"));
  EXPECT_THAT(all_of(page, "which of them: <code>([^<]+)</code>"),
              ElementsAre("cd '/srv/our tree' &amp;&amp; stabctl bisect release/v4..release/v5",
                          "cd '/srv/our tree' &amp;&amp; stabctl bisect release/v9..release/v10 --faster"));
  EXPECT_THAT(page, HasSubstr("First measured: v4 in 2026-11-13 on vm (boot aaaaaaaa); v5 in 2026-11-14 on vm (boot aaaaaaaa)."));
  EXPECT_EQ(count_of(page, "class=\"run-level\""), 3u);
  EXPECT_EQ(count_of(page, ", lasting change</td>"), 2u);
}

// Heights are values: of the ends of an interval, of a mean, and of the margin.
TEST(TrendPage, HeightsAreWhatTheTrendSays) {
  const report::Trend trend = made(up_and_down());
  const report::TrendLine& line = trend.lines[0];
  const std::string page = page_of(trend);
  const std::vector<double> low = numbers_of(page, "<g class=\"interval [a-z]+\"><line x1=\"[0-9.]+\" y1=\"([0-9.]+)\"");
  const std::vector<double> high = numbers_of(page, "<g class=\"interval [a-z]+\"><line [^>]*y2=\"([0-9.]+)\"");
  ASSERT_EQ(low.size(), 14u);
  // Two known heights make the scale of all others.
  const double zero = numbers_of(page, "y1=\"([0-9.]+)\"[^>]* class=\"zero\"").at(0);
  const double pixels = (zero - high[13]) / (line.points[14].against_anchor->high - 1);
  for (size_t i = 0; i < 14; ++i) {
    EXPECT_NEAR(zero - low[i], pixels * (line.points[i + 1].against_anchor->low - 1), 0.3) << i;
    EXPECT_NEAR(zero - high[i], pixels * (line.points[i + 1].against_anchor->high - 1), 0.3) << i;
  }
  const std::vector<double> means = numbers_of(page, "y1=\"([0-9.]+)\"[^>]* class=\"run-level\"");
  ASSERT_EQ(means.size(), line.changes.segments.size());
  for (size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(zero - means[i], pixels * (line.changes.segments[i].mean - 1), 0.3);
  EXPECT_NEAR(numbers_of(page, "height=\"([0-9.]+)\" class=\"band\"").at(0), 2 * pixels * std::expm1(line.margin), 0.3);
  for (const report::TrendPoint& point : line.points)
    if (point.against_anchor) {
      const std::string interval = report::interval_text(trend.response, *point.against_anchor);
      EXPECT_THAT(page, HasSubstr("<td class=\"unbroken\">" + interval + "</td>"));
    }
}

// What lies between sessions widens an interval, whose heavy part stays that of the blocks.
TEST(TrendPage, WhatTheBlocksAloneSayIsHeavy) {
  std::vector<report::SeriesPart> parts = up_and_down();
  const report::Trend wide = made(parts);
  ASSERT_NE(wide.lines[0].sessions.source, report::TrendSessions::Source::kNone);
  const std::string page = page_of(wide);
  EXPECT_EQ(count_of(page, "class=\"thick\""), 14u);
  EXPECT_THAT(page, HasSubstr("Between sessions (machine, boot, day) equal levels differ by"));
  const report::Trend alone = made({parts[0], parts[1]});
  ASSERT_EQ(alone.lines[0].sessions.source, report::TrendSessions::Source::kNone);
  EXPECT_EQ(count_of(page_of(alone), "class=\"thick\""), 0u);
  EXPECT_THAT(page_of(alone), HasSubstr("Lasting changes were not asked for"));
}

TEST(TrendPage, NothingThatChangedIsSaid) {
  const std::string page = page_of(made(nights(6, false, [](size_t) { return 0; })));
  EXPECT_THAT(page, HasSubstr("No lasting change at 5 % (p "));
  EXPECT_EQ(count_of(page, "run-change"), count_of(page, ".run-change"));  // the style's alone
}

TEST(TrendPage, NamesAreNoMarkup) {
  std::vector<report::SeriesPart> parts = up_and_down();
  for (report::SeriesPart& part : parts) {
    part.name = "<i>" + part.name;
    part.revisions.reset();
    for (std::string& level : part.samples.factors[1].levels) level += "</td><b onload=\"x\">&";
  }
  const auto trend = commands::made_trend(parts, {.series = "<u>", .request = {}, .left_out = {}});
  ASSERT_TRUE(trend) << trend.error().message;
  page::LoggedFinding gate{"2026-11-20", "<s>", "<em>", "wall_time", {0.01, 0.002, 39}, "<q>", "<a>", "<p>", 3, true};
  const std::string page = page::render_trend(*trend, {"<u>", {"<h6>"}, "<var>", {gate}, {gate}});
  for (const char* markup : {"<i>", "<b ", "<u>", "<s>", "<em>", "<q>", "<a>", "<p><", "<h6>", "<var>", "onload=\""})
    EXPECT_THAT(page, Not(HasSubstr(markup)));
  EXPECT_THAT(page, HasSubstr("&lt;h6&gt;"));
}

TEST(TrendPage, WorkloadsWithoutNewsAreFolded) {
  std::vector<report::SeriesPart> parts = up_and_down();
  for (report::SeriesPart& part : parts) {
    part.samples.workloads.push_back("calm");
    const size_t trials = part.samples.trials.size();
    for (size_t i = 0; i < trials; ++i) {
      report::Trial trial = part.samples.trials[i];
      trial.workload = 1;
      trial.order += 1000;
      const auto noise = static_cast<double>((i * 7919) % 13);
      trial.values = {1 + 1e-3 * noise};
      part.samples.trials.push_back(trial);
    }
  }
  const report::Trend trend = made(parts);
  ASSERT_EQ(trend.lines.size(), 3u);
  const std::string page = page_of(trend);
  const size_t fold =
      page.find("<details class=\"fold\">\n<summary>1 workload in which nothing is shown to have changed</summary>");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_LT(page.find("<h2>all 2 workloads, as given</h2>"), fold);
  EXPECT_LT(page.find("<h2>work</h2>"), fold);
  EXPECT_GT(page.find("<h2>calm</h2>"), fold);
}

// A year of nights takes no more room than a week, and leaves names out.
TEST(TrendPage, ManyLevelsFitIn) {
  report::Trend trend = made(up_and_down());
  report::TrendLine& line = trend.lines[0];
  line.changes.found.clear();
  const report::TrendPoint last = line.points.back();
  while (line.points.size() < 365) {
    line.points.push_back(last);
    line.points.back().level = "v" + std::to_string(line.points.size() - 1);
  }
  const std::string page = page_of(trend);
  const std::vector<double> marks = numbers_of(page, kInterval);
  ASSERT_EQ(marks.size(), 364u);
  EXPECT_GT(marks.front(), 0);
  EXPECT_LT(marks.back(), 1072);
  EXPECT_THAT(page, HasSubstr("viewBox=\"0 0 1072.0 "));
  const size_t names = count_of(page, "text-anchor=\"end\" class=\"label \" transform");
  EXPECT_TRUE(names > 20 && names < 80) << names;
}

TEST(TrendPage, ALogbookIsTold) {
  const report::Trend trend = made(up_and_down());
  page::TrendPage about{"nightly", {}, "again", {}, {}};
  EXPECT_THAT(page::render_trend(trend, about), Not(HasSubstr("What gates said")));
  about.controls = {{"2026-11-20", "vm", "work", "wall_time", {-0.001, 0.002, 39}, "", "", "", 0, false}};
  about.gates = {
      {"2026-11-21", "vm", "work", "wall_time", {0.001, 0.002, 39}, "pulls", "0123456789abcdef", "fedcba9876543210", -1, false},
      {"2026-11-22", "vm", "work", "wall_time", {0.03, 0.002, 39}, "pulls", "0123456789abcdef", "abcdef0123456789", 30, true}};
  std::string page = page::render_trend(trend, about);
  EXPECT_THAT(page, HasSubstr("<h2>A/A controls of the logbook</h2>"));
  // 2.0227 standard errors of 39 degrees of freedom
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">-0.10 %</td><td class=\"unbroken\">[-0.50, +0.31] %</td>"));
  const size_t newest = page.find("0123456789ab..abcdef012345"), before = page.find("0123456789ab..fedcba987654");
  EXPECT_LT(newest, before) << "the newest first";
  EXPECT_THAT(page, HasSubstr("<td class=\"word-worse\">worse</td><td class=\"number\">1e13</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"word-unsure\">not called worse</td><td class=\"number\">0.368</td>"));
  about.gates.resize(201, about.gates[0]);
  page = page::render_trend(trend, about);
  EXPECT_EQ(count_of(page, "..fedcba987654"), 199u) << "200 rows, of which one is another pair's";
  EXPECT_THAT(page, HasSubstr("The newest 200 of 201."));
}

}  // namespace
}  // namespace stab::analysis
