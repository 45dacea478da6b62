// sequence_table [ROUNDS [ROW]]: confidence sequences as the Markdown tables of docs/method.md: how often one that is watched
// after each of 8 to 60 blocks errs, in the shapes that plans have; how wide its intervals are; how many blocks it takes. The
// same shapes, fewer rounds: tests/unit/analysis/sequence_test.cc. With ROW one row of the first table alone, from 0, so that
// several processors can share the work; the others follow with ROW 99.
#include <cstdio>
#include <cstdlib>

#include "analysis/statistics/confidence_sequence.h"
#include "tests/unit/analysis/watched_blocks.h"

namespace {

using namespace stab;
using namespace stab::analysis;

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
LookLevels at_one_look(uint32_t) { return LookLevels(kAlpha); }


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
  std::printf("\n| interval | 8 | 10 | 15 | 20 | 30 | 45 | 60 | 120 | 500 | errs in |\n"
              "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  const auto row = [&](const char* name, const auto& critical, int wrong) {
    std::printf("| %s |", name);
    for (const double n : {8, 10, 15, 20, 30, 45, 60, 120, 500})
      std::printf(" %.2f |", critical(n) / t_quantile_upper(kAlpha / 2, n - 1));
    std::printf(" %.1f %% |\n", 10.0 * wrong / rounds);
  };
  row("the sequence", [&](double n) { return sequence_critical_t(n, g, kAlpha); }, ours);
  row("asymptotic", asymptotic_critical_t, asymptotic);
}

// Blocks until the one contrast of two cells is settled, or the end, with what was found.
void time_to_a_verdict(int rounds) {
  constexpr double kMargin = 0.5;
  const std::vector<uint32_t> looks{15, 30, 45, 60};
  std::vector<LookLevels> at_looks;
  for (size_t k = 0; k < looks.size(); ++k)
    at_looks.push_back(*LookLevels::at_look(Spending::kObrienFleming, {0.25, 0.5, 0.75, 1}, k, kAlpha));
  std::printf("\n| difference, margins | fixed: settled | looks: blocks, settled | sequence: blocks, settled |\n"
              "|---:|---:|---:|---:|\n");
  for (const double effect : {0.0, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0}) {
    Rng rng = Rng::stream(13, "verdicts");
    int settled_fixed = 0, settled_looks = 0, settled_sequence = 0;
    double blocks_looks = 0, blocks_sequence = 0;
    for (int round = 0; round < rounds; ++round) {
      const Samples samples = watched_blocks(rng, {}, kMost, effect * kMargin, kMargin);
      const auto settled = [&](uint32_t blocks, const LookLevels& levels) {
        const auto now = [&](uint32_t) { return levels; };
        return found_while_watching(samples, blocks, blocks, now,
                                    [](const Contrast& contrast) { return contrast.verdict != Verdict::kUnsure; });
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
  constexpr size_t kShapes = std::size(kWatchedShapes), kOthers = 99;
  const size_t row = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : kShapes;
  if (rounds < 1 || (argc > 2 && row >= kShapes && row != kOthers)) {
    std::fprintf(stderr, "usage: sequence_table [ROUNDS [ROW]]; rows 0 to %zu, and %zu\n", kShapes - 1, kOthers);
    return 2;
  }
  if (row < kShapes) {
    false_alarms(kWatchedShapes[row], rounds);
    return 0;
  }
  if (row != kOthers)
    std::printf("| watched after each of 8 to 60 blocks | any *changed* of equal ones | *equivalent* at the margin | "
                "each look as if the only one |\n"
                "|---|---:|---:|---:|\n");
  for (const WatchedShape& shape : kWatchedShapes)
    if (row != kOthers) false_alarms(shape, rounds);
  widths(rounds);
  time_to_a_verdict(rounds);
  return 0;
}
