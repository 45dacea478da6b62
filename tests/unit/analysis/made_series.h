// Experiments of a series, made: a shuffled program, revisions as the one treatment, blocks that share the machine's mood.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/report/contrasts/trend.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"

namespace stab::analysis {

inline report::SeriesPart empty_part(size_t number) {
  report::SeriesPart part;
  part.name = std::to_string(number);
  part.samples.experiment = "night";
  part.samples.workloads = {"work"};
  part.samples.factors = {{.name = "code", .levels = {"shuffle"}, .layout = true}, {.name = "revision", .levels = {}}};
  part.samples.responses = {{.name = "wall_time", .unit = "s", .scale = report::Scale::kLog, .margin = 0.01}};
  return part;
}

// A trial in a layout of its own.
inline void add_trial(report::SeriesPart& part, const std::string& level, uint32_t block, double value) {
  std::vector<std::string>& levels = part.samples.factors[1].levels;
  auto at = std::find(levels.begin(), levels.end(), level);
  if (at == levels.end()) at = levels.insert(levels.end(), level);
  report::Trial trial;
  trial.levels = {0, static_cast<uint16_t>(at - levels.begin())};
  trial.block = block;
  trial.order = static_cast<uint32_t>(part.samples.trials.size());
  trial.seed = trial.layout = 1000 + trial.order;
  trial.values = {value};
  part.samples.trials.push_back(trial);
  ++part.samples.planned;
}

// Log times with an effect for each level, a block's own part with sd 2 % and a trial's with sd 1 %.
inline report::SeriesPart made_part(size_t number, const std::vector<std::string>& levels, const std::vector<double>& effects,
                                    size_t blocks, uint64_t seed = 1) {
  Rng rng = Rng::stream(seed, "night " + std::to_string(number));
  const auto normal = [&rng] { return statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52); };
  report::SeriesPart part = empty_part(number);
  for (uint32_t block = 0; block < blocks; ++block) {
    const double mood = 0.02 * normal();
    for (size_t level = 0; level < levels.size(); ++level)
      add_trial(part, levels[level], block, std::exp(effects[level] + mood + 0.01 * normal()));
  }
  return part;
}

}  // namespace stab::analysis
