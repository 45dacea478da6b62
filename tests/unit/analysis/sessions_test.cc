// What lies between sessions, and evidence over sessions and commits: against R's numbers (tests/reference/analysis/sessions.R),
// and what must hold of any numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/online_discoveries.h"
#include "base/rng.h"
#include "tests/places.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {
namespace {

using namespace statistics;
using ::testing::HasSubstr;

struct Case {
  std::string name;
  std::vector<SessionDifference> controls, gates;
  std::map<std::string, std::pair<double, double>> values;  // tolerance, number
};

std::vector<Case> cases() {
  std::vector<Case> all;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/sessions.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, key;
    words >> kind;
    if (kind == "case") {
      all.emplace_back();
      words >> all.back().name;
    } else if (kind == "control" || kind == "gate") {
      SessionDifference one;
      words >> one.difference >> one.standard_error >> one.df;
      (kind == "gate" ? all.back().gates : all.back().controls).push_back(one);
    } else if (kind == "value") {
      std::pair<double, double> value;
      words >> key >> value.first >> value.second;
      all.back().values[key] = value;
    }
  }
  return all;
}

TEST(Sessions, AgreeWithR) {
  const std::vector<Case> all = cases();
  ASSERT_EQ(all.size(), 7u);
  for (const Case& one : all) {
    const auto expect = [&](const char* key, double ours) {
      ASSERT_TRUE(one.values.contains(key)) << one.name << " " << key;
      const auto [tolerance, theirs] = one.values.at(key);
      EXPECT_NEAR(ours, theirs, tolerance * std::max(std::fabs(theirs), 1e-6)) << one.name << " " << key;
    };
    if (one.values.contains("sd")) {
      const auto between = between_sessions(one.controls, 0.95);
      ASSERT_TRUE(between) << between.error().message;
      expect("sd", between->sd);
      expect("low", between->low);
      expect("high", between->high);
      expect("q", between->q);
      expect("p", between->p_value);
    }
    if (one.values.contains("near")) {
      const WidenedError error = widened_error(one.controls, 0.003, 39);
      expect("near", error.scale * t_quantile_upper(0.025, error.df));
      expect("far", error.scale * t_quantile_upper(0.0005, error.df));
    }
    expect("log_e", log_e_value(one.gates, one.controls, 0.02));
  }
}

std::vector<SessionDifference> made(Rng& rng, int count, double between, double truth = 0) {
  std::vector<SessionDifference> out;
  for (int i = 0; i < count; ++i)
    out.push_back({truth + between * standard_normal(rng) + 0.003 * standard_normal(rng), 0.003, 39});
  return out;
}

TEST(Sessions, UnitsDoNotMatter) {
  Rng rng = Rng::stream(1, "sessions");
  for (int round = 0; round < 20; ++round) {
    auto controls = made(rng, 3 + round, 0.004);
    auto gates = made(rng, 1 + round % 3, 0.004, 0.01);
    const auto between = between_sessions(controls, 0.95);
    const WidenedError error = widened_error(controls, 0.002, 19);
    const double evidence = log_e_value(gates, controls, 0.02);
    for (auto* list : {&controls, &gates})
      for (SessionDifference& one : *list) {
        one.difference *= 7;
        one.standard_error *= 7;
      }
    EXPECT_NEAR(between_sessions(controls, 0.95)->sd, 7 * between->sd, 1e-9);
    EXPECT_NEAR(between_sessions(controls, 0.95)->high, 7 * between->high, 1e-9);
    EXPECT_NEAR(widened_error(controls, 0.014, 19).scale, 7 * error.scale, 1e-6 * error.scale);
    EXPECT_NEAR(log_e_value(gates, controls, 0.14), evidence, 1e-4);
  }
}

TEST(Sessions, TheSideThatIsCalledBaseDoesNotMatterToControls) {
  Rng rng = Rng::stream(2, "sessions");
  auto controls = made(rng, 8, 0.004);
  const auto gates = made(rng, 1, 0, 0.02);
  const double sd = between_sessions(controls, 0.95)->sd, evidence = log_e_value(gates, controls, 0.02);
  for (SessionDifference& one : controls) one.difference = -one.difference;
  EXPECT_EQ(between_sessions(controls, 0.95)->sd, sd);
  EXPECT_NEAR(log_e_value(gates, controls, 0.02), evidence, 1e-9);
}

// An error that is the same each night is one, however little the nights differ.
TEST(Sessions, ABiasCounts) {
  const std::vector<SessionDifference> biased(10, {0.01, 0.001, 39});
  const auto between = between_sessions(biased, 0.95);
  ASSERT_TRUE(between);
  EXPECT_NEAR(between->sd, 0.01, 0.001);
  EXPECT_GT(between->low, 0.005);
  EXPECT_LT(between->p_value, 1e-10);
}

TEST(Sessions, TheEstimateLiesInItsInterval) {
  Rng rng = Rng::stream(3, "sessions");
  for (int round = 0; round < 200; ++round) {
    const auto between = between_sessions(made(rng, 2 + round % 20, 0.001 * (round % 7)), 0.95);
    ASSERT_TRUE(between);
    EXPECT_LE(between->low, between->sd);
    EXPECT_LE(between->sd, between->high);
  }
}

