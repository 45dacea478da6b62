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

// One user's: `uid`'s own where there is one, else the only one of that name. kNotFound: no plan declares `name`; kBadInput:
// it is empty, or several others have it: whoever may submit may call a series as they like.
Result<LoadedSeries> load_series(store::Store& store, const std::string& name, int64_t uid);

}  // namespace stab::engine
