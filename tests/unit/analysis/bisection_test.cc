// Whole searches, in comparisons with errors: how often they name a commit that did nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/commands/bisect/bisect_rest.h"
#include "analysis/commands/bisect/comparison_looks.h"
#include "analysis/page/bisect_page.h"
#include "analysis/text/text_table.h"
#include "tests/unit/analysis/made_bisections.h"
#include "tests/unit/analysis/made_gates.h"

namespace stab::analysis {
namespace {

constexpr int kRounds = 400;
using Answer = Result<std::optional<commands::BisectStep>>;

TEST(Bisection, AClearStepIsFoundAndAnotherCommitIsNot) {
  Rng rng(11);
  BisectTally tally;
  for (int round = 0; round < kRounds; ++round) {
    MadeHistory history = with_one_step(1 + rng.below(100), 0.03, rng);
    history.error = 0.002;
    count(tally, history, made_bisection(history, 0.01, rng));
  }
  EXPECT_LE(tally.wrong, kRounds / 100);
  EXPECT_GE(tally.right, kRounds * 9 / 10);
}

TEST(Bisection, WhereThereIsNothingNoCommitIsAccused) {
  Rng rng(12);
  BisectTally tally;
  for (int round = 0; round < kRounds; ++round) {
    MadeHistory history;
    history.costs.assign(2 + rng.below(60), 0);
    count(tally, history, made_bisection(history, 0.01, rng));
  }
  EXPECT_LE(tally.wrong, kRounds / 50);
  EXPECT_EQ(tally.right, 0);
  EXPECT_GT(tally.none + tally.unsure, kRounds * 95 / 100);
}

// Steps of both signs and of any size, commits that don't build, effects of a few standard errors: a commit that is named did it.
TEST(Bisection, WhateverTheCommitsDoAtMostAlphaOfTheNamedOnesIsWrong) {
  for (const double unbuilt : {0.0, 0.3})
    for (const double by : {0.005, 0.01, 0.03}) {
      Rng rng(13);
      BisectTally tally;
      for (int round = 0; round < kRounds; ++round) {
        MadeHistory history = with_steps(1 + rng.below(50), 1 + rng.below(5), by, rng);
        history.unbuilt = unbuilt;
        count(tally, history, made_bisection(history, 0.01, rng));
      }
      EXPECT_LE(tally.wrong, kRounds * 5 / 100) << by << " " << unbuilt;
      EXPECT_GT(tally.right, 0) << by << " " << unbuilt;
    }
}

TEST(Bisection, CommitsThatDoNotBuildLeaveARange) {
  Rng rng(14);
  MadeHistory history = with_one_step(8, 0.05, rng);
  history.unbuilt = 1;
  const commands::Bisection search = made_bisection(history, 0.01, rng);
  EXPECT_EQ(search.end, commands::BisectEnd::kRange);
  EXPECT_EQ(search.not_slower, 0u);
  EXPECT_EQ(search.slower, 8u);
  // The ends alone were compared, and the model knows that this can be wrong, too.
  ASSERT_TRUE(search.probability);
  EXPECT_GT(*search.probability, 0.9);
  EXPECT_LT(*search.probability, 1);
  const std::string text = commands::bisect_output(search).text;
  EXPECT_NE(text.find("one of 8 commits"), std::string::npos) << text;
}

// Half of the search's answers are wrong, and the last comparison is right: nothing is named that did nothing.
TEST(Bisection, TheLastComparisonDecides) {
  Rng rng(15);
  const MadeHistory history = with_one_step(60, 0.03, rng);
  for (int round = 0; round < 200; ++round) {
    commands::Bisection search;
    search.alpha = 0.05;
    for (size_t i = 0; i < history.costs.size(); ++i) search.commits.push_back({std::to_string(i), ""});
    const Status done = commands::run_bisection(search, [&](const commands::BisectQuestion& asked) -> Answer {
      const bool between = asked.against == 0 && asked.position != 60 && asked.position != 1;
      const bool slower = between ? rng.below(2) == 0 : history.costs[asked.position] > history.costs[asked.against];
      commands::BisectStep step;
      step.cost = step.cost_low = step.cost_high = slower ? 0.03 : 0;
      step.finding = slower ? commands::CommitFinding::kSlower : commands::CommitFinding::kNotSlower;
      return std::optional(step);
    });
    ASSERT_TRUE(done);
    if (search.end == commands::BisectEnd::kCommit) {
      EXPECT_GT(history.costs[search.slower], history.costs[search.slower - 1]);
    }
  }
}

// A plan's margin is 100 % at most: half of a sixfold time is more.
TEST(Bisection, AsksForNoMarginThatAPlanRefuses) {
  Rng rng(17);
  const MadeHistory history = with_one_step(20, 5, rng);
  commands::Bisection search;
  search.alpha = 0.05;
  for (size_t i = 0; i < history.costs.size(); ++i) search.commits.push_back({std::to_string(i), ""});
  const auto compare = [&](const commands::BisectQuestion& asked) -> Answer {
    EXPECT_LE(asked.margin.value_or(1), 1);
    commands::BisectStep step;
    step.cost = step.cost_low = step.cost_high = history.costs[asked.position] - history.costs[asked.against];
    step.finding = step.cost > 0 ? commands::CommitFinding::kSlower : commands::CommitFinding::kNotSlower;
    return std::optional(step);
  };
  ASSERT_TRUE(commands::run_bisection(search, compare));
  EXPECT_EQ(search.end, commands::BisectEnd::kCommit);
  EXPECT_GT(history.costs[search.slower], history.costs[search.slower - 1]);
}

// What random layouts cost by themselves names no commit, and more blocks are no cure of it.
TEST(Bisection, SaysWhatCopiesLeaveOpen) {
  const auto searched = [](bool at_ends) {
    commands::Bisection search;
    search.alpha = 0.05;
    for (size_t i = 0; i < 5; ++i) search.commits.push_back({std::to_string(i), ""});
    const Status done = commands::run_bisection(search, [&](const commands::BisectQuestion& asked) -> Answer {
      commands::BisectStep step;
      step.cost = step.cost_low = step.cost_high = asked.position >= 2 && asked.against < 2 ? 0.08 : 0;
      step.finding = step.cost > 0 ? commands::CommitFinding::kSlower : commands::CommitFinding::kNotSlower;
      step.by_copies = at_ends ? search.steps.empty() : asked.position == 2 && asked.against == 1;
      if (step.by_copies) step.finding = commands::CommitFinding::kUnsure, step.why = "a run of each has 1 and 2 calls";
      return std::optional(step);
    });
    EXPECT_TRUE(done);
    return commands::bisect_output(search);
  };
  const commands::BisectOutput ends = searched(true), naming = searched(false);
  EXPECT_EQ(ends.exit_code, 3);
  EXPECT_EQ(ends.sentence, "can't tell whether 4 is slower than 0: a run of each has 1 and 2 calls");
  EXPECT_EQ(ends.next, "more blocks don't decide it; a larger 'margin' may");
  EXPECT_EQ(naming.exit_code, 3);
  EXPECT_EQ(naming.sentence,
            "probably 2 made it slower (99 % or more), but it was not shown to be slower than the commit before it: "
            "a run of each has 1 and 2 calls");
}

TEST(Bisection, SaysWhatWasSeenOfEndsThatCantBeTold) {
  commands::Bisection search;
  for (size_t i = 0; i < 5; ++i) search.commits.push_back({std::to_string(i), ""});
  ASSERT_TRUE(commands::run_bisection(search, [](const commands::BisectQuestion&) -> Answer {
    commands::BisectStep step;
    step.finding = commands::CommitFinding::kUnsure;
    step.change = "+2.58 %", step.interval = "[-2.40, +7.81] %";
    return std::optional(step);
  }));
  EXPECT_EQ(commands::bisect_output(search).sentence,
            "can't tell whether 4 is slower than 0: the difference is +2.58 % ([-2.40, +7.81] %)");
}

// What an unsure answer was taken for stands in each form.
TEST(Bisection, SaysWhatAnUnsureAnswerWasTakenFor) {
  Rng rng(18);
  const MadeHistory history = with_steps(200, 4, 0.01, rng);
  for (int round = 0; round < 200; ++round) {
    const commands::Bisection search = made_bisection(history, 0.01, rng);
    const auto is_any = [&](commands::CommitFinding finding) {
      return std::any_of(search.steps.begin(), search.steps.end(), [&](const commands::BisectStep& step) {
        return step.finding == finding && step.taken != finding && step.taken != commands::CommitFinding::kUnsure;
      });
    };
    const commands::BisectOutput output = commands::bisect_output(search);
    for (const std::string& text : {output.text, output.markdown}) {
      EXPECT_EQ(text.find("unsure, taken as") != std::string::npos, is_any(commands::CommitFinding::kUnsure)) << text;
      EXPECT_EQ(text.find(" slower, taken as not slower") != std::string::npos, is_any(commands::CommitFinding::kSlower)) << text;
    }
  }
}

// Blocks that differ by six times what is searched. A comparison that decides goes on until it is settled, and one on the way
// until it leads well enough.
TEST(Bisection, NoiseTakesBlocksAndNotTheAnswer) {
  constexpr int kSearches = 100;
  constexpr double kSpread = 0.06;
  Rng rng(26);
  int right = 0, wrong = 0, none = 0;
  std::vector<size_t> comparisons;
  for (int round = 0; round < 2 * kSearches; ++round) {
    const MadeHistory history = with_one_step(256, round < kSearches ? 0.01 : 0, rng);
    commands::Bisection search;
    search.alpha = 0.01;
    for (size_t i = 0; i < history.costs.size(); ++i) search.commits.push_back({std::to_string(i), ""});
    uint32_t way = 0;
    const auto compare = [&](const commands::BisectQuestion& asked) -> Answer {
      if (asked.blocks > 0) way = asked.blocks;
      const bool decides = asked.may_name || search.steps.empty();
      EXPECT_TRUE(!decides || asked.blocks == 0);
      const double change = std::log1p(history.costs[asked.position]) - std::log1p(history.costs[asked.against]);
      const MadeGate gate{commands::looks_of_comparison(asked.blocks, {10, 20, 40}), asked.margin.value_or(0.01), asked.alpha};
      return std::optional(made_gate(gate, [&] { return (asked.faster ? -change : change) + kSpread * standard_normal(rng); }));
    };
    ASSERT_TRUE(commands::run_bisection(search, compare));
    const bool is_named = search.end == commands::BisectEnd::kCommit;
    wrong += is_named && history.costs[search.slower] == history.costs[search.slower - 1];
    if (round >= kSearches) {
      none += search.end == commands::BisectEnd::kNone;
      continue;
    }
    right += is_named && history.costs[search.slower] > history.costs[search.slower - 1];
    if (!is_named) continue;
    // 16 sd^2 / d^2, if d is seen as it is; never a seventh of it.
    EXPECT_GT(way, 80u);
    EXPECT_LE(way, 1280u);
    comparisons.push_back(0);
    for (const commands::BisectStep& step : search.steps) comparisons.back() += step.part == 0;
  }
  EXPECT_GE(right, kSearches * 85 / 100);
  EXPECT_LE(wrong, 2);
  EXPECT_GE(none, kSearches * 93 / 100);
  ASSERT_FALSE(comparisons.empty());
  std::sort(comparisons.begin(), comparisons.end());
  EXPECT_LE(comparisons[comparisons.size() / 2], 12u);
}

// With clear answers the logarithm and two: the ends, and the commit that is named. With others at most twice that and some.
TEST(Bisection, TakesFewComparisons) {
  Rng rng(16);
  for (const double error : {0.0005, 0.005})
    for (int round = 0; round < 200; ++round) {
      MadeHistory history = error < 0.001 ? with_one_step(1 + rng.below(500), 0.02, rng)
                                          : with_steps(1 + rng.below(500), 4, 0.01, rng);
      history.error = error;
      const commands::Bisection search = made_bisection(history, 0.01, rng);
      std::vector<size_t> questions(search.further.size() + 1);
      for (const commands::BisectStep& step : search.steps) ++questions[step.part];
      const auto most = [&](size_t good, size_t bad) {
        const size_t least = commands::questions_of(bad - good);
        return error < 0.001 ? least + 2 : 2 * least + 7;
      };
      EXPECT_LE(questions[0], most(0, history.costs.size() - 1));
      for (size_t i = 0; i < search.further.size(); ++i)
        EXPECT_LE(questions[i + 1], most(search.further[i].good, search.further[i].bad));
    }
}

// However many commits in a row can't be built, those before and behind them are searched.
TEST(Bisection, ManyCommitsInARowThatDoNotBuildEndNoSearch) {
  for (const size_t culprit : {20u, 110u}) {
    commands::Bisection search;
    search.alpha = 0.05;
    for (size_t i = 0; i <= 128; ++i) search.commits.push_back({std::to_string(i), ""});
    const Status done = commands::run_bisection(search, [&](const commands::BisectQuestion& asked) -> Answer {
      commands::BisectStep step;
      if (asked.position > 34 && asked.position < 95) {
        step.finding = commands::CommitFinding::kNotBuilt;
        return std::optional(step);
      }
      step.cost = asked.position >= culprit && asked.against < culprit ? 0.03 : 0;
      step.cost_low = step.cost - 0.001;
      step.cost_high = step.cost + 0.001;
      step.finding = step.cost > 0 ? commands::CommitFinding::kSlower : commands::CommitFinding::kNotSlower;
      return std::optional(step);
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(search.end, commands::BisectEnd::kCommit);
    EXPECT_EQ(search.slower, culprit);
  }
}

// What a range is said to hold, it holds: a commit that made the program slower, where one did.
TEST(Bisection, ARangeHoldsACommitThatDidIt) {
  for (const double unbuilt : {0.0, 0.3})
    for (const double by : {0.01, 0.015}) {
      Rng rng(24);
      BisectTally tally;
      for (int round = 0; round < kRounds; ++round) {
        MadeHistory history = with_one_step(8 + rng.below(100), by, rng);
        history.unbuilt = unbuilt;
        count(tally, history, made_bisection(history, 0.01, rng));
      }
      EXPECT_GT(tally.range, kRounds / 20) << by << " " << unbuilt;
      EXPECT_GE(tally.held, tally.range * 92 / 100) << by << " " << unbuilt;
    }
}

// Each answer has the model's probability, and a commit that is named by clear comparisons has nearly all of it.
TEST(Bisection, EachAnswerHasAProbability) {
  Rng rng(26);
  BisectTally tally;
  int named = 0;
  for (int round = 0; round < kRounds; ++round) {
    const MadeHistory history = round % 4 == 0 ? with_one_step(32, 0.03, rng) : with_one_step(32, 0.004 * (round % 4), rng);
    const commands::Bisection search = made_bisection(history, 0.01, rng);
    ASSERT_TRUE(search.probability) << round;
    EXPECT_TRUE(*search.probability >= 0 && *search.probability <= 1 + 1e-12) << *search.probability;
    count_said(tally, history, 0.01, search);
    const commands::BisectOutput output = commands::bisect_output(search);
    EXPECT_DOUBLE_EQ(nlohmann::json::parse(output.json)["probability"], *search.probability);
    const char* said = "; by the model no commit made it slower by 1 % with a probability of ";
    if (search.end == commands::BisectEnd::kCommit) said = " did it with a probability of ";
    if (search.end == commands::BisectEnd::kRange) said = "made it slower";
    EXPECT_NE(output.text.find(said), std::string::npos) << output.text;
    if (search.end == commands::BisectEnd::kCommit && round % 4 == 0) named += *search.probability > 0.95;
  }
  EXPECT_GT(named, kRounds / 4 * 8 / 10);
  for (const SaidOfAnswers& of : tally.by_end) EXPECT_GT(of.answers, 5);
  const SaidOfAnswers& commits = tally.by_end[static_cast<int>(commands::BisectEnd::kCommit)];
  EXPECT_GE(commits.held, commits.answers * 95 / 100);
}

// What is said of nothing and of unsure holds in the histories of simulated-answers.md's tables, and is no empty promise.
TEST(Bisection, TheProbabilityOfNoCulpritHolds) {
  constexpr int kEach = 2000, kFewest = 200;
  Rng rng(47);
  BisectTally tally;
  for (const NamedHistory& of : table_histories(8))
    for (int round = 0; round < kEach; ++round) {
      const MadeHistory history = of.second(rng);
      count_said(tally, history, 0.01, made_bisection(history, 0.01, rng, true));
    }
  const auto said = [](const SaidOfAnswers& of) { return of.said / of.answers; };
  const auto held = [](const SaidOfAnswers& of) { return static_cast<double>(of.held) / of.answers; };
  int tenths = 0;
  for (const SaidOfAnswers& of : tally.by_tenth[1]) {
    if (of.answers < kFewest) continue;
    ++tenths;
    const double error = std::sqrt(said(of) * (1 - said(of)) / of.answers);
    EXPECT_GT(held(of), said(of) - 0.01 - 2.5 * error) << said(of) << " of " << of.answers;
    EXPECT_LT(held(of), said(of) + 0.15) << said(of) << " of " << of.answers;
  }
  EXPECT_GE(tenths, 6);
  for (const commands::BisectEnd end : {commands::BisectEnd::kNone, commands::BisectEnd::kCannotTell}) {
    const SaidOfAnswers& of = tally.by_end[static_cast<int>(end)];
    EXPECT_GT(of.answers, kEach / 2);
    EXPECT_GT(held(of), said(of)) << of.answers;
    EXPECT_LT(held(of), said(of) + 0.15) << of.answers;
  }
}

// Costs that are no shares have no margin on their scale, and what nobody could count has no number.
TEST(Bisection, WhatHasNoNumbersHasNoProbability) {
  for (const bool is_share : {true, false}) {
    commands::Bisection search;
    search.alpha = 0.05;
    for (size_t i = 0; i < 5; ++i) search.commits.push_back({std::to_string(i), ""});
    ASSERT_TRUE(commands::run_bisection(search, [&](const commands::BisectQuestion&) -> Answer {
      commands::BisectStep step;
      step.finding = commands::CommitFinding::kNotSlower;
      step.is_share = is_share;
      step.margin = 0.01;
      step.cost_low = -0.002, step.cost_high = 0.002;
      return std::optional(step);
    }));
    EXPECT_EQ(search.probability.has_value(), is_share);
    const commands::BisectOutput output = commands::bisect_output(search);
    EXPECT_EQ(nlohmann::json::parse(output.json)["probability"].is_null(), !is_share);
    EXPECT_EQ(output.text.find("by the model") != std::string::npos, is_share) << output.text;
  }
}

// A commit that is not shown to have done it is not the end: another one is asked about, at half of the error.
TEST(Bisection, GoesOnWhereTheCommitItCameToDidNothing) {
  Rng rng(25);
  int again = 0;
  for (int round = 0; round < kRounds; ++round) {
    const MadeHistory history = with_one_step(64, 0.015, rng);
    const commands::Bisection search = made_bisection(history, 0.01, rng);
    std::vector<const commands::BisectStep*> asked;
    for (const commands::BisectStep& step : search.steps)
      if (step.part == 0 && step.may_name) asked.push_back(&step);
    for (size_t i = 0; i < asked.size(); ++i)
      EXPECT_DOUBLE_EQ(asked[i]->alpha, search.alpha / static_cast<double>(1 << i));
    EXPECT_LE(asked.size(), 3u);
    if (asked.size() > 1 && search.end == commands::BisectEnd::kCommit) {
      ++again;
      EXPECT_EQ(commands::naming_of(search, 0), asked.back());
    }
  }
  EXPECT_GT(again, kRounds / 20);
}

TEST(Bisection, EndsThatCannotBeComparedAreAnError) {
  commands::Bisection search;
  search.alpha = 0.05;
  search.commits = {{"a", ""}, {"b", ""}};
  const Status done = commands::run_bisection(search, [](const commands::BisectQuestion&) -> Answer {
    commands::BisectStep step;
    step.finding = commands::CommitFinding::kNotBuilt;
    step.why = "make: *** No rule";
    return std::optional(step);
  });
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("No rule"), std::string::npos);
}

// A commit makes 7.8 of 12 %: other commits have a part where the intervals show it, else they may have one.
TEST(Bisection, OtherCommitsHaveAPartWhereItIsShown) {
  const auto said = [](double half) {
    commands::Bisection search;
    search.alpha = 0.05;
    search.commits = {{"aaaaaaaaaaaaaaaa", "good"}, {"bbbbbbbbbbbbbbbb", "one"}, {"cccccccccccccccc", "bad"}};
    search.end = commands::BisectEnd::kCommit;
    search.slower = 2;
    search.not_slower = 1;
    for (const auto& [against, cost] : {std::pair{0, 0.12}, std::pair{1, 0.078}}) {
      commands::BisectStep step;
      step.position = 2;
      step.against = static_cast<size_t>(against);
      step.may_name = against == 1;
      step.finding = commands::CommitFinding::kSlower;
      step.change = step.interval = "-";
      step.cost = cost;
      step.cost_low = cost - half;
      step.cost_high = cost + half;
      search.steps.push_back(step);
    }
    return commands::bisect_output(search).text;
  };
  EXPECT_NE(said(0.02).find("other commits have a part in it, +3.90 % [+1.26, +6.61] %; search them: 'stabctl bisect "
                            "aaaaaaaaaaaa..bbbbbbbbbbbb'"),
            std::string::npos)
      << said(0.02);
  EXPECT_NE(said(0.04).find(": other commits may have a part in it"), std::string::npos) << said(0.04);
  EXPECT_NE(said(0.04).find("git show cccccccccccc"), std::string::npos) << said(0.04);
}

TEST(Bisection, TheBranchOfAMergeIsSearchedByItself) {
  for (const bool faster : {false, true}) {
    commands::Bisection search;
    search.commits = {{"aaaaaaaaaaaaaaaa", "good"}, {"bbbbbbbbbbbbbbbb", "Merge branch 'side'", true}};
    search.end = commands::BisectEnd::kCommit;
    search.slower = 1;
    search.faster = faster;
    commands::BisectStep step;
    step.position = 1;
    step.finding = commands::CommitFinding::kSlower;
    step.change = step.interval = "-";
    search.steps = {step};
    const std::string text = commands::bisect_output(search).text;
    EXPECT_NE(text.find(faster ? "'stabctl bisect bbbbbbbbbbbb^1...bbbbbbbbbbbb^2 --faster'"
                               : "'stabctl bisect bbbbbbbbbbbb^1...bbbbbbbbbbbb^2'"),
              std::string::npos)
        << text;
    search.commits[1].is_merge = false;
    EXPECT_EQ(commands::bisect_output(search).text.find("merge:"), std::string::npos);
  }
}

// What one commit leaves is searched, too, whichever sign it has.
TEST(Bisection, EachOfSeveralStepsIsNamed) {
  for (const std::vector<double>& steps :
       {std::vector<double>{0.02, 0.01}, std::vector<double>{0.02, 0.02}, std::vector<double>{0.03, -0.01},
        std::vector<double>{0.04, -0.02, 0.01}}) {
    Rng rng(19);
    BisectTally tally;
    for (int round = 0; round < kRounds; ++round) {
      MadeHistory history = with_these_steps(steps.size() + rng.below(100), steps, rng);
      history.error = 0.001;
      count(tally, history, made_bisection(history, 0.005, rng));
    }
    EXPECT_LE(tally.any_wrong, kRounds / 50) << steps[1];
    EXPECT_GE(tally.complete, kRounds * 85 / 100) << steps[1];
  }
}

// The error is of whole searches, whatever number of commits they name, and however small the steps are for the comparisons.
TEST(Bisection, AllNamedCommitsTogetherAreWrongInAlphaAtMost) {
  for (const double unbuilt : {0.0, 0.2})
    for (const std::vector<double>& steps :
         {std::vector<double>{0.02, 0.01}, std::vector<double>{0.02, -0.01}, std::vector<double>{0.03, 0.02, -0.02, 0.01},
          std::vector<double>{0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01}}) {
      Rng rng(20);
      BisectTally tally;
      for (int round = 0; round < kRounds; ++round) {
        MadeHistory history = with_these_steps(steps.size() + 1 + rng.below(60), steps, rng);
        history.error = 0.003;
        history.unbuilt = unbuilt;
        count(tally, history, made_bisection(history, 0.01, rng));
      }
      EXPECT_LE(tally.any_wrong, kRounds * 5 / 100) << steps.size() << " " << unbuilt;
      EXPECT_GT(tally.more_right, 0) << steps.size() << " " << unbuilt;
    }
}

// Whatever is asked whether to name it has half of the error of what was asked before, and their sum stays below twice alpha, of
// which each comparison spends half.
TEST(Bisection, HalvesTheErrorWithEachCommitThatItMayName) {
  Rng rng(21);
  size_t most = 0, unnamed = 0;
  for (int round = 0; round < 200; ++round) {
    MadeHistory history = with_these_steps(40, std::vector<double>(12, 0.02), rng);
    history.error = round % 2 == 0 ? 0.001 : 0.01;
    const commands::Bisection search = made_bisection(history, 0.005, rng);
    size_t asked = 0;
    double next = search.alpha;
    for (const commands::BisectStep& step : search.steps) {
      EXPECT_DOUBLE_EQ(step.alpha, step.may_name ? next : 0.05);
      if (!step.may_name) continue;
      ++asked;
      next /= 2;
      const commands::BisectEnd end = step.part == 0 ? search.end : search.further[step.part - 1].end;
      if (end == commands::BisectEnd::kCommit && step.part > 0 && &step == commands::naming_of(search, step.part)) {
        EXPECT_DOUBLE_EQ(search.further[step.part - 1].alpha, step.alpha);
      }
      unnamed += step.finding != commands::CommitFinding::kSlower;
    }
    most = std::max(most, asked);
  }
  EXPECT_GE(most, 8u);
  EXPECT_LE(most, 12u);
  EXPECT_GT(unnamed, 20u);
}

// A search that its budget ends within the second part has the first commit, and the words for the rest.
TEST(Bisection, SaysWhatIsLeftWhenItIsStopped) {
  Rng rng(22);
  const auto search_until = [&](size_t most, commands::Bisection& search) {
    const std::vector<double> costs{0, 0, 0, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01};
    search.alpha = 0.05;
    for (size_t i = 0; i < costs.size(); ++i) search.commits.push_back({std::string(12, static_cast<char>('a' + i)), "commit"});
    return commands::run_bisection(search, [&](const commands::BisectQuestion& asked) -> Answer {
      if (search.steps.size() == most) {
        search.unfinished = "the budget of 1h is over";
        return std::optional<commands::BisectStep>();
      }
      commands::BisectStep step;
      const double change = costs[asked.position] - costs[asked.against];
      step.cost = asked.faster ? -change : change;
      step.cost_low = step.cost - 0.001;
      step.cost_high = step.cost + 0.001;
      step.change = step.interval = "?";
      step.finding = step.cost > 0.001 ? commands::CommitFinding::kSlower : commands::CommitFinding::kNotSlower;
      return std::optional(step);
    });
  };
  commands::Bisection whole;
  ASSERT_TRUE(search_until(1000, whole));
  const std::string text = commands::bisect_output(whole).text;
  EXPECT_NE(text.find("dddddddddddd 'commit' made it slower"), std::string::npos) << text;
  EXPECT_NE(text.find("gggggggggggg 'commit' also made it faster"), std::string::npos) << text;
  EXPECT_NE(text.find("see it: git show dddddddddddd gggggggggggg\n"), std::string::npos) << text;
  EXPECT_NE(text.find("each further one is asked at half of the error before"), std::string::npos) << text;
  commands::Bisection cut;
  ASSERT_TRUE(search_until(6, cut));
  const commands::BisectOutput stopped = commands::bisect_output(cut);
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_NE(stopped.text.find("the same command goes on from here"), std::string::npos) << stopped.text;
  EXPECT_NE(stopped.text.find("from here; from aaaaaaaaaaaa to iiiiiiiiiiii it is ? (?): other commits have a part in it, "
                              "-0.98 % [-1.12, -0.84] %\n"),
            std::string::npos)
      << stopped.text;
  // git knows one culprit; the comparisons of the second would lead its replay astray.
  EXPECT_EQ(commands::bisect_output(whole).log, commands::bisect_output(cut).log);
}

TEST(Bisection, NamesAreNoMarkup) {
  commands::Bisection search;
  search.alpha = 0.05;
  search.commits = {{"0123456789abcdef", "<b>good</b>"}, {"fedcba9876543210", "| *bad* \x1b[31m"}};
  search.end = commands::BisectEnd::kCommit;
  search.slower = 1;
  commands::BisectStep step;
  step.position = 1;
  step.finding = commands::CommitFinding::kSlower;
  step.change = "+3.0 %";
  step.interval = "+2.0 %, +4.0 %";
  search.steps = {step};
  const commands::BisectOutput output = commands::bisect_output(search);
  EXPECT_EQ(output.exit_code, 0);
  for (const std::string& text : {output.text, output.markdown, output.log}) EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(output.markdown.find("<b>"), std::string::npos) << output.markdown;
  EXPECT_NE(output.log.find("git bisect bad fedcba9876543210"), std::string::npos) << output.log;
}

// A compiler's errors are long; the intervals of the other commits are read next to them.
TEST(Bisection, ABuildThatFailedLeavesTheTableReadable) {
  commands::Bisection search;
  search.alpha = 0.05;
  search.commits = {{"0123456789abcdef", "good"}, {"aaaaaaaaaaaaaaaa", "broken"}, {"fedcba9876543210", "bad"}};
  search.end = commands::BisectEnd::kRange;
  search.slower = 2;
  commands::BisectStep slower, broken;
  slower.position = 2;
  slower.finding = slower.taken = commands::CommitFinding::kSlower;
  slower.change = "+3.00 %";
  slower.interval = "[+2.00, +4.00] %";
  broken.position = 1;
  broken.finding = broken.taken = commands::CommitFinding::kNotBuilt;
  broken.change = broken.interval = "-";
  for (int i = 0; i < 20; ++i) broken.why += "main.c:5:10: error: expected ')'\n";
  search.steps = {slower, broken};
  const commands::BisectOutput output = commands::bisect_output(search);
  const std::string table = output.text.substr(output.text.find("  commit"));
  EXPECT_NE(table.find("0123456789ab  +3.00 %  [+2.00, +4.00] %"), std::string::npos) << table;
  EXPECT_NE(table.find("no build: main.c:5:10: error"), std::string::npos) << table;
  for (size_t at = 0, end = 0; at < table.size(); at = end + 1) {
    end = table.find('\n', at);
    EXPECT_LE(text::display_width(table.substr(at, end - at)), 120u) << table;
  }
  EXPECT_EQ(nlohmann::json::parse(output.json)["comparisons"][1]["reason"], broken.why);
}

// Numbers for programs, and what a reader must know of the trials in each form.
TEST(Bisection, SaysNumbersAndCaveatsOfEachComparison) {
  commands::Bisection search;
  search.alpha = 0.05;
  search.commits = {{"0123456789abcdef", "good"}, {"fedcba9876543210", "bad"}};
  search.end = commands::BisectEnd::kCommit;
  search.slower = 1;
  commands::BisectStep step;
  step.position = 1;
  step.finding = step.taken = commands::CommitFinding::kSlower;
  step.change = "+3.00 %";
  step.interval = "+2.00 %, +4.00 %";
  step.cost = 0.03, step.cost_low = 0.02, step.cost_high = 0.04;
  step.unit = "share";
  step.care = {"6 attempts failed and were run again (revision=head: 6)"};
  search.steps = {step};
  const commands::BisectOutput output = commands::bisect_output(search);
  const auto json = nlohmann::json::parse(output.json);
  EXPECT_EQ(json["version"], 3);
  const nlohmann::json& one = json["comparisons"][0];
  EXPECT_EQ(one["cost"], 0.03);
  EXPECT_EQ(one["cost_low"], 0.02);
  EXPECT_EQ(one["cost_high"], 0.04);
  EXPECT_EQ(one["unit"], "share");
  EXPECT_EQ(one["care"][0], step.care[0]);
  const std::string care = "care, fedcba987654 against 0123456789ab: 6 attempts failed and were run again (revision=head: 6)";
  EXPECT_NE(output.text.find(care), std::string::npos) << output.text;
  EXPECT_NE(output.markdown.find("6 attempts failed and were run again"), std::string::npos) << output.markdown;
  EXPECT_NE(page::render_bisection(search).find(care), std::string::npos);
  search.steps.push_back(step);
  search.steps[1].care = {"the two sides run the same file", step.care[0]};
  const std::string both = commands::bisect_output(search).text;
  EXPECT_NE(both.find("care, fedcba987654 against 0123456789ab, fedcba987654 against 0123456789ab: 6 attempts failed"),
            std::string::npos) << both;
  EXPECT_NE(both.find("care, fedcba987654 against 0123456789ab: the two sides run the same file"), std::string::npos) << both;
  search.steps[0].change = "-";
  EXPECT_TRUE(nlohmann::json::parse(commands::bisect_output(search).json)["comparisons"][0]["cost_low"].is_null());
}

TEST(Bisection, SaysThatItIsOfBinariesAsTheyAreLinked) {
  const std::string care = "care: commits are compared as they are linked";
  for (const bool is_of_binaries : {false, true}) {
    commands::Bisection search;
    search.commits = {{"0123456789abcdef", "good"}, {"fedcba9876543210", "bad"}};
    search.steps.resize(1);
    search.steps[0].position = 1;
    search.is_of_binaries = is_of_binaries;
    const commands::BisectOutput output = commands::bisect_output(search);
    for (const std::string& form : {output.text, output.markdown, page::render_bisection(search)})
      EXPECT_EQ(form.find(care) != std::string::npos, is_of_binaries) << form;
    EXPECT_EQ(nlohmann::json::parse(output.json)["about"], is_of_binaries ? "binaries" : "programs");
    search.end = commands::BisectEnd::kNone;
    const commands::BisectOutput none = commands::bisect_output(search);
    for (const std::string& form : {none.text, none.markdown, page::render_bisection(search)})
      EXPECT_EQ(form.find("random layouts") == std::string::npos, is_of_binaries) << form;
  }
}

// As a page: a row for each comparison, heavy where it names its commit, and nothing of a subject is markup.
TEST(Bisection, IsAPage) {
  Rng rng(23);
  MadeHistory history = with_these_steps(40, {0.03, -0.02}, rng);
  history.error = 0.001;
  history.unbuilt = 0.1;
  commands::Bisection search = made_bisection(history, 0.005, rng);
  for (commands::BisectCommit& commit : search.commits)
    commit.subject = "<b>\x1b[2J& a subject of many words \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
  for (commands::BisectStep& step : search.steps)
    if (step.finding != commands::CommitFinding::kNotBuilt) step.change = step.interval = "?";
  const std::string page = page::render_bisection(search);
  const auto count = [&](const std::string& what) {
    size_t times = 0;
    for (size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++times;
    return times;
  };
  EXPECT_EQ(count("<tr><td>"), search.steps.size());
  EXPECT_EQ(count(" class=\"thick\"/>"), 2u);
  EXPECT_EQ(count(", named</td>"), 2u);
  EXPECT_EQ(count("<circle"), static_cast<size_t>(std::count_if(search.steps.begin(), search.steps.end(), [](const auto& step) {
              return step.finding != commands::CommitFinding::kNotBuilt;
            })));
  for (const char* none : {"<b>&", "\x1b", "nan", "inf\""}) EXPECT_EQ(count(none), 0u) << none;
  commands::Bisection nothing;
  nothing.alpha = 0.05;
  nothing.commits = {{"a", ""}, {"b", ""}};
  EXPECT_NE(page::render_bisection(nothing).find("tell whether b is slower than a"), std::string::npos);
}

}  // namespace
}  // namespace stab::analysis
