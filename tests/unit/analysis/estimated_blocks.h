// Experiments in the shapes that plans have, for the rates at which intervals of declared estimators leave the truth out.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/report/report_data/report.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::analysis {

struct EstimatedShape {
  const char* name = "two cells";
  uint32_t blocks = 20;
  enum Error {
    kNormal,
    kExponential,
    kHeavy,
    kRareLong
  } error = kNormal;  // heavy: t with 3 df; rare long: one in 20 is 8 longer
  double spread = 1;  // of the changed side, times the baseline's
  bool random_order = false;
  uint64_t links = 0;  // code is off, and blocks and so many links are crossed
  double failing = 0;  // share of trials that give no value
};

inline constexpr EstimatedShape kEstimatedShapes[] = {
    {.name = "8 blocks", .blocks = 8},
    {.name = "12 blocks", .blocks = 12},
    {.name = "30 blocks", .blocks = 30},
    {.name = "30 blocks, exponential errors", .blocks = 30, .error = EstimatedShape::kExponential},
    {.name = "12 blocks, errors with t, 3 df", .blocks = 12, .error = EstimatedShape::kHeavy},
    {.name = "30 blocks, errors with t, 3 df", .blocks = 30, .error = EstimatedShape::kHeavy},
    {.name = "30 blocks, one trial in 20 much longer", .blocks = 30, .error = EstimatedShape::kRareLong},
    {.name = "30 blocks, one side twice as spread", .blocks = 30, .spread = 2},
    {.name = "30 blocks, a third of the trials failed", .blocks = 30, .failing = 1.0 / 3},
    {.name = "random order, 12 and 12", .blocks = 12, .random_order = true},
    {.name = "random order, 30 and 30, t with 3 df", .blocks = 30, .error = EstimatedShape::kHeavy, .random_order = true},
    {.name = "30 blocks crossed with 10 links", .blocks = 30, .links = 10},
};

inline double standard_error_draw(Rng& rng, EstimatedShape::Error kind) {
  const auto uniform = [&] { return (static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52; };
  const auto normal = [&] { return statistics::normal_quantile(uniform()); };
  if (kind == EstimatedShape::kExponential) return -std::log(uniform()) - 1;
  if (kind == EstimatedShape::kNormal) return normal();
  if (kind == EstimatedShape::kRareLong) return normal() + (uniform() < 0.05 ? 8 : 0);
  const double a = normal(), b = normal(), c = normal();
  return normal() / std::sqrt(a * a + b * b + c * c);
}

// A linear response around 100; a trial's standard deviation is about 1, a block's 1. The second side lies `effect` higher.
inline report::Samples estimated_blocks(Rng& rng, const EstimatedShape& shape, double effect, double margin) {
  report::Samples samples;
  samples.factors = {{"code", {shape.links > 0 ? "off" : "shuffle"}, true, 0, {shape.links > 0}},
                     {"opt", {"O2", "O3"}, false, 0, {}}};
  samples.responses = {{.name = "cost", .unit = "", .scale = report::Scale::kLinear, .margin = margin}};
  samples.workloads = {"program"};
  std::vector<double> layouts(shape.links);
  for (double& layout : layouts) layout = 0.9 * standard_error_draw(rng, EstimatedShape::kNormal);
  uint32_t order = 0;
  for (uint32_t block = 0; block < shape.blocks; ++block) {
    const double common = shape.random_order ? 0 : standard_error_draw(rng, EstimatedShape::kNormal);
    for (uint16_t cell = 0; cell < 2; ++cell) {
      report::Trial trial;
      trial.levels = {0, cell};
      // In random order each trial is a block of its own: nothing pairs up.
      trial.block = shape.random_order ? 2 * block + cell : block;
      trial.order = order++;
      trial.seed = rng.next();
      double error = standard_error_draw(rng, shape.error);
      if (shape.links > 0) {
        trial.link = 1 + (block + 3 * cell) % shape.links;
        error = layouts[trial.link - 1] + 0.45 * error;
      }
      if ((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52 < shape.failing) continue;
      trial.values = {100 + common + (cell > 0 ? shape.spread : 1) * error + (cell > 0 ? effect : 0)};
      samples.trials.push_back(std::move(trial));
    }
  }
  samples.estimators = {{report::Estimator::Kind::kHodgesLehmann, 0.5},
                        {report::Estimator::Kind::kQuantile, 0.5},
                        {report::Estimator::Kind::kQuantile, 0.75},
                        {report::Estimator::Kind::kQuantile, 0.9}};
  samples.shift_quantiles = {0.25, 0.5, 0.75};
  return with_layouts(std::move(samples));
}

// What quantile `p` of the second side lies above the baseline's without any effect: the marginal spread differs, where errors
// do.
inline double spread_between(const EstimatedShape& shape, double p) {
  return statistics::normal_quantile(p) * (std::sqrt(1 + shape.spread * shape.spread) - std::sqrt(2.0));
}

}  // namespace stab::analysis
