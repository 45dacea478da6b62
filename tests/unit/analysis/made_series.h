// Experiments of a series, made: a shuffled program, revisions as the one treatment, blocks that share the machine's mood.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
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

// A series of nights, each with the anchor, yesterday's and today's revision, or, in a chain, without the anchor.
inline std::vector<report::SeriesPart> nights(size_t count, bool chain, const std::function<double(size_t)>& effect,
                                              uint64_t seed = 3) {
  std::vector<report::SeriesPart> parts;
  for (size_t night = 1; night <= count; ++night) {
    std::vector<std::string> levels{"v" + std::to_string(night - 1), "v" + std::to_string(night)};
    std::vector<double> effects{effect(night - 1), effect(night)};
    if (!chain && night > 1) {
      levels.insert(levels.begin(), "v0");
      effects.insert(effects.begin(), effect(0));
    }
    parts.push_back(made_part(night, levels, effects, 8, seed));
  }
  return parts;
}

// Each day has a session of its own, the machine was booted once, and levels are revisions of this repository.
inline void add_commits(std::vector<report::SeriesPart>& parts, const std::string& repository) {
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].sessions = {{"2026-11-" + std::to_string(10 + i), "vm", i < 5 ? "aaaaaaaa-1111" : "bbbbbbbb-2222"}};
    report::TrendRevisions revisions{"revision", repository, {}};
    for (const std::string& level : parts[i].samples.factors[1].levels) revisions.of_level[level] = "release/" + level;
    parts[i].revisions = revisions;
  }
}

}  // namespace stab::analysis
