// What criterion has left of one benchmark, in three files.
#pragma once

#include <string_view>

#include "plan/metrics/collected.h"

namespace stab::metrics {

struct CriterionBenchmark {
  BenchmarkName name;
  double seconds = 0;  // as the file says: Collected refuses what is not a time
};

// benchmark.json names it, estimates.json has its time, sample.json what was measured; estimates may be empty where sample isn't.
Result<CriterionBenchmark> read_criterion_files(std::string_view benchmark, std::string_view estimates, std::string_view sample);

}  // namespace stab::metrics
