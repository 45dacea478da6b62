// A new session against stored ones: R's prediction intervals, how often equal programs are called slower, and files that are
// none.
#include "analysis/commands/time/stored_baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "analysis/commands/time/time_answer.h"
#include "tests/places.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_sliced.h"

namespace stab::analysis {
namespace {

using namespace commands;
using ::testing::HasSubstr;

// Each on a day of its own.
std::vector<StoredTiming> sessions(const std::vector<double>& logs) {
  std::vector<StoredTiming> out;
  for (const double log : logs)
    out.push_back({.day = "day " + std::to_string(out.size()),
                   .boot = "b",
                   .cpu = "Z80",
                   .arguments = "20",
                   .randomized = true,
                   .log_cpu_s = log,
                   .runs = 40});
  return out;
}

StoredTiming now_of(double log) {
  StoredTiming now = sessions({log})[0];
  now.day = "today";
  return now;
}

BaselineAnswer answered(const std::vector<StoredTiming>& stored, const StoredTiming& now, double margin = 0.01) {
  const auto answer = against_baseline(stored, now, margin);
  EXPECT_TRUE(answer) << answer.error().text();
  return answer ? *answer : BaselineAnswer{};
}

TEST(StoredBaseline, IntervalsAreThoseOfR) {
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/prediction.txt");
  struct Prediction {
    std::vector<double> stored;
    double now = 0;
    std::map<std::string, double> values;
  };
  std::vector<Prediction> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, key;
    double number = 0;
    words >> kind;
    if (kind == "case") cases.emplace_back();
    if (kind == "value") words >> key;
    words >> number;
    if (kind == "stored") cases.back().stored.push_back(number);
    if (kind == "now") cases.back().now = number;
    if (kind == "value") cases.back().values[key] = number;
  }
  ASSERT_EQ(cases.size(), 5u);
  for (const Prediction& one : cases) {
    const BaselineAnswer answer = answered(sessions(one.stored), now_of(one.now));
    ASSERT_TRUE(answer.ratio);
    EXPECT_EQ(answer.sessions, one.stored.size());
    EXPECT_NEAR(std::log(answer.before_s), one.values.at("mean"), 1e-9);
    EXPECT_NEAR(*answer.between_sd, one.values.at("sd"), 1e-9);
    EXPECT_NEAR(std::log(*answer.low), one.values.at("low"), 1e-9);
    EXPECT_NEAR(std::log(*answer.high), one.values.at("high"), 1e-9);
    // "Not slower" begins where the margin reaches R's upper end of 90 %.
    const double upper = std::expm1(one.values.at("upper"));
    if (upper <= 0) continue;
    EXPECT_EQ(answered(sessions(one.stored), now_of(one.now), upper * 1.001).worse, report::Worse::kNo);
    EXPECT_NE(answered(sessions(one.stored), now_of(one.now), upper * 0.999).worse, report::Worse::kNo);
  }
}

// Sessions differ by 4 %, as on shared machines. "Slower" has 2.5 %, and "not slower" of what is slower by the margin 5 %.
TEST(StoredBaseline, ErrsAsSeldomAsItSays) {
  Rng rng(5);
  const auto normal = [&] { return standard_normal(rng); };
  constexpr int kTimes = 4000;
  for (const int k : {2, 3, 5, 12}) {
    int slower = 0, fine = 0, held = 0;
    for (int i = 0; i < kTimes; ++i) {
      std::vector<double> logs;
      for (int session = 0; session < k; ++session) logs.push_back(-1 + 0.04 * normal());
      const double noise = 0.04 * normal();
      const BaselineAnswer equal = answered(sessions(logs), now_of(-1 + noise), 0.3);
      slower += equal.worse == report::Worse::kYes;
      held += *equal.low <= 1 && 1 <= *equal.high;
      fine += answered(sessions(logs), now_of(-1 + std::log1p(0.3) + noise), 0.3).worse == report::Worse::kNo;
    }
    const auto share = [&](int n) { return static_cast<double>(n) / kTimes; };
    EXPECT_LE(share(slower), 0.025 + 0.008) << k;
    EXPECT_NEAR(share(held), 0.95, 0.013) << k;
    EXPECT_NEAR(share(fine), 0.05, 0.013) << k;
  }
}

TEST(StoredBaseline, ASessionCountsOnceAndOtherMachinesDoNot) {
  std::vector<StoredTiming> stored = sessions({-1.0, -1.2, -1.15});
  stored[1].day = stored[0].day;  // the same boot, too: one session, of -1.1
  stored.push_back(now_of(5));
  stored.back().cpu = "another";
  const BaselineAnswer answer = answered(stored, now_of(-1.05));
  EXPECT_EQ(answer.sessions, 2u);
  EXPECT_EQ(answer.left_out, 1u);
  EXPECT_NEAR(answer.before_s, std::exp(-1.125), 1e-12);
  EXPECT_THAT(baseline_text(answer, "base.jsonl", 200),
              HasSubstr("against 2 stored sessions of base.jsonl; 1 measurement on other CPU models left out: "));
  stored.pop_back();
  stored[1].boot = "another boot of that day";
  EXPECT_EQ(answered(stored, now_of(-1.05)).sessions, 3u);
}

TEST(StoredBaseline, OneSessionOrNoneIsUnsure) {
  for (const size_t k : {size_t{0}, size_t{1}}) {
    const BaselineAnswer answer = answered(sessions(std::vector<double>(k, -1.0)), now_of(5));
    EXPECT_EQ(exit_code_of(answer.worse), 3);
    EXPECT_FALSE(answer.ratio);
    EXPECT_THAT(baseline_text(answer, "b", 200), HasSubstr("How far sessions differ is known from two on"));
  }
  EXPECT_FALSE(against_baseline(sessions({-1, -1}), now_of(-1), 0.01));  // copied, not measured
}

// Sessions of other inputs, or of other programs: an interval from them would end at infinity, or in a row of invented digits.
TEST(StoredBaseline, SessionsThatDifferByPowersOfTenAreOfOtherWork) {
  for (const double powers : {1.1, 2.0, 5.0, 300.0}) {
    const double low = powers > 100 ? -345 : -1;  // 1e-150 s
    const auto answer = against_baseline(sessions({low, low + powers * std::log(10.0)}), now_of(0), 0.01);
    ASSERT_FALSE(answer) << powers;
    EXPECT_THAT(answer.error().message, HasSubstr("they are of other work")) << powers;
  }
  EXPECT_THAT(against_baseline(sessions({-1, -1 + 5 * std::log(10.0)}), now_of(0), 0.01).error().message,
              HasSubstr("the stored sessions have from 367.9 ms to 36788 s; they are of other work"));
  EXPECT_THAT(against_baseline(sessions({-300, -300.1}), now_of(300), 0.01).error().message, HasSubstr("and this one has"));
}

// The widest answer that there is: two sessions that differ nearly tenfold.
TEST(StoredBaseline, AWideIntervalIsAPairOfNumbers) {
  const BaselineAnswer answer = answered(sessions({0, 0.99 * std::log(10.0)}), now_of(1));
  EXPECT_TRUE(std::isfinite(*answer.high));
  EXPECT_GT(*answer.low, 0);
  EXPECT_EQ(answer.worse, report::Worse::kUnsure);
  const std::string text = baseline_text(answer, "b", 200);
  EXPECT_THAT(text, HasSubstr("unsure"));
  EXPECT_THAT(text, HasSubstr("e+")) << text;
  EXPECT_LT(text.find('\n'), 120u) << text;
}

TEST(StoredBaseline, AnswersAsCompareDoes) {
  const std::vector<double> logs{-1.001, -1.0, -0.999, -1.0005, -0.9995};
  EXPECT_EQ(exit_code_of(answered(sessions(logs), now_of(-1.0)).worse), 0);
  EXPECT_EQ(exit_code_of(answered(sessions(logs), now_of(-0.9)).worse), 1);
  EXPECT_EQ(exit_code_of(answered(sessions(logs), now_of(-0.991)).worse), 1);
  EXPECT_EQ(exit_code_of(answered(sessions(logs), now_of(-0.991), 0.05).worse), 0);
  EXPECT_THAT(baseline_text(answered(sessions(logs), now_of(-0.9)), "b", 200), HasSubstr("% [+"));
}

TEST(StoredBaseline, EveryFormatOfTimeHasIt) {
  TimedRuns wall{.command = "./prog", .times = {0.4, 0.41}, .user = {0.4, 0.4}, .system = {0, 0}, .exit_codes = {0, 0}};
  const BaselineAnswer against = answered(sessions({-1.001, -1.0, -0.999}), now_of(-0.9));
  const TimeFacts facts{.command = "./prog",
                        .about = "",
                        .unfinished = "",
                        .next = "",
                        .against = against,
                        .baseline = "base.jsonl",
                        .stored = "base.jsonl"};
  Rng rng(3);
  const auto output = time_answer(sliced_blocks(rng, {.blocks = 8, .alone_each = 0}), wall, wall, facts, 200);
  ASSERT_TRUE(output) << output.error().text();
  EXPECT_EQ(output->exit_code, 1);
  for (const std::string* text : {&output->text, &output->markdown})
    EXPECT_THAT(*text, HasSubstr("against 3 stored sessions of base")) << *text;
  EXPECT_THAT(output->text, HasSubstr("\nstored in base.jsonl\n"));
  EXPECT_THAT(output->json, HasSubstr("\"answer\": \"slower\""));
}

TEST(StoredBaseline, LinesComeBackAndDamagedOnesAreNamed) {
  StoredTiming one = now_of(-1.2345678901234567);
  one.arguments = "'a b' \"c\\n\" \xff";
  const std::string text = baseline_line(one) + baseline_line(now_of(3));
  const auto read = read_baseline(text, "base.jsonl");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].log_cpu_s, one.log_cpu_s);
  EXPECT_EQ((*read)[1].arguments, "20");
  size_t fine = 0;
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const auto part = read_baseline(text.substr(0, cut), "base.jsonl");
    fine += part.ok();
    if (part) continue;
    EXPECT_THAT(part.error().message, HasSubstr("; remove that line")) << cut;
  }
  EXPECT_EQ(fine, 3u);  // nothing, one line, two lines
  for (const char* line : {"{}", "[]", "1", "", "{\"format\":\"stab-baseline\"}", "{\"format\":\"stab-baseline\",\"version\":2}",
                           "{\"format\":1}", "{\"format\":[]}", "{\"format\":\"stab-baseline\",\"version\":\"1\"}"})
    EXPECT_THAT(read_baseline(text + line + "\n", "base.jsonl").error().message, HasSubstr("base.jsonl:3: it is ")) << line;
  std::string huge = baseline_line(now_of(3));
  huge.replace(huge.find("3.0"), 3, "1e4");
  EXPECT_THAT(read_baseline(huge, "b").error().message, HasSubstr("b:1: 'log_cpu_s' is the logarithm of no time"));
}

TEST(StoredBaseline, OtherProgramsAreRefused) {
  StoredTiming now = now_of(1);
  EXPECT_TRUE(check_comparable(sessions({1, 2}), now, "b"));
  now.arguments = "21";
  EXPECT_THAT(check_comparable(sessions({1, 2}), now, "b").error().message,
              HasSubstr("the stored program had the arguments '20', and this one has '21'"));
  now = now_of(1);
  now.randomized = false;
  EXPECT_THAT(check_comparable(sessions({1, 2}), now, "b").error().message, HasSubstr("was built by szc, and this one is not"));
}

}  // namespace
}  // namespace stab::analysis
