// sequence_table [ROUNDS [ROW]]: confidence sequences as the Markdown tables of docs/evaluation/records/calibration.md: how often
// one that is watched after each of 8 to 60 blocks errs, in the shapes that plans have; how wide its intervals are; how many
// blocks it takes. The same shapes, fewer rounds: tests/unit/analysis/sequence_test.cc. With ROW one row of the first table
// alone, from 0, so that several processors can share the work; ROW 98 is what shapes of one contrast do to t and to bets, and
// the others follow with ROW 99.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "analysis/statistics/looks/bets.h"
#include "analysis/statistics/looks/confidence_sequence.h"
#include "tests/unit/analysis/watched_blocks.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::report;
using namespace stab::statistics;

constexpr double kAlpha = 0.05;
constexpr uint32_t kFirst = kFirstWatched, kMost = 60;
const double kNarrowest = std::sqrt(double{kFirst} * kMost);

const LookLevels& of_sequence(uint32_t blocks) {
  static const std::vector<LookLevels> kLevels = [] {
    std::vector<LookLevels> made;
    for (uint32_t n = 0; n <= kMost; ++n) made.push_back(LookLevels::in_sequence(std::max(n, 2u), kNarrowest, kAlpha));
    return made;
  }();
  return kLevels[blocks];
}
LookLevels at_one_look(uint32_t) {
  return LookLevels(kAlpha);
}

void false_alarms(const WatchedShape& shape, int rounds) {
  constexpr double kMargin = 1;
  constexpr int kNaive = 4;  // one round in so many: what is that wrong needs no more
  int changed = 0, equivalent = 0, naive = 0;
  Rng rng = Rng::stream(11, shape.name);
  const auto is_changed = [&](const Contrast& contrast) {
    return contrast.verdict == Verdict::kChanged && contrast.population == shape.asked;
  };
  // Where each difference but those of the other factors of a fraction is as large as the margin.
  const auto is_equivalent = [&](const Contrast& contrast) {
    return contrast.verdict == Verdict::kEquivalent && contrast.population == shape.asked && contrast.factor != "b" &&
           contrast.factor != "c";
  };
  for (int round = 0; round < rounds; ++round) {
    const Samples equal = watched_blocks(rng, shape, kMost, 0, 1e-9);
    changed += found_while_watching(equal, kFirst, kMost, of_sequence, is_changed);
    if (round % kNaive == 0) naive += found_while_watching(equal, kFirst, kMost, at_one_look, is_changed);
    equivalent +=
        found_while_watching(watched_blocks(rng, shape, kMost, kMargin, kMargin), kFirst, kMost, of_sequence, is_equivalent);
  }
  std::printf("| %s | %.1f | %.1f | %.1f |\n", shape.name, 100.0 * changed / rounds, 100.0 * equivalent / rounds,
              100.0 * naive * kNaive / rounds);
  std::fflush(stdout);
}

// Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", Ann.
// Statist. 52(6), 2024, equations 7 and 10: half the width in standard errors, narrowest at the same number.
double asymptotic_critical_t(double n) {
  const double rho2 = (-2 * std::log(kAlpha) + std::log(-2 * std::log(kAlpha)) + 1) / kNarrowest;
  return std::sqrt(2 * (n * rho2 + 1) / (n * rho2) * std::log(std::sqrt(n * rho2 + 1) / kAlpha));
}

double standard_normal(Rng& rng) {
  return normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52);
}

// Half widths of what reports judge by, of normal contrasts of blocks: the median of some experiments.
double judged_width(uint32_t blocks) {
  constexpr int kExperiments = 101;
  const double g = mixture_narrowest_at(kNarrowest, kAlpha);
  Rng rng = Rng::stream(15, "judged widths");
  std::vector<double> widths;
  for (int round = 0; round < kExperiments; ++round) {
    std::vector<double> values(blocks);
    for (double& value : values) value = standard_normal(rng);
    const Moments all = moments(values);
    const double half = sequence_critical_t(blocks, g, kAlpha) * all.standard_error();
    const BetEnds ends = widened_by_bets(values, g, kAlpha, {all.mean - half, all.mean + half});
    widths.push_back((ends.high - ends.low) / 2 / all.standard_error());
  }
  std::sort(widths.begin(), widths.end());
  return widths[kExperiments / 2];
}

