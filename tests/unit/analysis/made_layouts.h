// Which trials of made-up samples share a layout, as the lab's design would have it: those of one link and one set of
// treatments where code is off or copy, those of one seed elsewhere.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"

namespace stab::analysis {

// Call it once levels, links and seeds are final.
inline report::Samples with_layouts(report::Samples samples) {
  static const std::set<std::string> kFixed = {"off", "copy", "zero", "base"};
  std::map<std::vector<uint64_t>, uint64_t> numbers;
  size_t code = samples.factors.size();
  for (size_t f = 0; f < samples.factors.size(); ++f) {
    report::Factor& factor = samples.factors[f];
    factor.fixed.clear();
    for (const std::string& level : factor.levels) factor.fixed.push_back(factor.layout && kFixed.contains(level));
    if (factor.layout && factor.name == "code") code = f;
  }
  for (report::Trial& trial : samples.trials) {
    trial.fixed_code = code == samples.factors.size() || samples.factors[code].is_fixed(trial.levels[code]);
    std::vector<uint64_t> key{trial.fixed_code, trial.workload, trial.fixed_code ? trial.link : trial.seed};
    for (size_t f = 0; f < trial.levels.size(); ++f)
      if (!trial.fixed_code || !samples.factors[f].layout) key.push_back(trial.levels[f]);
    trial.layout = numbers.try_emplace(std::move(key), numbers.size()).first->second;
  }
  return samples;
}

}  // namespace stab::analysis
