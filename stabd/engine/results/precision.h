// Precision: how well the mean wall time of each cell is known so far. It compares nothing, so it may be shown at
// any time without giving a verdict before a declared look.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/design.h"
#include "stabd/engine/build/expand.h"
#include "store/store.h"

namespace stab::engine {

// A number of logarithms of seconds: their mean and the sum of their squared deviations (Welford, 1962).
struct LogTimes {
  int64_t n = 0;
  double mean = 0, squares = 0;
  void add(double log_seconds);
};

// Wall times of one cell of one subject. The unit is the layout, as in the report
// (analysis/report/experiment/replication_units.h): trials that share one, as those of a link do, count once, with their mean.
// Where the only layout is that of a binary they are counted as repeats of it.
struct CellTimes {
  std::string subject, cell;
  LogTimes own;                         // trials with a layout of their own
  std::map<uint64_t, LogTimes> shared;  // by layout
  bool fixed_code = false;              // layouts are those of binaries

  void add(double log_seconds, const plan::TrialLayout& layout);
  LogTimes units() const;
  // Half the 95 % confidence interval of the mean, as a share of it: exp(t * sd / sqrt(n)) - 1. Nothing below
  // kFewestUnits.
  std::optional<double> half_width() const;
};
// With fewer the interval says more of Student's t (12.7 at n = 2, 2.8 at 5) than of the program.
inline constexpr int64_t kFewestUnits = 5;

class Precision {
 public:
  void add(const std::string& subject, const std::string& cell, int64_t wall_ns, const plan::TrialLayout& layout);
  // What was known before.
  void add(const CellTimes& times) { cells_[{times.subject, times.cell}] = times; }
  std::vector<CellTimes> cells() const;
  // The widest of all cells; nothing while one of them has none.
  std::optional<double> widest() const;

 private:
  std::map<std::pair<std::string, std::string>, CellTimes> cells_;
};

// Of what is recorded of an experiment.
Result<Precision> precision_of(store::Store& store, const store::ExperimentRow& experiment);

}  // namespace stab::engine
