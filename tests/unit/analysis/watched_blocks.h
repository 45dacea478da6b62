// Experiments in the shapes that plans have, watched after each block, for the rates at which a confidence sequence errs.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::analysis {

struct WatchedShape {
  const char* name = "two cells";
  uint16_t levels = 2;        // of the treatment
  bool half = false;          // instead: a half of three treatments, four cells
  uint64_t links = 0;         // code is off, and the cells of a block run different ones of so many links
  uint32_t programs = 1;
  report::Population asked = report::Population::kOneWorkload;
  double failing = 0;         // share of trials that give no value
  enum Error { kNormal, kExponential, kHeavy } error = kNormal;  // heavy: t with 3 degrees of freedom
};

inline constexpr uint32_t kFirstWatched = 8;

inline constexpr WatchedShape kWatchedShapes[] = {
    {.name = "two cells"},
    {.name = "two cells, exponential errors", .error = WatchedShape::kExponential},
    {.name = "two cells, errors with t, 3 df", .error = WatchedShape::kHeavy},
    {.name = "five cells, four contrasts", .levels = 5},
    {.name = "a half of three factors", .half = true},
    {.name = "two cells, ten links crossed with blocks", .links = 10},
    {.name = "three programs, each", .programs = 3},
    {.name = "these three programs", .programs = 3, .asked = report::Population::kThese},
    {.name = "programs like these three, which are judged at the end", .programs = 3, .asked = report::Population::kLikeThese},
    {.name = "two cells, a third of the trials failed", .failing = 1.0 / 3},
};

// A linear response, of a plan that stops by a confidence sequence; a trial's standard deviation is 1, a block's 2. `effect`
// is that of each level above the baseline.
inline report::Samples watched_blocks(Rng& rng, const WatchedShape& shape, uint32_t blocks, double effect, double margin) {
  const auto uniform = [&] { return (static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52; };
  const auto normal = [&] { return statistics::normal_quantile(uniform()); };
  const auto error = [&] {
    if (shape.error == WatchedShape::kExponential) return -std::log(uniform()) - 1;
    if (shape.error == WatchedShape::kNormal) return normal();
    const double a = normal(), b = normal(), c = normal();
    return normal() / std::sqrt(a * a + b * b + c * c);
  };
  report::Samples samples;
  samples.factors = {{"code", {shape.links > 0 ? "off" : "shuffle"}, true, 0, {shape.links > 0}}};
  if (shape.half) {
    for (const char* name : {"a", "b", "c"}) samples.factors.push_back({name, {"0", "1"}, false, 0, {}});
  } else {
    samples.factors.push_back({"opt", {}, false, 0, {}});
    for (uint16_t level = 0; level < shape.levels; ++level) samples.factors[1].levels.push_back("O" + std::to_string(level));
  }
  samples.stopping.rule = report::StoppingRule::kSequence;
  samples.stopping.first = kFirstWatched;
  samples.stopping.max = blocks;
  samples.responses = {{.name = "cost", .unit = "", .scale = report::Scale::kLinear, .margin = margin}};
  uint32_t order = 0;
  for (uint32_t program = 0; program < shape.programs; ++program) {
    samples.workloads.push_back("program " + std::to_string(program));
    std::vector<double> layouts(shape.links);
    for (double& layout : layouts) layout = std::sqrt(0.8) * error();
    const uint16_t cells = shape.half ? 4 : shape.levels;
    for (uint32_t block = 0; block < blocks; ++block) {
      const double common = 2 * normal();
      for (uint16_t cell = 0; cell < cells; ++cell) {
        report::Trial trial;
        trial.workload = program;
        if (shape.half) {
          const uint16_t a = cell >> 1, b = cell & 1;
          trial.levels = {0, a, b, static_cast<uint16_t>(a ^ b)};
        } else {
          trial.levels = {0, cell};
        }
        trial.block = block;
        trial.order = order++;
        trial.seed = rng.next();
        double value = common + error();
        if (shape.links > 0) {
          trial.link = 1 + (block + 3 * cell) % shape.links;
          value = common + layouts[trial.link - 1] + std::sqrt(0.2) * error();
        }
        const bool changed = shape.half ? trial.levels[1] > 0 : cell > 0;
        if (uniform() < shape.failing) continue;
        trial.values = {100 + value + (changed ? effect : 0)};
        samples.trials.push_back(std::move(trial));
      }
    }
  }
  return with_layouts(std::move(samples));
}

// Whether some look from `first` to `most` blocks finds what is asked for, with these levels at each.
inline bool found_while_watching(const report::Samples& samples, uint32_t first, uint32_t most,
                                 const std::function<report::LookLevels(uint32_t)>& levels,
                                 const std::function<bool(const report::Contrast&)>& asked) {
  for (uint32_t blocks = first; blocks <= most; ++blocks) {
    const report::Samples seen = report::first_blocks(samples, blocks);
    report::UnitsByResponse units(1);
    for (uint32_t w = 0; w < seen.workloads.size(); ++w) units[0].push_back(report::units_of(seen, w, 0));
    const auto contrasts = report::contrasts_of(seen, units, {levels(blocks)});
    if (std::any_of(contrasts.begin(), contrasts.end(), asked)) return true;
  }
  return false;
}

}  // namespace stab::analysis