// Of normal differences, and how often some look from 8 to 60 leaves the truth out: ours and the asymptotic one.
void widths(int rounds) {
  const double g = mixture_narrowest_at(kNarrowest, kAlpha);
  int ours = 0, asymptotic = 0;
  Rng rng = Rng::stream(12, "widths");
  for (int round = 0; round < 10 * rounds; ++round) {
    double mean = 0, squares = 0;
    bool left_ours = false, left_asymptotic = false;
    for (uint32_t n = 1; n <= kMost; ++n) {
      const double x = normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52), delta = x - mean;
      mean += delta / n;
      squares += delta * (x - mean);
      if (n < kFirst) continue;
      const double t = std::fabs(mean) / std::sqrt(squares / (n - 1) / n);
      left_ours |= t >= sequence_critical_t(n, g, kAlpha);
      left_asymptotic |= t >= asymptotic_critical_t(n);
    }
    ours += left_ours;
    asymptotic += left_asymptotic;
  }
  std::printf(
      "\n| interval | 8 | 10 | 15 | 20 | 30 | 45 | 60 | 120 | 500 | errs in |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  const auto row = [&](const char* name, const auto& critical, int wrong) {
    std::printf("| %s |", name);
    for (const double n : {8, 10, 15, 20, 30, 45, 60, 120, 500})
      std::printf(" %.2f |", critical(n) / t_quantile_upper(kAlpha / 2, n - 1));
    std::printf(" %.1f %% |\n", 10.0 * wrong / rounds);
  };
  std::printf("| judged, with bets |");
  for (const uint32_t n : {8u, 10u, 15u, 20u, 30u, 45u, 60u, 120u, 500u}) {
    const double width = judged_width(n) / t_quantile_upper(kAlpha / 2, n - 1);
    std::isfinite(width) ? std::printf(" %.2f |", width) : std::printf(" none |");
  }
  std::printf(" above |\n");
  row(
      "its t alone", [&](double n) { return sequence_critical_t(n, g, kAlpha); }, ours);
  row("asymptotic", asymptotic_critical_t, asymptotic);
}

// Contrasts of blocks of mean 0, and how often some look from 8 to `most` leaves that out: by t alone, by bets alone, and by what
// reports do, where both must. A look's question about one mean is asked as it grows, a block at a time.
struct Errors {
  const char* name;
  std::function<double(Rng&, uint32_t)> value;
};

