// Experiments whose blocks run in time slices, in the shapes that were measured and worse, for tests of slicing and for the rates
// at which its answers err.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"
#include "tests/unit/analysis/made_layouts.h"

namespace stab::analysis {

struct SlicedShape {
  const char* name = "two cells";
  uint16_t cells = 2;
  uint32_t blocks = 30;
  uint32_t alone_each = 10;   // one block of so many runs alone; 0: none
  double residual = 0.0035;   // log sd of a trial about its sliced block: of a difference 0.49 %
  bool heavy = true;          // excess kurtosis of a difference 5, the largest of 300 about six sd; else normal
  double own_spread = 1;      // the last cell's residual, times the others'
  bool half_overlap = false;  // the last cell runs twice as long as the others: half of its machine's noise is its own
  double block_sd = 0.1;      // what the machine does to a block
  double drift = 0.2;         // from the first block to the last
  double memory = 0.08;       // correlation of a cell's residual with that of the block before
  double alone_sd = 0.03;     // of a trial that runs alone, about its block
  double effect = 0;          // of each cell after the first, a log ratio
  double bias = 0;            // what slicing adds to that
  uint32_t programs = 1;
  uint64_t links = 0;         // cells run as linked, by so many links crossed with blocks, which differ by 1 %
  double excluded = 0;        // share of trials that a rule leaves out
  uint32_t runs = 1;          // of each layout in a block
  double layout_sd = 0;       // of layouts, besides what links add
};

inline report::Samples sliced_blocks(Rng& rng, const SlicedShape& shape) {
  const auto uniform = [&rng] { return (static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52; };
  const auto normal = [&] { return statistics::normal_quantile(uniform()); };
  // A mixture of normals of sd 1 in all: one in twenty has 3.93 times the spread of the others, so that the excess kurtosis is
  // 10, and that of a difference of two half of it.
  const auto error = [&] {
    if (!shape.heavy) return normal();
    constexpr double kWide = 3.93, kShare = 0.05;
    const double sd = uniform() < kShare ? kWide : 1;
    return normal() * sd / std::sqrt(1 - kShare + kShare * kWide * kWide);
  };
  report::Samples samples;
  samples.experiment = "sliced";
  samples.is_sliced = true;
  samples.factors = {{"code", {shape.links > 0 ? "off" : "shuffle"}, true, 0, {shape.links > 0}}, {"build", {}, false, 0, {}}};
  for (uint16_t cell = 0; cell < shape.cells; ++cell) samples.factors[1].levels.push_back("b" + std::to_string(cell));
  samples.responses = {{.name = "cpu_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.01}};
  uint32_t order = 0;
  for (uint32_t program = 0; program < shape.programs; ++program) {
    samples.workloads.push_back("program" + std::to_string(program));
    std::vector<double> links(shape.links), remembered(shape.cells);
    for (double& link : links) link = 0.01 * normal();
    for (double& one : remembered) one = error();
    for (uint32_t block = 0; block < shape.blocks; ++block) {
      const bool alone = shape.alone_each > 0 && block % shape.alone_each == shape.alone_each - 1;
      const double common = shape.block_sd * normal(), drifted = shape.drift * block / shape.blocks;
      for (uint16_t cell = 0; cell < shape.cells; ++cell) {
        const bool last = cell + 1 == shape.cells;
        remembered[cell] = shape.memory * remembered[cell] + std::sqrt(1 - shape.memory * shape.memory) * error();
        const uint64_t seed = rng.next();
        const double layout = shape.layout_sd * normal();
        const double machine = last && shape.half_overlap && !alone ? 0.5 * common + 0.5 * shape.block_sd * normal() : common;
        for (uint32_t run = 0; run < shape.runs; ++run) {
          report::Trial trial;
          trial.workload = program;
          trial.levels = {0, cell};
          trial.block = block;
          trial.order = order++;
          trial.seed = seed;
          trial.ran_alone = alone;
          double value = drifted + layout + (cell > 0 ? shape.effect + (alone ? 0 : shape.bias) : 0);
          if (alone) {
            value += common + shape.alone_sd * error();
          } else {
            const double residual = run == 0 ? remembered[cell] : error();
            value += machine + shape.residual * (last ? shape.own_spread : 1) * residual;
            trial.overlap = last && shape.half_overlap ? 0.5 : 1;
          }
          if (shape.links > 0) {
            trial.link = 1 + (block + 3 * cell) % shape.links;
            value += links[trial.link - 1];
          }
          if (shape.excluded > 0 && uniform() < shape.excluded) trial.excluded = "preempted";
          trial.values = {0.5 * std::exp(value)};
          samples.trials.push_back(std::move(trial));
        }
      }
    }
  }
  samples.planned = order;
  return with_layouts(std::move(samples));
}

}  // namespace stab::analysis
