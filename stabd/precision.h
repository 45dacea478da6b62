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
#include "store/store.h"

namespace stab::engine {

// Logarithms of the wall times of one cell of one subject: number, mean, and sum of squared deviations (Welford, 1962).
struct CellTimes {
  std::string subject, cell;
  int64_t n = 0;
  double mean = 0, squares = 0;

  void add(double log_seconds);
  // Half the 95 % confidence interval of the mean, as a share of it: exp(t * sd / sqrt(n)) - 1. Nothing below n = 2.
  std::optional<double> half_width() const;
};

class Precision {
 public:
  void add(const std::string& subject, const std::string& cell, int64_t wall_ns);
  // What was known before.
  void add(const CellTimes& times) { cells_[{times.subject, times.cell}] = times; }
  std::vector<CellTimes> cells() const;
  // The widest of all cells; nothing while a cell has fewer than two trials.
  std::optional<double> widest() const;

 private:
  std::map<std::pair<std::string, std::string>, CellTimes> cells_;
};

// Of what is recorded of an experiment.
Result<Precision> precision_of(store::Store& store, store::Id experiment);

}  // namespace stab::engine
