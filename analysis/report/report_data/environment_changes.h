// Where in the run the machine began to stand otherwise than at the trial before: what a plot of the run marks. What differs in
// all is in environment.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/environment.h"

namespace stab::report {

struct EnvironmentChange {
  uint32_t position = 0, block = 0;  // of the first trial after it
  std::string machine;               // empty: there was one
  uint64_t facts = 0;                // that changed
  std::string text;                  // "kernel.release: 6.1 to 6.8", at most three facts of it
};

// Of the analysed trials, in the order of the run; of several machines each by itself. A run that changes all the time has more
// of them than anybody looks at: after the first ones the others are counted.
struct EnvironmentChanges {
  std::vector<EnvironmentChange> changes;
  uint64_t left_out = 0;
};
EnvironmentChanges environment_changes_of(const Samples& samples, const EnvironmentTable& table);

}  // namespace stab::report
