// Pilot: an earlier experiment as the source of a plan's spread.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "base/result.h"
#include "plan/plan.h"
#include "store/store.h"

namespace stab::engine {

struct Pilot {
  report::Samples samples;           // the plan's primary response, margin and alpha, its levels and programs only
  std::vector<std::string> unknown;  // programs of the plan that the pilot didn't run
  size_t responses = 1;              // of the plan: each is asked as the primary one is, whatever the pilot measured
};

// kBadInput where the pilot can't speak for the plan: it didn't measure its response, lacks one of its levels, varies a
// factor that the plan doesn't, or ran none of its programs.
Result<Pilot> pilot_for(store::Store& store, const store::ExperimentRow& experiment, const plan::Plan& plan);

}  // namespace stab::engine