// Where the error within sessions is next to nothing the widened one is a t with one degree of freedom less than there are
// sessions.
TEST(Sessions, ManyBlocksLeaveAT) {
  Rng rng = Rng::stream(4, "sessions");
  for (const int count : {3, 5, 10, 30}) {
    std::vector<SessionDifference> controls;
    double squares = 0;
    for (int i = 0; i < count; ++i) {
      controls.push_back({0.01 * standard_normal(rng), 1e-7, 39});
      squares += controls.back().difference * controls.back().difference;
    }
    const WidenedError error = widened_error(controls, 1e-7, 39);
    EXPECT_NEAR(error.df, count - 1, 0.02 * count);
    EXPECT_NEAR(error.scale, std::sqrt(squares / (count - 1)), 0.01 * error.scale);
  }
}

TEST(Sessions, MoreSessionsWidenLess) {
  const SessionDifference none{0, 0.003, 39};
  double before = HUGE_VAL;
  for (const size_t count : {3u, 5u, 10u, 30u, 100u}) {
    const WidenedError error = widened_error(std::vector<SessionDifference>(count, none), 0.003, 39);
    const double reach = error.scale * t_quantile_upper(0.025, error.df);
    EXPECT_LT(reach, before);
    EXPECT_GT(reach, 0.003 * t_quantile_upper(0.025, 39.0));
    before = reach;
  }
}

TEST(Sessions, SeveralControlsOfASessionAreOneValue) {
  const SessionDifference two[] = {{0.01, 0.001, 9}, {0.02, 0.002, 19}};
  const SessionDifference one = pooled(two);
  EXPECT_NEAR(one.difference, (0.01 / 1e-6 + 0.02 / 4e-6) / (1 / 1e-6 + 1 / 4e-6), 1e-15);
  EXPECT_NEAR(one.standard_error, 1 / std::sqrt(1 / 1e-6 + 1 / 4e-6), 1e-15);
  EXPECT_EQ(one.df, 28);
}

TEST(Sessions, RefusesWhatIsNoSession) {
  const SessionDifference alone[] = {{0.01, 0.001, 9}};
  EXPECT_THAT(between_sessions(alone, 0.95).error().message, HasSubstr("needs two"));
  const SessionDifference constant[] = {{0.01, 0, 9}, {0.01, 0.001, 9}}, few[] = {{0.01, 0.001, 2}, {0.01, 0.001, 9}},
                          no_number[] = {{NAN, 0.001, 9}, {0.01, 0.001, 9}};
  EXPECT_FALSE(between_sessions(constant, 0.95));
  EXPECT_THAT(between_sessions(few, 0.95).error().message, HasSubstr("4 blocks"));
  EXPECT_FALSE(between_sessions(no_number, 0.95));
}

TEST(OnlineDiscoveries, SharesAddUpToOne) {
  for (const uint64_t tests : {1u, 7u, 500u}) {
    const Stream stream{0.05, tests};
    double sum = 0;
    constexpr uint64_t kMany = 2'000'000;
    for (uint64_t number = 1; number <= kMany; ++number) sum += share_of(stream, number);
    // What is left of N / 2t(t-1) after T of them is N / 2T.
    EXPECT_NEAR(sum + static_cast<double>(tests) / (2.0 * kMany), 1, 1e-9) << tests;
  }
}

TEST(OnlineDiscoveries, TheBoundFallsWithDiscoveries) {
  const Stream stream{0.05, 500};
  EXPECT_NEAR(std::exp(log_e_needed(stream, 1, 0)), 20000, 1e-6);
  EXPECT_NEAR(std::exp(log_e_needed(stream, 1, 3)), 5000, 1e-6);
  EXPECT_NEAR(std::exp(log_e_needed(stream, 1000, 0)), 2 * 1000 * 999 / 500.0 / 0.05, 1e-6);
}

// Whatever lies between sessions the mean is at most 1; and looking again when the first look is doubtful does not change that.
TEST(OnlineDiscoveries, EvidenceOfNothingIsAtMostOneOnAverage) {
  Rng rng = Rng::stream(5, "sessions");
  for (const int sessions : {3, 10})
    for (const double between : {0.0, 0.003, 0.02}) {
      double sum = 0, stopped = 0;
      constexpr int kRounds = 200;
      for (int round = 0; round < kRounds; ++round) {
        const auto controls = made(rng, sessions, between);
        auto gates = made(rng, 1, between);
        const double first = std::exp(log_e_value(gates, controls, 0.02));
        sum += first;
        double last = first;
        if (first > 0.3) {
          gates.push_back(made(rng, 1, between)[0]);
          last = std::exp(log_e_value(gates, controls, 0.02));
        }
        stopped += std::max(0.0, last);
      }
      EXPECT_LT(sum / kRounds, 1) << sessions << " " << between;
      EXPECT_LT(stopped / kRounds, 1) << sessions << " " << between;
    }
}

TEST(OnlineDiscoveries, ControlsThatDifferTakeEvidenceAway) {
  const SessionDifference gate[] = {{0.02, 0.003, 39}};
  const std::vector<SessionDifference> quiet(20, {0.0005, 0.003, 39}), loud(20, {0.02, 0.003, 39});
  EXPECT_GT(log_e_value(gate, quiet, 0.02), std::log(1000));
  EXPECT_LT(log_e_value(gate, loud, 0.02), 0);
  EXPECT_EQ(log_e_value({}, quiet, 0.02), 0);
}

TEST(OnlineDiscoveries, SessionsAddEvidence) {
  const std::vector<SessionDifference> controls(20, {0.001, 0.003, 39});
  std::vector<SessionDifference> gates;
  double before = 0;
  for (int i = 0; i < 4; ++i) {
    gates.push_back({0.015, 0.003, 39});
    const double now = log_e_value(gates, controls, 0.02);
    EXPECT_GT(now, before + 2);
    before = now;
  }
}

}  // namespace
}  // namespace stab::analysis
