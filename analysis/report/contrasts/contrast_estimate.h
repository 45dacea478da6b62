// A contrast's estimate and its error, on the response's scale: of one workload, of several as they are given, and of programs
// like these (contrasts.cc says why these are two questions).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/contrasts/combination.h"
#include "analysis/report/contrasts/judged_estimate.h"
#include "analysis/report/experiment/draws.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::report {

// What a contrast is before it is put in people's units.
struct ContrastEstimate {
  statistics::TTest test;      // two-sided, 1 - alpha
  uint64_t n = 0;              // smallest cell
  bool one_layout = false;
  std::string refused;
  std::optional<double> point;  // the estimate alone, also where its own error can't be had
  std::optional<double> p_rank;
  double least_p_rank = 0;
  bool blocked = false;
  uint64_t blocks_left_out = 0;
  bool by_link = false;
  double level = 0;             // the mean of the baseline's cells: what a relative margin is a share of
  std::vector<std::string> aliases;  // of a fraction
  Route route = Route::kCells;  // so that the same can be done for the margin
  CellCoefficients coefficients;
  // The margin is this share of the baseline's mean, which is an estimate itself: then the difference plus and minus that
  // share are tested as combinations of their own, t - (1 - m) b and t - (1 + m) b. Absent where their error can't be had.
  std::optional<double> share;
  std::optional<statistics::TTest> plus, minus;
  // Independent values whose means these are, in the order of the run; empty where the error comes from elsewhere.
  std::vector<double> draws, plus_draws, minus_draws;
  Shared shared;                // of its error, with other workloads
  JudgedEstimate::Ends ends;  // of the (1 - alpha) interval, once it is described
};

// level against baseline of one factor in one workload.
// fit: of the workload, made when it is first needed.
ContrastEstimate within_workload(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload,
                                 std::optional<LinkFit>& fit);

// The tests against a margin that is a share of the baseline's mean, by the route that the difference took.
void add_share(ContrastEstimate& estimate, const Samples& samples, size_t factor, double share, const WorkloadUnits& workload,
               const std::optional<LinkFit>& fit);

// The spread of the first stage, not of all replicates, is what the interval may rest on: the second stage is as long
// as the first one's spread asked for. Where repeats shrink the error less than that (links that recur), its own holds.
ContrastEstimate two_stages(ContrastEstimate all, const ContrastEstimate& first, double shrinks, double alpha);

// The mean over workloads that are taken as given. Those of one program run the same binaries.
ContrastEstimate over_these(const std::vector<ContrastEstimate>& parts, const Samples& samples);

// Looks go on in replicates, and this error is that between programs: with as few degrees of freedom its t wanders beyond any
// boundary that replicates set. So under a sequence it is judged once, at the end as planned, as if that were the only look.
bool is_judged_at_the_end(const Samples& samples);

// The mean over programs that stand for others.
ContrastEstimate over_like_these(const std::vector<ContrastEstimate>& parts, const Samples& samples);

}  // namespace stab::report
