// Experiments made from a seed, for tests of the report: programs, code x stack x heap, known effects.
#pragma once

#include <cmath>
#include <string>

#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::analysis {

inline double standard_normal(Rng& rng) {
  return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52);
}

struct LabShape {
  int programs = 3;
  int replicates = 30;
  int links = 0;              // freshly seeded links of the cells with code off; 0: one for all
  bool crossed_links = false; // each cell of a block runs a link of its own, as the lab's schedule does
  double noise = 0.004;       // log sd of a run
  double layout_sd = 0.01;    // log sd of layouts, where they vary
  double code_effect = 0.02;  // log ratio
  double stack_effect = 0;
  double heap_effect = -0.03;
};

// Randomized complete blocks in wall time, seconds around 0.5.
inline report::Samples lab_samples(uint64_t seed, const LabShape& shape = {}) {
  report::Samples samples;
  samples.experiment = "lua-layout";
  samples.factors = {{"code", {"off", "shuffle"}, true, 0},
                     {"stack", {"zero", "on"}, true, 0},
                     {"heap", {"base", "page"}, true, 0}};
  samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.01}};
  Rng rng = Rng::stream(seed, "lab samples");
  uint32_t order = 0;
  for (int program = 0; program < shape.programs; ++program) {
    const std::string names[] = {"fib", "strings", "loop"};
    samples.workloads.push_back(program < 3 ? names[program] : "program" + std::to_string(program));
    std::vector<double> link_layout;
    for (int link = 0; link < std::max(shape.links, 1); ++link)
      link_layout.push_back(shape.layout_sd * standard_normal(rng));
    for (int block = 0; block < shape.replicates; ++block) {
      std::vector<uint16_t> cells{0, 1, 2, 3, 4, 5, 6, 7};
      rng.shuffle(cells);
      for (uint16_t cell : cells) {
        report::Trial trial;
        trial.workload = static_cast<uint32_t>(program);
        trial.levels = {static_cast<uint16_t>(cell >> 2), static_cast<uint16_t>(cell >> 1 & 1),
                        static_cast<uint16_t>(cell & 1)};
        trial.block = static_cast<uint32_t>(block);
        trial.order = order++;
        trial.seed = rng.next();
        const bool shuffled = trial.levels[0] == 1;
        if (!shuffled && shape.links > 0)
          trial.link = 1 + static_cast<uint64_t>((block + (shape.crossed_links ? 3 * cell : 0)) % shape.links);
        const double layout = shuffled ? shape.layout_sd * standard_normal(rng)
                                       : link_layout[shape.links > 0 ? trial.link - 1 : 0];
        const double log_time = std::log(0.5 + 0.1 * program) + trial.levels[0] * shape.code_effect +
                                trial.levels[1] * shape.stack_effect + trial.levels[2] * shape.heap_effect +
                                layout + shape.noise * standard_normal(rng);
        trial.values = {std::exp(log_time)};
        report::Dose dose;
        dose.functions = 900;
        if (shuffled) {
          dose.functions_moved = 870;
          dose.code_layouts_built = 60;
          dose.code_layouts_executed = 50 + rng.below(10);
        }
        if (trial.levels[1]) {
          dose.stack_layouts = 55;
          dose.pads = 700;
        }
        if (trial.levels[2]) dose.heap_share = 0.98;
        trial.dose = dose;
        samples.trials.push_back(std::move(trial));
      }
    }
  }
  samples.planned = order;
  return with_layouts(std::move(samples));
}

}  // namespace stab::analysis
