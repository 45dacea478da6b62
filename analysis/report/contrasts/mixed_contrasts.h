// Mixed contrasts: levels of treatments against their baselines by one model of all trials, in which programs, machines, layouts
// and blocks are samples of such (analysis/statistics/models/mixed_model.h). For plans that declare the estimator "mixed".
//
//   fixed    the intercept and each level of each treatment but its baseline
//   random   program, and program:treatment for each treatment, where there are several programs
//            workload, where a program has several
//            machine, and machine:treatment, where there are several machines
//            layout, where layouts come back: links, or several runs of one seed
//            program:block, or block of one program
//
// program:treatment is the term that the question is about: without it the rows of a program pass for independent answers
// (docs/explanation/how-often-wrong.md says how often that errs). Degrees of freedom are Kenward and Roger's. One residual
// variance holds for all rows, so layout factors, whose levels differ in spread by design, are refused.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"
#include "base/result.h"

namespace stab::report {

struct MixedContrasts {
  struct One {
    size_t factor = 0;
    uint32_t level = 0;
    double estimate = 0, standard_error = 0, df = 0;  // on the response's scale
  };
  std::vector<One> contrasts;
  std::vector<MixedComponent> components;  // the residual last
  bool over_programs = false;              // else of the one program that there is
  uint64_t n = 0;                          // programs; of one program machines, or layouts
};

// Refuses, with the reason, what the design can't carry. pre: units are those of the response
Result<MixedContrasts> mixed_contrasts_of(const Samples& samples, const std::vector<WorkloadUnits>& units, size_t response);

}  // namespace stab::report
