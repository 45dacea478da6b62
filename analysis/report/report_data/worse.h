// Whether a contrast shows that its level is worse than the baseline: what compare, the gate and a stopping rule ask.
#pragma once

#include <algorithm>

#include "analysis/report/report_data/report.h"

namespace stab::report {

enum class Worse { kNo, kYes, kUnsure };

// The exit status of whoever asks: 0 not worse, 1 worse, 3 unsure.
inline int exit_code_of(Worse worse) {
  constexpr int kUnsure = 3;
  return worse == Worse::kNo ? 0 : worse == Worse::kYes ? 1 : kUnsure;
}

// Worse is slower, more, higher, unless the response says that higher is better. `p`: of the difference, adjusted or not.
inline Worse worse_by(const Response& response, const Contrast& contrast, double alpha, double p) {
  if (!contrast.refused.empty() || contrast.verdict == Verdict::kWithheld) return Worse::kUnsure;
  const double zero = contrast.scale == Scale::kLog ? 1 : 0;
  if ((response.higher_is_better ? contrast.p_not_below : contrast.p_not_above) < alpha) return Worse::kNo;
  const bool is_worse = response.higher_is_better ? contrast.interval.high < zero : contrast.interval.low > zero;
  if (is_worse && p < alpha) return Worse::kYes;
  return Worse::kUnsure;
}

// The time of a workload whose benchmarks are read says nothing: such a suite chooses its number of iterations itself.
inline bool is_time_of_suite(const Report& report, const Contrast& contrast) {
  return contrast.response == "wall_time" &&
         std::any_of(report.responses.begin(), report.responses.end(), [&](const Response& other) {
           return other.is_benchmark() && report.workloads[*other.only_workload] == contrast.workload;
         });
}

}  // namespace stab::report
