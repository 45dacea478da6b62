// Replays of a trial, made from a seed: runs of its layout beside fresh layouts of its cell, in blocks, as the lab has them.
#pragma once

#include <algorithm>
#include <cmath>

#include "analysis/report/experiment/samples.h"
#include "base/rng.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {

struct ReplayShape {
  int times = 20;
  double effect = 0;       // log ratio of its layout to the mean of layouts
  double layout_sd = 0.02; // of fresh layouts
  double noise = 0.005;    // of a run
  double block_sd = 0.02;  // of what the machine does to a block as a whole
  bool skewed = false;     // few layouts are much slower than the others
  int links = 0;           // fresh layouts are so many links, again and again
  std::optional<double> excess = {};
};

inline report::Samples replay_samples(uint64_t seed, const ReplayShape& shape = {}) {
  Rng rng = Rng::stream(seed, "replay samples");
  report::Samples samples;
  samples.experiment = "lua-layout-trial-91";
  samples.workloads = {"fib"};
  samples.factors = {{"code", {shape.links > 0 ? "off" : "shuffle"}, true, 0, {shape.links > 0}},
                     {"layout", {"fresh", "trial-91"}, false, 0, {}}};
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.01}};
  samples.replayed = report::ReplayedTrial{91, "lua-layout", 1, shape.excess};
  const auto layout = [&] {
    // An exponential has mean and deviation 1.
    if (!shape.skewed) return shape.layout_sd * standard_normal(rng);
    return shape.layout_sd * (-std::log((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52) - 1);
  };
  std::vector<double> links;
  for (int i = 0; i < shape.links; ++i) links.push_back(layout());
  for (int block = 0; block < shape.times; ++block) {
    const double moment = shape.block_sd * standard_normal(rng);
    const bool first = rng.next() & 1;
    for (const bool own : {first, !first}) {
      report::Trial trial;
      trial.levels = {0, static_cast<uint16_t>(own)};
      trial.block = static_cast<uint32_t>(block);
      trial.order = static_cast<uint32_t>(samples.trials.size());
      trial.seed = own ? 91 : rng.next();
      trial.layout = (1u << 30) + 2 * trial.block + own;
      double here = own ? shape.effect : 0;
      if (!own && shape.links > 0) {
        trial.link = 1 + static_cast<uint64_t>(block % shape.links);
        trial.layout = trial.link;
        trial.fixed_code = true;
        here = links[trial.link - 1];
      } else if (!own) {
        here = layout();
      }
      trial.values = {std::exp(here + moment + shape.noise * standard_normal(rng))};
      samples.trials.push_back(std::move(trial));
    }
  }
  samples.planned = static_cast<uint32_t>(samples.trials.size());
  samples.planned_replicates = static_cast<uint32_t>(shape.times);
  return samples;
}

}  // namespace stab::analysis
