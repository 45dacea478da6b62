// estimator_table [ROUNDS [ROW]]: how often the 95 % intervals of declared estimators leave the truth out, in the shapes that
// plans have, as the Markdown tables of docs/evaluation/records/calibration.md; and how wide they are beside the mean's. The same
// shapes, fewer rounds: tests/unit/analysis/estimators_calibration_test.cc. With ROW one row alone, from 0, so that processors
// can share the work.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "analysis/report/contrasts/estimators.h"
#include "tests/unit/analysis/estimated_blocks.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::report;

struct Rate {
  int wrong = 0, answered = 0;
  std::string text() const {
    if (answered == 0) return "refused";
    char out[32];
    std::snprintf(out, sizeof out, "%.1f", 100.0 * wrong / answered);
    return out;
  }
};

void row(const EstimatedShape& shape, int rounds) {
  constexpr double kEffect = 0.7;
  Rate mean, band, equivalent[2];
  Rate estimators[4];
  std::vector<double> widths[4];
  Rng rng = Rng::stream(21, shape.name);
  for (int round = 0; round < rounds; ++round) {
    // The margin is exactly the difference: "equivalent" is wrong.
    const Samples samples = estimated_blocks(rng, shape, kEffect, kEffect);
    const UnitsByResponse units{{units_of(samples, 0, 0)}};
    const LookLevels levels(samples.alpha);
    const auto contrasts = contrasts_of(samples, units, {levels});
    const auto estimated = estimator_contrasts_of(samples, units, levels);
    const auto outside = [](const Interval& interval, double truth) { return truth < interval.low || truth > interval.high; };
    const Contrast& of_mean = contrasts.back();
    const bool compared = of_mean.refused.empty();
    if (compared) {
      mean.wrong += outside(of_mean.interval, kEffect);
      ++mean.answered;
    }
    for (size_t e = 0; e < estimated.size(); ++e) {
      const EstimatorContrast& contrast = estimated[e];
      if (!contrast.refused.empty()) continue;
      const double p = e == 0 ? 0.5 : e == 1 ? 0.5 : e == 2 ? 0.75 : 0.9;
      ++estimators[e].answered;
      estimators[e].wrong += outside(contrast.interval, kEffect + spread_between(shape, p));
      if (compared)
        widths[e].push_back((contrast.interval.high - contrast.interval.low) / (of_mean.interval.high - of_mean.interval.low));
      if (e > 1) continue;
      ++equivalent[e].answered;
      equivalent[e].wrong += contrast.p_equivalence < 0.05;
    }
    constexpr int kBand = 4;  // one round in so many: its critical values are sampled
    if (round % kBand > 0) continue;
    const ShiftFunction shift = shift_functions_of(samples, units, levels).back();
    if (!shift.refused.empty()) continue;
    bool left = false;
    for (const ShiftFunction::Point& point : shift.points)
      left |= outside(point.band, kEffect + spread_between(shape, point.probability));
    ++band.answered;
    band.wrong += left;
  }
  std::printf("| %s | %s |", shape.name, mean.text().c_str());
  for (const Rate& rate : estimators) std::printf(" %s |", rate.text().c_str());
  std::printf(" %s | %s, %s |", band.text().c_str(), equivalent[0].text().c_str(), equivalent[1].text().c_str());
  for (size_t e = 0; e < 2; ++e) {
    if (widths[e].empty()) {
      std::printf(" - |");
      continue;
    }
    std::nth_element(widths[e].begin(), widths[e].begin() + static_cast<ptrdiff_t>(widths[e].size() / 2), widths[e].end());
    std::printf(" %.2f |", widths[e][widths[e].size() / 2]);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4000;
  constexpr size_t kShapes = std::size(kEstimatedShapes);
  const size_t one = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : kShapes;
  if (rounds < 1 || (argc > 2 && one >= kShapes)) {
    std::fprintf(stderr, "usage: estimator_table [ROUNDS [ROW]]; rows 0 to %zu\n", kShapes - 1);
    return 2;
  }
  if (one < kShapes) {
    row(kEstimatedShapes[one], rounds);
    return 0;
  }
  std::printf(
      "| shape | mean | Hodges-Lehmann | median | 0.75 | 0.9 | band | *equivalent* at the margin | width, HL | width, median |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const EstimatedShape& shape : kEstimatedShapes) row(shape, rounds);
  return 0;
}
