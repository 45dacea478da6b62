// Code or place, and of which function: where the truth is made, and by properties that hold whatever it is.
#include "analysis/statistics/places/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/places/best_places.h"
#include "analysis/statistics/places/place_effects.h"
#include "tests/unit/analysis/made_causes.h"

namespace stab::statistics {
namespace {

using ::testing::ElementsAre;

std::vector<CauseBlock> made(const MadeCause& truth, size_t blocks = 20) { return CauseMaker(7, truth).blocks(blocks); }

CauseAnswer decided(const std::vector<CauseBlock>& blocks) { return *decide_cause(blocks, {}, 0.02); }

TEST(Cause, EachAnswerComesWhereItIsTrue) {
  MadeCause truth{.noise = 0.003};
  EXPECT_EQ(decided(made(truth)).verdict, CauseVerdict::kNothing);
  truth.code = 0.03;
  EXPECT_EQ(decided(made(truth)).verdict, CauseVerdict::kCode);
  truth.place = -0.03;
  EXPECT_EQ(decided(made(truth)).verdict, CauseVerdict::kBoth) << "they cancel in the plain builds, and both are there";
  truth.code = 0;
  EXPECT_EQ(decided(made(truth)).verdict, CauseVerdict::kPlace);
  truth.noise = 0.05;
  const CauseAnswer noisy = decided(made(truth));
  EXPECT_EQ(noisy.verdict, CauseVerdict::kUnresolved);
  ASSERT_TRUE(noisy.settles_at);
  EXPECT_GT(*noisy.settles_at, noisy.blocks);
}

// Twenty blocks whose two differences have these means, and these standard deviations as if they were independent.
CauseAnswer decided_of(double plain, double plain_sd, double code, double code_sd) {
  std::vector<CauseBlock> blocks;
  for (int i = 0; i < 20; ++i)
    blocks.push_back({0, plain + (i % 2 == 0 ? plain_sd : -plain_sd), 0, code + (i % 4 < 2 ? code_sd : -code_sd)});
  return decided(blocks);
}

TEST(Cause, ASmallChangeOfCodeIsNamedAndNeverExcused) {
  EXPECT_EQ(decided(made({.code = 0.005, .noise = 0.002})).verdict, CauseVerdict::kCode);
  EXPECT_EQ(decided(made({.code = 0.005, .place = 0.05, .noise = 0.002})).verdict, CauseVerdict::kBoth);
  // The interval lies inside the margin, and not inside half of it.
  const CauseAnswer unsure = decided(made({.code = 0.003, .place = 0.05, .noise = 0.0075}));
  EXPECT_EQ(unsure.code.state, EffectState::kOpen);
  EXPECT_EQ(unsure.verdict, CauseVerdict::kUnresolved);
}

TEST(Cause, ASmallChangeOfCodeBesideAPlaceIsNamedOnceItIsSure) {
  const CauseAnswer unsure = decided_of(0.05, 0.005, 0.004, 0.006);
  EXPECT_EQ(unsure.code.state, EffectState::kSmall);
  EXPECT_EQ(unsure.verdict, CauseVerdict::kUnresolved);
  ASSERT_TRUE(unsure.settles_at);
  EXPECT_GT(*unsure.settles_at, unsure.blocks + 1);
  EXPECT_EQ(decided_of(0.05, 0.005, 0.004, 0.003).verdict, CauseVerdict::kBoth);
  EXPECT_EQ(decided_of(0.004, 0.005, 0.004, 0.006).verdict, CauseVerdict::kCode) << "no place beside it";
}

TEST(Cause, APlaceAloneIsNamedWhereItMatters) {
  const CauseAnswer small = decided_of(0.006, 0.002, 0, 0.002);
  EXPECT_EQ(small.place.state, EffectState::kSmall);
  EXPECT_EQ(small.verdict, CauseVerdict::kNothing);
  // The place's interval reaches out of the margin, and that of what one sees does not.
  const CauseAnswer wide = decided_of(0.006, 0.006, -0.0005, 0.0045);
  EXPECT_EQ(wide.place.state, EffectState::kThere);
  EXPECT_EQ(wide.verdict, CauseVerdict::kNothing);
  EXPECT_EQ(decided_of(0.012, 0.006, -0.0005, 0.0045).verdict, CauseVerdict::kPlace);
  // Code that is absent and a place that is small may still add up to more than the margin.
  const CauseAnswer sum = decided_of(0.0105, 0.0008, 0.002, 0.0008);
  EXPECT_EQ(sum.place.state, EffectState::kSmall);
  EXPECT_EQ(sum.code.state, EffectState::kAbsent);
  EXPECT_EQ(sum.verdict, CauseVerdict::kPlace);
}

TEST(Cause, WhatBlocksAndLayoutsShareChangesNothing) {
  const auto blocks = made({.code = 0.02, .place = 0.01});
  const CauseAnswer before = decided(blocks);
  auto moved = blocks;
  for (size_t i = 0; i < moved.size(); ++i) {
    moved[i].plain_old += 3.0 * static_cast<double>(i);
    moved[i].plain_new += 3.0 * static_cast<double>(i);
    moved[i].random_old -= 2.0;
    moved[i].random_new -= 2.0;
  }
  const CauseAnswer after = decided(moved);
  EXPECT_NEAR(after.code.low, before.code.low, 1e-9);
  EXPECT_NEAR(after.place.high, before.place.high, 1e-9);
  EXPECT_EQ(after.verdict, before.verdict);
}

TEST(Cause, TheOtherWayRoundIsTheOtherSign) {
  const auto blocks = made({.code = 0.02, .place = 0.01});
  auto turned = blocks;
  for (CauseBlock& block : turned) block = {block.plain_new, block.plain_old, block.random_new, block.random_old};
  const CauseAnswer one = decided(blocks), other = decided(turned);
  EXPECT_NEAR(one.code.low, -other.code.high, 1e-12);
  EXPECT_NEAR(one.place.estimate, -other.place.estimate, 1e-12);
  EXPECT_EQ(one.verdict, other.verdict);
  EXPECT_NEAR(one.plain.estimate, one.code.estimate + one.place.estimate, 1e-12);
}

// Blocks of which what copies cost is a part of the random runs.
std::vector<CauseBlock> paid(std::vector<CauseBlock> blocks, double price) {
  for (CauseBlock& block : blocks) block.random_new += price;
  return blocks;
}

TEST(Cause, WhatCopiesCostIsNeitherCodeNorPlace) {
  const CopyPrice price{0, 0.10};
  const auto decided_for = [](const std::vector<CauseBlock>& blocks, const CopyPrice& may_be) {
    return *decide_cause(blocks, {}, 0.02, may_be);
  };
  // Nothing differs but what the copies cost: taken for code and a place that cancels it, unless it is allowed for.
  const auto same = paid(made({.noise = 0.003}), 0.06);
  EXPECT_EQ(decided_for(same, {}).verdict, CauseVerdict::kBoth);
  EXPECT_EQ(decided_for(same, price).verdict, CauseVerdict::kUnresolved);
  EXPECT_FALSE(decided_for(same, price).settles_at);
  // A change of code that the copies hide is no place.
  const auto hidden = paid(made({.code = 0.08, .noise = 0.003}), -0.08);
  EXPECT_EQ(decided_for(hidden, {}).verdict, CauseVerdict::kPlace);
  EXPECT_EQ(decided_for(hidden, {-0.10, 0}).verdict, CauseVerdict::kUnresolved);
  // What is larger than it could be stays known, and so does what it can't touch.
  EXPECT_EQ(decided_for(paid(made({.code = 0.2, .noise = 0.003}), 0.001), {0, 0.002}).verdict, CauseVerdict::kCode);
  const CauseAnswer before = decided_for(same, {}), after = decided_for(same, price);
  EXPECT_EQ(before.plain.low, after.plain.low);
  EXPECT_NEAR(after.code.low, before.code.low - 0.10, 1e-12);
  EXPECT_NEAR(after.code.high, before.code.high, 1e-12);
  EXPECT_NEAR(after.place.low, before.place.low, 1e-12);
  EXPECT_NEAR(after.place.high, before.place.high + 0.10, 1e-12);
}

TEST(Cause, LooksShareAlphaAndTheLastOneSpendsTheRest) {
  const CauseSettings settings;
  const auto looks = static_cast<double>(settings.looks.size());
  double before = 0;
  for (size_t look = 0; look < settings.looks.size(); ++look) {
    const double nominal = *nominal_alpha(settings, std::span(settings.looks).first(look), settings.looks[look], false);
    EXPECT_GE(nominal, settings.alpha / 2 / looks - 1e-9) << "each look spends the same, and looks overlap";
    EXPECT_LT(nominal, settings.alpha / 2);
    before += nominal;
  }
  EXPECT_NEAR(*nominal_alpha(settings, {}, settings.looks[0], false), settings.alpha / 2 / looks, 1e-9) << "nothing is before it";
  EXPECT_GT(before, settings.alpha / 2) << "looks overlap, so their levels add up to more than is spent";
  const std::span<const uint32_t> declared = settings.looks;
  EXPECT_EQ(*nominal_alpha(settings, declared.first(6), 640, false), *nominal_alpha(settings, declared.first(6), 640, true));
  EXPECT_NEAR(*nominal_alpha(settings, {}, 7, true), settings.alpha / 2, 1e-6) << "a budget that ends before any look";
  EXPECT_GT(*nominal_alpha(settings, declared.first(1), 15, true), *nominal_alpha(settings, declared.first(1), 15, false));
  EXPECT_TRUE(nominal_alpha(settings, declared.first(1), 10, true)) << "no block since the last look";
}

// Looks as a command takes them whose time is over after so many blocks: (blocks, level) of each.
std::vector<std::pair<uint32_t, double>> looks_in(uint32_t until_functions, uint32_t in_all) {
  const CauseSettings settings;
  std::vector<std::pair<uint32_t, double>> out;
  std::vector<uint32_t> earlier;
  bool is_final = false;
  for (uint32_t blocks = settings.looks[0];;) {
    const auto left = [&](uint32_t until) { return until > blocks ? until - blocks : 0; };
    const NextCauseLook next =
        is_final ? NextCauseLook{} : next_cause_look(settings, earlier.size(), blocks, left(until_functions), left(in_all));
    out.emplace_back(blocks, *nominal_alpha(settings, earlier, blocks, next.more == 0));
    if (next.more == 0) return out;
    is_final = next.is_cut;
    earlier.push_back(blocks);
    blocks += next.more;
  }
}

std::vector<uint32_t> blocks_in(uint32_t until_functions, uint32_t in_all) {
  std::vector<uint32_t> out;
  for (const auto& [blocks, level] : looks_in(until_functions, in_all)) out.push_back(blocks);
  return out;
}

TEST(Cause, TimeCutsTheLooksOnceForTheFunctionsAndOnceForGood) {
  EXPECT_THAT(blocks_in(10'000, 20'000), ElementsAre(10, 20, 40, 80, 160, 320, 640)) << "there is time for all";
  EXPECT_THAT(blocks_in(257, 428), ElementsAre(10, 20, 40, 80, 160, 257, 428));
  EXPECT_THAT(blocks_in(60, 100), ElementsAre(10, 20, 40, 60, 80, 100));
  EXPECT_THAT(blocks_in(62, 104), ElementsAre(10, 20, 40, 62, 80, 104));
  EXPECT_THAT(blocks_in(400, 600), ElementsAre(10, 20, 40, 80, 160, 320, 600)) << "the last look is for the end of the time";
  EXPECT_THAT(blocks_in(8, 12), ElementsAre(10)) << "two blocks are not worth a look";
}

// Whatever the time, the looks together leave the truth out as often as is promised: of a walk of normal steps without a drift.
TEST(Cause, LooksThatTimeCutsErrAsOftenAsPromised) {
  constexpr int kWalks = 20'000;
  constexpr std::pair<uint32_t, uint32_t> kTimes[] = {{257, 428}, {60, 100}, {400, 600}, {14, 24}};
  for (const auto& [until_functions, in_all] : kTimes) {
    const auto looks = looks_in(until_functions, in_all);
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    int left_out = 0;
    for (int walk = 0; walk < kWalks; ++walk) {
      double sum = 0;
      uint32_t at = 0;
      for (const auto& [blocks, level] : looks) {
        sum += std::sqrt(blocks - at) * normal(random);
        at = blocks;
        if (std::abs(sum) / std::sqrt(blocks) > normal_quantile(1 - level / 2)) {
          ++left_out;
          break;
        }
      }
    }
    const double share = static_cast<double>(left_out) / kWalks, promised = CauseSettings{}.alpha / 2;
    EXPECT_NEAR(share, promised, 4 * std::sqrt(promised * (1 - promised) / kWalks)) << until_functions << " of " << in_all;
  }
}

TEST(Cause, RefusesWhatSaysNothing) {
  EXPECT_FALSE(decide_cause(made({}, 2), {}, 0.02));
  auto blocks = made({});
  blocks[3].random_old = std::log(0.0);
  const auto refused = decide_cause(blocks, {}, 0.02);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBadInput);
}

// --- functions --------------------------------------------------------------------------------------------------------

// Runs in blocks of four. `effects`: of each function; `together`: of the first two beyond that.
std::vector<PlacedRun> placed(const std::vector<double>& effects, double together = 0, double noise = 0.003, uint64_t seed = 5,
                              uint32_t blocks = 24) {
  Rng rng(seed);
  std::vector<PlacedRun> out;
  for (uint32_t block = 0; block < blocks; ++block) {
    const double level = rng.uniform();
    for (int i = 0; i < 4; ++i) {
      PlacedRun run{block, level, {}};
      for (const double effect : effects) {
        run.as_new.push_back(rng.below(2) == 1);
        if (run.as_new.back()) run.log_time += effect;
      }
      if (effects.size() > 1 && run.as_new[0] && run.as_new[1]) run.log_time += together;
      for (int k = 0; k < 12; ++k) run.log_time += noise * (rng.uniform() - 0.5);
      out.push_back(std::move(run));
    }
  }
  return out;
}

TEST(PlaceEffects, NamesTheFunctionThePairOrTheMany) {
  std::vector<double> effects(12, 0.0);
  effects[4] = 0.02;
  const auto one = *find_places(placed(effects), {});
  EXPECT_EQ(one.cause, PlaceCause::kFunction);
  EXPECT_TRUE(one.functions[4].is_found);
  EXPECT_LT(one.functions[4].low, 0.02);
  EXPECT_GT(one.functions[4].high, 0.02);
  effects[9] = -0.02;
  EXPECT_EQ(find_places(placed(effects), {})->cause, PlaceCause::kPair);
  effects[1] = 0.02;
  EXPECT_EQ(find_places(placed(effects), {})->cause, PlaceCause::kSeveral);
  // Each is about as large as its own error, and all together are 4 times theirs.
  int many = 0;
  for (uint64_t seed = 0; seed < 20; ++seed)
    many += find_places(placed(std::vector<double>(12, 0.0008), 0, 0.003, seed), {})->cause == PlaceCause::kMany;
  EXPECT_GE(many, 12);
  // They make 1 % of a place of 1.5 %, and none of one of -1.5 %.
  const auto small_ones = placed(std::vector<double>(12, 0.0008), 0, 0.003, 1, 40);
  EXPECT_EQ(find_places(small_ones, {.place = 0.015})->cause, PlaceCause::kMany);
  EXPECT_EQ(find_places(small_ones, {.place = -0.015})->cause, PlaceCause::kElsewhere);
}

TEST(PlaceEffects, ACollidingPairIsFoundTogether) {
  const auto pair = *find_places(placed(std::vector<double>(6, 0.0), 0.03), {});
  EXPECT_EQ(pair.cause, PlaceCause::kPair);
  ASSERT_EQ(pair.pairs.size(), 1u);
  EXPECT_EQ(pair.pairs[0].first, 0u);
  EXPECT_EQ(pair.pairs[0].second, 1u);
  EXPECT_NEAR(pair.pairs[0].estimate, 0.03, 0.01);
}

TEST(PlaceEffects, WhatMakesLessThanHalfOfThePlaceIsNoCause) {
  const auto pair = placed(std::vector<double>(6, 0.0), 0.03);
  EXPECT_EQ(find_places(pair, {.place = 0.05})->cause, PlaceCause::kPair);
  EXPECT_NEAR(find_places(pair, {.place = 0.05})->of_found, 0.03, 0.01);
  EXPECT_EQ(find_places(pair, {.place = 0.2})->cause, PlaceCause::kElsewhere) << "all together are no half of it either";
  EXPECT_EQ(find_places(pair, {.place = -0.03})->pairs.size(), 1u) << "found, and of the other sign";
  EXPECT_EQ(find_places(pair, {.place = -0.03})->cause, PlaceCause::kElsewhere);
  std::vector<double> effects(6, 0.0);
  effects[2] = 0.003, effects[3] = -0.003;
  const auto cancel = *find_places(placed(effects, 0, 0.001), {.place = 0.04});
  EXPECT_TRUE(cancel.functions[2].is_found);
  EXPECT_EQ(cancel.cause, PlaceCause::kElsewhere);
}

// Each as it is fast; what each build gains is what it does not have already.
TEST(BestPlaces, EachFunctionLiesWhereItIsFast) {
  std::vector<double> effects(6, 0.0);
  effects[1] = 0.03, effects[4] = -0.02;
  const auto runs = placed(effects, 0, 0.001);
  const auto answer = *find_places(runs, {});
  const auto best = best_places(runs, answer, std::vector<bool>(6, true), 0.05);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->is_placed, std::vector<bool>({false, true, false, false, true, false}));
  EXPECT_FALSE(best->as_new[1]);
  EXPECT_TRUE(best->as_new[4]);
  EXPECT_EQ(best->is_together, std::vector<bool>(6, false));
  // Without a pair it is the same model, so each gain is that function's effect.
  EXPECT_NEAR(best->in_new.estimate, -answer.functions[1].estimate, 1e-12);
  EXPECT_NEAR(best->in_new.low, -answer.functions[1].high, 1e-12);
  EXPECT_NEAR(best->in_new.high, -answer.functions[1].low, 1e-12);
  EXPECT_NEAR(best->in_old.estimate, answer.functions[4].estimate, 1e-12);
  EXPECT_NEAR(best->in_old.low, answer.functions[4].low, 1e-12);
  const auto slow = best_places(runs, answer, std::vector<bool>(6, true), 0.05, true);
  ASSERT_TRUE(slow);
  EXPECT_TRUE(slow->as_new[1] && !slow->as_new[4]);
  EXPECT_NEAR(slow->in_old.estimate, 0.03, 0.002);
  // One that no build can place stays, and its gain is none.
  const auto one = best_places(runs, answer, {true, false, true, true, true, true}, 0.05);
  ASSERT_TRUE(one);
  EXPECT_FALSE(one->is_placed[1]);
  EXPECT_EQ(one->in_new.estimate, 0);
  EXPECT_EQ(one->in_new.high, 0);
  EXPECT_FALSE(best_places(runs, answer, std::vector<bool>(6, false), 0.05));
  const auto none = placed(std::vector<double>(6, 0.0));
  EXPECT_FALSE(best_places(none, *find_places(none, {}), std::vector<bool>(6, true), 0.05)) << "nothing was found";
}

