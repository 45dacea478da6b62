// How often "code or place" is answered wrongly, over the looks of `stabctl explain`, with tails as sliced blocks have them.
// The tables of docs/evaluation/records/simulated-answers.md are tests/bench/cause_table's; this holds the two promises.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/unit/analysis/made_causes.h"

namespace stab::statistics {
namespace {

constexpr int kRounds = 500;

TEST(CauseCalibration, AtMostFivePercentAreWrongAndTwoAreExcuses) {
  const CauseSettings settings;
  const std::vector<double> nominals = nominals_of(settings);
  uint64_t seed = 1;
  for (const double noise : {0.003, 0.006, 0.015}) {
    double wrong = 0, all = 0, excused = 0, real = 0, resolved = 0;
    for (const double code : {0.0, 0.005, 0.01, 0.03})
      for (const double place : {0.0, 0.015, -0.04}) {
        const MadeCause truth{.code = code, .place = place, .noise = noise, .lag = 0.08};
        for (int i = 0; i < kRounds; ++i) {
          const CauseVerdict verdict = answer_of(seed++, truth, settings, nominals).verdict;
          wrong += is_wrong(truth, settings, verdict);
          resolved += verdict != CauseVerdict::kUnresolved;
          all += 1;
          real += code != 0;
          excused += code != 0 && verdict == CauseVerdict::kPlace;
        }
      }
    std::printf("noise %.1f %%: wrong %.2f %%, real called place %.2f %%, answered %.0f %%\n", 100 * noise, 100 * wrong / all,
                100 * excused / real, 100 * resolved / all);
    EXPECT_LE(wrong / all, 0.05);
    EXPECT_LE(excused / real, 0.02);
    EXPECT_GE(resolved / all, 0.9) << "not by silence";
  }
}

}  // namespace
}  // namespace stab::statistics
