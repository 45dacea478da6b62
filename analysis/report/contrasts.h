// Contrasts and verdicts: each level of each factor against the factor's baseline, for each workload and over
// all, with both error terms.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "analysis/report/draws.h"
#include "analysis/report/report.h"
#include "analysis/report/samples.h"
#include "analysis/report/stopping_decision.h"
#include "analysis/report/replication_units.h"
#include "analysis/statistics/rank_tests.h"
#include "analysis/statistics/t_tests.h"

namespace stab::report {

using UnitsByResponse = std::vector<std::vector<WorkloadUnits>>;  // [response][workload]

// The questions whose errors are controlled together: each workload alone, these together, those like them. Responses that were
// not declared are families of their own. Benchmarks have the declared ones, and one for the others of each workload.
using FamilyOfQuestions = std::tuple<Population, size_t, std::string, uint32_t>;
FamilyOfQuestions family_of(const Samples& samples, size_t response, Population population);

// What the stopping rule makes of an estimate.
struct StoppedAt {
  LookLevels levels;
  // Two stages (Stein 1945): the units of the first one, and the factor that its standard errors shrink by until the
  // end. Null: one stage.
  const UnitsByResponse* first_stage = nullptr;
  double shrinks = 1;
};

// pre: units[r][w] are the units of samples.workloads[w] in response r. For each response: per-workload
// contrasts first, factor by factor, then those over all workloads. Holm and verdicts are filled in; the family
// is contrasts x workloads x declared responses.
std::vector<Contrast> contrasts_of(const Samples& samples, const UnitsByResponse& units, const StoppedAt& stopped);

// A treatment of this name asks about the builds that are its levels, each as it is: where their code lies is a part of the
// question, and a difference of two that run in one layout each is their answer.
inline constexpr char kBinaryFactor[] = "binary";

// Which cells a contrast of one level of a factor against its baseline compares, each with its coefficient.
struct ComparedCells {
  CellCoefficients coefficients;
  std::vector<statistics::Stratum2> strata;  // pairs of cells to rank within; empty where cells don't pair up
  double level = 0;              // the mean of the baseline's cells: what a relative margin is a share of
  bool one_layout = false;
  std::vector<std::string> aliases;
};
// Refuses where there is nothing to compare, or where a treatment's difference may be luck of the linker.
Result<ComparedCells> compared_cells(const Samples& samples, size_t factor, uint32_t level, const WorkloadUnits& workload);

// The rule of docs/explanation/verdicts.md: on the response's scale (log ratios or differences), margin > 0 on that scale.
// low, high: the (1 - alpha) interval. Both conclusions must survive Holm.
Verdict verdict_of(double low, double high, double margin, bool equivalent_after_holm, bool significant_after_holm);

// A two-sided test's estimate and interval in people's units: on a log scale ratios.
Interval to_people(Scale scale, const statistics::TTest& test);

}  // namespace stab::report
