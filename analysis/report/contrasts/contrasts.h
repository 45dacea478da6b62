// Contrasts and verdicts: each level of each factor against the factor's baseline, for each workload and over
// all, with both error terms.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"
#include "analysis/statistics/two_samples/t_tests.h"

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
  // Whether contrasts say what more replicates would settle them. It takes more time than all the rest.
  bool settles = true;
};

// pre: units[r][w] are the units of samples.workloads[w] in response r. For each response: per-workload
// contrasts first, factor by factor, then those over all workloads. Holm and verdicts are filled in; the family
// is contrasts x workloads x declared responses.
std::vector<Contrast> contrasts_of(const Samples& samples, const UnitsByResponse& units, const StoppedAt& stopped);

// A two-sided test's estimate and interval in people's units: on a log scale ratios.
Interval to_people(Scale scale, const statistics::TTest& test);

}  // namespace stab::report
