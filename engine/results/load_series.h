// From the store to a series: the experiments whose plans declare it, in the order in which they were submitted.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/trend.h"
#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

struct LoadedSeries {
  std::vector<analysis::SeriesPart> parts;
  std::vector<std::string> left_out;  // "12, 2026-11-20: not over": of the series, and no part of it yet
};

// Of the user's whose newest experiment of the series is the newest of all. kNotFound: no plan declares `name`.
Result<LoadedSeries> load_series(store::Store& store, const std::string& name);

}  // namespace stab::engine