TEST(BestPlaces, APairIsChosenTogether) {
  // Slow where both lie as in the new build, and where both lie as in the old one: fast is any mixture.
  const std::vector<double> effects = {-0.03, -0.03, 0.0, 0.0};
  const auto runs = placed(effects, 0.06, 0.001);
  const auto answer = *find_places(runs, {});
  ASSERT_EQ(answer.pairs.size(), 1u);
  const auto best = best_places(runs, answer, std::vector<bool>(4, true), 0.05);
  ASSERT_TRUE(best);
  EXPECT_NE(best->as_new[0], best->as_new[1]);
  EXPECT_TRUE(best->is_placed[0] && best->is_placed[1] && best->is_together[0] && best->is_together[1]);
  EXPECT_FALSE(best->is_placed[2] || best->is_placed[3]);
  EXPECT_NEAR(best->in_old.estimate, -0.03, 0.002);
  EXPECT_NEAR(best->in_new.estimate, -0.03, 0.002);
  // Of a pair with one that can't be placed, nothing is known of the other where it has no effect of its own.
  EXPECT_FALSE(best_places(runs, answer, {true, false, true, true}, 0.05));
}

TEST(BestPlaces, IntervalsHoldTheTruth) {
  constexpr int kRounds = 300;
  int held = 0;
  for (uint64_t seed = 1; seed <= kRounds; ++seed) {
    const auto runs = placed({0.03, 0.02, 0.0, 0.0, 0.01}, -0.025, 0.002, seed);
    const auto answer = *find_places(runs, {});
    const auto best = best_places(runs, answer, std::vector<bool>(5, true), 0.05);
    ASSERT_TRUE(best);
    ASSERT_TRUE(best->is_placed[0] && best->is_placed[1]);
    ASSERT_FALSE(best->as_new[0] || best->as_new[1]);
    const double truth = -(0.03 + 0.02 - 0.025) - (best->is_placed[4] ? 0.01 : 0);
    held += best->in_new.low <= truth && truth <= best->in_new.high;
  }
  EXPECT_GE(held, 0.92 * kRounds);
  EXPECT_LE(held, 0.98 * kRounds);
}

