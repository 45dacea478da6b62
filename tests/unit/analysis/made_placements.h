// Epochs made from a seed, for tests of layout maps: functions that lie anywhere, two of which may matter; noise that drifts, has
// heavy tails and is as large as the effects.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "analysis/layout_report/layout_map.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {

struct MadeShape {
  int functions = 52;      // the first two may matter
  int trials = 20, epochs = 100;
  double noise = 0.01;     // sd of an epoch, of the logarithm
  double drift = 0.02;     // sd of what neighbouring epochs share, by 0.9 of it
  bool planted = true;
  bool forced = false;     // both come in blocks of four, each level once
};

// What the place mod 64 of function 0 and that mod 32 of function 1 add, of the logarithm.
inline constexpr double kLineEffects[4] = {-0.012, 0.010, 0.015, -0.013};
inline constexpr double kHalfEffects[2] = {-0.006, 0.006};

inline layout_report::PlacementData made_placements(uint64_t seed, const MadeShape& shape = {}) {
  Rng rng = Rng::stream(seed, "made placements");
  layout_report::PlacementData data;
  data.experiment = "made";
  data.workload = "loops";
  data.unit = "epoch";
  data.work = "visits of 'block'";
  data.unit_ms = 2;
  data.work_per_unit = 1000;
  data.forced = shape.forced;
  data.program_functions = static_cast<size_t>(shape.functions);
  for (int f = 0; f < shape.functions; ++f)
    data.functions.push_back({f == 0   ? "hot_line"
                              : f == 1 ? "hot_half"
                                       : "dummy_" + std::to_string(f),
                              "",
                              0x401000u + 512u * static_cast<uint64_t>(f), static_cast<uint32_t>(40 + 16 * (f % 20)), {}, {}});
  for (int trial = 0; trial < shape.trials; ++trial) {
    double drift = standard_normal(rng);
    const double level = 0.1 * standard_normal(rng);
    std::vector<uint16_t> block[2] = {{0, 1, 2, 3}, {0, 1, 2, 3}};
    for (int epoch = 0; epoch < shape.epochs; ++epoch) {
      if (epoch % 4 == 0)
        for (auto& levels : block) rng.shuffle(levels);
      uint16_t first[2] = {0, 0};
      for (int f = 0; f < shape.functions; ++f) {
        auto offset = static_cast<uint16_t>(16 * rng.below(256));
        if (shape.forced && f < 2)
          offset = static_cast<uint16_t>(offset / 64 * 64 + 16 * block[f][static_cast<size_t>(epoch % 4)]);
        if (f < 2) first[f] = offset;
        data.offset.push_back(offset);
        data.pad.push_back(static_cast<uint16_t>(16 * rng.below(64)));
      }
      drift = 0.9 * drift + std::sqrt(1 - 0.81) * standard_normal(rng);
      const double tail = rng.below(20) == 0 ? 5 * std::fabs(standard_normal(rng)) : 0;
      double signal = level + shape.drift * drift + shape.noise * (standard_normal(rng) + tail);
      if (shape.planted) signal += kLineEffects[first[0] / 16 % 4] + kHalfEffects[first[1] / 16 % 2];
      data.signal.push_back(signal);
      data.series.push_back(static_cast<uint32_t>(trial));
      data.stratum.push_back(shape.forced ? static_cast<uint32_t>(epoch / 4) : static_cast<uint32_t>(trial));
    }
  }
  return data;
}

}  // namespace stab::analysis