double exponential(Rng& rng) {
  return -std::log((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52) - 1;
}
double heavy(Rng& rng) {
  const double a = standard_normal(rng), b = standard_normal(rng), c = standard_normal(rng);
  return standard_normal(rng) / std::sqrt((a * a + b * b + c * c) / 3);
}

const Errors kErrors[] = {
    {"normal", [](Rng& rng, uint32_t) { return standard_normal(rng); }},
    {"t, 3 df", [](Rng& rng, uint32_t) { return heavy(rng); }},
    {"Cauchy's", [](Rng& rng, uint32_t) { return standard_normal(rng) / std::fabs(standard_normal(rng)); }},
    {"noise of both sides alike, one trial in 30 much longer",
     [](Rng& rng, uint32_t) { return standard_normal(rng) + (rng.below(30) == 0 ? 8 : 0) - (rng.below(30) == 0 ? 8 : 0); }},
    {"five times as loud after ten blocks", [](Rng& rng, uint32_t n) { return (n < 10 ? 1 : 5) * standard_normal(rng); }},
    {"five times as quiet after ten blocks", [](Rng& rng, uint32_t n) { return (n < 10 ? 5 : 1) * standard_normal(rng); }},
    {"louder with each block", [](Rng& rng, uint32_t n) { return (n + 1) * standard_normal(rng); }},
    {"exponential, one side twice as spread", [](Rng& rng, uint32_t) { return 2 * exponential(rng) - exponential(rng); }},
    {"exponential, of one side alone", [](Rng& rng, uint32_t) { return exponential(rng); }},
    {"one side slow in one run of 30, by 8",
     [](Rng& rng, uint32_t) { return standard_normal(rng) - 8.0 / 30 + (rng.below(30) == 0 ? 8 : 0); }},
    {"one side slow in one run of 30, by 20",
     [](Rng& rng, uint32_t) { return standard_normal(rng) - 20.0 / 30 + (rng.below(30) == 0 ? 20 : 0); }},
};

void shapes(int rounds) {
  std::printf(
      "\n| contrasts of blocks | t, 60 | bets, 60 | judged, 60 | t, 600 | bets, 600 | judged, 600 |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n");
  for (const Errors& errors : kErrors) {
    std::printf("| %s |", errors.name);
    for (const uint32_t most : {60u, 600u}) {
      const double g = mixture_narrowest_at(std::sqrt(double{kFirst} * most), kAlpha);
      Rng rng = Rng::stream(14 + most, errors.name);
      int by_t = 0, by_bets = 0, judged = 0;
      for (int round = 0; round < rounds; ++round) {
        Moments seen;
        Bets bets(0, g);
        bool t_errs = false, bets_err = false, errs = false;
        for (uint32_t n = 1; n <= most; ++n) {
          const double value = errors.value(rng, n - 1);
          seen = merge(seen, Moments{1, value, 0});
          bets.add(value);
          if (n < kFirst) continue;
          const bool t_now = mixture_log_ratio(seen.mean / seen.standard_error(), n, g) >= -std::log(kAlpha);
          const bool bets_now = std::max(bets.log_above(), bets.log_below()) >= -std::log(kAlpha / 2);
          t_errs |= t_now;
          bets_err |= bets_now;
          errs |= t_now && bets_now;
        }
        by_t += t_errs;
        by_bets += bets_err;
        judged += errs;
      }
      for (const int wrong : {by_t, by_bets, judged}) std::printf(" %.1f |", 100.0 * wrong / rounds);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

// Blocks until the one contrast of two cells is settled, or the end, with what was found.
void time_to_a_verdict(int rounds) {
  constexpr double kMargin = 0.5;
  const std::vector<uint32_t> looks{15, 30, 45, 60};
  std::vector<LookLevels> at_looks;
  for (size_t k = 0; k < looks.size(); ++k)
    at_looks.push_back(*LookLevels::at_look(Spending::kObrienFleming, {0.25, 0.5, 0.75, 1}, k, kAlpha));
  std::printf(
      "\n| difference, margins | fixed: settled | looks: blocks, settled | sequence: blocks, settled |\n"
      "|---:|---:|---:|---:|\n");
  for (const double effect : {0.0, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0}) {
    Rng rng = Rng::stream(13, "verdicts");
    int settled_fixed = 0, settled_looks = 0, settled_sequence = 0;
    double blocks_looks = 0, blocks_sequence = 0;
    for (int round = 0; round < rounds; ++round) {
      const Samples samples = watched_blocks(rng, {}, kMost, effect * kMargin, kMargin);
      const auto settled = [&](uint32_t blocks, const LookLevels& levels) {
        const auto now = [&](uint32_t) { return levels; };
        return found_while_watching(samples, blocks, blocks, now, [](const Contrast& contrast) {
          return contrast.verdict == Verdict::kChanged || contrast.verdict == Verdict::kEquivalent;
        });
      };
      settled_fixed += settled(kMost, LookLevels(kAlpha));
      size_t k = 0;
      while (k + 1 < looks.size() && !settled(looks[k], at_looks[k])) ++k;
      settled_looks += settled(looks[k], at_looks[k]);
      blocks_looks += looks[k];
      uint32_t at = kFirst;
      while (at < kMost && !settled(at, of_sequence(at))) ++at;
      settled_sequence += settled(at, of_sequence(at));
      blocks_sequence += at;
    }
    const auto percent = [&](int count) { return 100.0 * count / rounds; };
    std::printf("| %g | %.0f %% | %.1f, %.0f %% | %.1f, %.0f %% |\n", effect, percent(settled_fixed), blocks_looks / rounds,
                percent(settled_looks), blocks_sequence / rounds, percent(settled_sequence));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4000;
  constexpr size_t kShapes = std::size(kWatchedShapes), kOfOneContrast = 98, kOthers = 99;
  const size_t row = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : kShapes;
  if (rounds < 1 || (argc > 2 && row >= kShapes && row != kOthers && row != kOfOneContrast)) {
    std::fprintf(stderr, "usage: sequence_table [ROUNDS [ROW]]; rows 0 to %zu, %zu and %zu\n", kShapes - 1, kOfOneContrast,
                 kOthers);
    return 2;
  }
  if (row < kShapes) {
    false_alarms(kWatchedShapes[row], rounds);
    return 0;
  }
  if (row == kOfOneContrast) {
    shapes(rounds);
    return 0;
  }
  if (row != kOthers)
    std::printf(
        "| watched after each of 8 to 60 blocks | any *changed* of equal ones | *equivalent* at the margin | "
        "each look as if the only one |\n"
        "|---|---:|---:|---:|\n");
  for (const WatchedShape& shape : kWatchedShapes)
    if (row != kOthers) false_alarms(shape, rounds);
  if (row != kOthers) shapes(rounds);
  widths(rounds);
  time_to_a_verdict(rounds);
  return 0;
}