TEST(PlaceEffects, AsManyRunsAsAreAskedForFindTheFunctionInNineOfTen) {
  constexpr double kEffect = 0.01, kSpread = 0.01;  // sums of twelve uniform numbers have a variance of 1
  constexpr int kRounds = 200;
  const double runs = runs_to_find(kEffect, kSpread, 12, 4, 0.05);
  EXPECT_GT(runs_to_find(kEffect / 2, kSpread, 12, 4, 0.05), 3 * runs);
  int found = 0;
  for (uint64_t seed = 0; seed < kRounds; ++seed) {
    std::vector<double> effects(12, 0.0);
    effects[seed % 12] = kEffect;
    found += find_places(placed(effects, 0, kSpread, seed, static_cast<uint32_t>(std::ceil(runs / 4))), {})
                 ->functions[seed % 12].is_found;
  }
  EXPECT_NEAR(found / static_cast<double>(kRounds), 0.9, 0.065) << "three standard deviations of 200";
}

TEST(PlaceEffects, SaysThatItIsElsewhereOnlyWhereThatIsShown) {
  EXPECT_EQ(find_places(placed(std::vector<double>(6, 0.0)), {})->cause, PlaceCause::kElsewhere);
  EXPECT_EQ(find_places(placed(std::vector<double>(6, 0.0), 0, 0.1), {})->cause, PlaceCause::kOpen);
  EXPECT_FALSE(find_places({}, {}));
  auto few = placed(std::vector<double>(40, 0.0));
  few.resize(20);
  EXPECT_FALSE(find_places(few, {}));
}

TEST(PlaceEffects, NothingIsFoundInFewCasesOfNothing) {
  int found = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto cause = find_places(placed(std::vector<double>(8, 0.0), 0, 0.003, seed), {})->cause;
    found += cause != PlaceCause::kElsewhere && cause != PlaceCause::kOpen && cause != PlaceCause::kMany;
  }
  EXPECT_LE(found, 20) << "5 % of 200 are ten, and twenty are three standard deviations more";
  EXPECT_GE(found, 1) << "not for want of a test";
}

}  // namespace
}  // namespace stab::statistics
