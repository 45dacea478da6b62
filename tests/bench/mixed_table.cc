// mixed_table [ROUNDS]: how often 95 % intervals of mixed models leave the truth out, as the Markdown table of
// docs/evaluation/records/calibration.md.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/unit/analysis/mixed_rows.h"

int main(int argc, char** argv) {
  using namespace stab;
  using namespace stab::statistics;
  using namespace stab::analysis;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4000;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: mixed_table [ROUNDS]\n");
    return 2;
  }
  std::printf(
      "| shape | Satterthwaite | Kenward-Roger | program:build left out | singular | refused "
      "|\n|---|---:|---:|---:|---:|---:|\n");
  for (const MixedShape& shape : kMixedShapes) {
    constexpr double kEffect = 0.3;
    Rng rng = Rng::stream(41, shape.name);
    int wrong[3] = {}, answered[3] = {}, singular = 0;
    for (int round = 0; round < rounds; ++round) {
      const MixedRows rows = mixed_rows(rng, shape, kEffect);
      std::vector<RandomTerm> without = rows.random;
      without.pop_back();
      for (int method = 0; method < 3; ++method) {
        const auto fit = fit_mixed(rows.columns, {"(intercept)", "build"}, method == 2 ? without : rows.random, rows.values,
                                   method == 1 ? DegreesOfFreedom::kKenwardRoger : DegreesOfFreedom::kSatterthwaite);
        if (!fit) continue;
        ++answered[method];
        const FixedEffect& build = fit->fixed[1];
        wrong[method] += std::fabs(build.estimate - kEffect) > t_quantile(0.975, build.df) * build.standard_error;
        singular += method == 0 && fit->singular;
      }
    }
    const auto percent = [&](int method) { return 100.0 * wrong[method] / std::max(1, answered[method]); };
    std::printf("| %s | %.1f | %.1f | %.1f | %.1f | %d |\n", shape.name, percent(0), percent(1), percent(2),
                100.0 * singular / rounds, rounds - answered[0] + rounds - answered[1]);
    std::fflush(stdout);
  }
  return 0;
}
