// How often is a layout map wrong? Each round makes an experiment and its confirmation from a seed: 2,000 epochs of 52 functions,
// noise of 1 % with drift of 2 % and heavy tails, confirmed by as many. The rates are in docs/explanation/layout-maps.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "analysis/layout_report/layout_map.h"
#include "tests/unit/analysis/made_placements.h"

namespace stab::analysis {
namespace {

using namespace layout_report;

struct Rates {
  int rounds = 0, candidates = 0, silent = 0, first = 0, both = 0, inside = 0, half_inside = 0, false_findings = 0;
};

Rates simulate(uint64_t seed, int rounds, bool planted, double noise) {
  Rates out;
  out.rounds = rounds;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t at = seed + 2 * static_cast<uint64_t>(round);
    const Result<LayoutMap> map = screen_layouts(made_placements(at, {.noise = noise, .planted = planted}), {});
    EXPECT_TRUE(map);
    std::vector<Candidate> candidates = map->screen.candidates;
    out.candidates += !candidates.empty();
    if (candidates.size() > 12) candidates.resize(12);
    Confirmation confirmation;
    if (!candidates.empty()) {
      const Result<Confirmation> said =
          confirm_places(made_placements(at + 1, {.noise = noise, .planted = planted, .forced = true}), candidates, {});
      EXPECT_TRUE(said);
      confirmation = *said;
    }
    bool line = false, half = false, any = false;
    for (size_t i = 0; i < confirmation.places.size(); ++i) {
      const Confirmed& place = confirmation.places[i];
      if (!place.refused.empty()) continue;
      const bool changed = place.verdict == report::Verdict::kChanged;
      any = any || changed;
      const bool is_line = place.place.function == "hot_line" && place.place.kind == PlaceKind::kLine;
      const bool is_half = place.place.function == "hot_half" && place.place.kind == PlaceKind::kHalf;
      double truth = 0;
      if (is_line) truth = kLineEffects[place.slowest] - kLineEffects[place.fastest];
      if (is_half) truth = kHalfEffects[place.slowest] - kHalfEffects[place.fastest];
      const bool inside = std::log(place.difference.low) <= truth && truth <= std::log(place.difference.high);
      if (planted && is_line) {
        line = changed;
        out.first += i == 0;
        out.inside += inside;
      } else if (planted && is_half) {
        half = changed;
        out.half_inside += inside;
      } else if (changed && place.place.function != "hot_line" && place.place.function != "hot_half") {
        ++out.false_findings;
      }
    }
    out.silent += !any;
    out.both += line && half;
  }
  return out;
}

void print(const char* what, int count, int rounds) {
  std::printf("rate %-58s %.4f\n", what, static_cast<double>(count) / rounds);
}

// The goal is 19 of 20; at a true rate of 0.95, 4 standard errors of 200 rounds are 0.062.
constexpr int kRounds = 200;
constexpr double kLeast = 0.95 - 0.062;

TEST(LayoutMapCalibration, NullProgramIsSilent) {
  const Rates rates = simulate(1'000'000, kRounds, false, 0.01);
  print("null: a screen names no candidate", kRounds - rates.candidates, kRounds);
  print("null: the map finds nothing", rates.silent, kRounds);
  EXPECT_LE(rates.candidates, kRounds * (kDiscoveryRate + 4 * std::sqrt(0.09 / kRounds)));
  EXPECT_GE(rates.silent, 0.95 * kRounds);
}

TEST(LayoutMapCalibration, PlantedPlacesAreFoundRankedAndSized) {
  const Rates rates = simulate(2'000'000, kRounds, true, 0.01);
  print("planted: the strongest is ranked first", rates.first, kRounds);
  print("planted: both are found", rates.both, kRounds);
  print("planted: size of the stronger inside its 95 % interval", rates.inside, kRounds);
  print("planted: size of the weaker inside its 95 % interval", rates.half_inside, kRounds);
  print("planted: other functions found, by map", rates.false_findings, kRounds);
  EXPECT_GE(rates.first, 0.95 * kRounds);
  EXPECT_GE(rates.both, 0.95 * kRounds);
  EXPECT_GE(rates.inside, kLeast * kRounds);
  EXPECT_GE(rates.half_inside, kLeast * kRounds);
  EXPECT_LE(rates.false_findings, 0.05 * kRounds);
}

// Of how many rounds the share's interval holds what the share is on average.
int shares_that_hold(uint64_t seed, const MadeShape& shape) {
  std::vector<Candidate> candidates(1);
  candidates[0].slowest = 2;
  candidates[0].fastest = 3;
  std::vector<statistics::PlacementFit::Share> shares;
  double mean = 0;
  for (int round = 0; round < kRounds; ++round) {
    const PlacementData data = made_placements(seed + static_cast<uint64_t>(round), shape);
    candidates[0].place = {PlaceKind::kLine, data.functions[0].name, "", data.functions[0].linked, 0, "", ""};
    const Result<Confirmation> said = confirm_places(data, candidates, {});
    EXPECT_TRUE(said && said->places[0].refused.empty());
    shares.push_back(said->places[0].share);
    mean += shares.back().estimate / kRounds;
  }
  return static_cast<int>(std::count_if(shares.begin(), shares.end(), [&](const statistics::PlacementFit::Share& share) {
    return share.interval && share.interval->first <= mean && mean <= share.interval->second;
  }));
}

// Few trials, and few stretches where each trial is a unit, are what plans have.
TEST(LayoutMapCalibration, SharesHoldWithFewTrials) {
  const std::pair<const char*, MadeShape> shapes[] = {
      {"planted: share in its interval, 20 trials of 100 epochs", {.functions = 2, .forced = true}},
      {"planted: share in its interval, 8 trials of 100 epochs", {.functions = 2, .trials = 8, .forced = true}},
      {"planted: share in its interval, 2 trials of 100 epochs", {.functions = 2, .trials = 2, .forced = true}},
      {"planted: share in its interval, 200 trials of one layout", {.functions = 2, .trials = 1, .epochs = 200}}};
  uint64_t seed = 3'000'000;
  for (const auto& [what, shape] : shapes) {
    const int held = shares_that_hold(seed, shape);
    seed += 1000;
    print(what, held, kRounds);
    EXPECT_GE(held, kLeast * kRounds) << what;
  }
}

}  // namespace
}  // namespace stab::analysis
