// From the store to a series: the experiments whose plans declare it, in the order in which they were submitted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/contrasts/trend.h"
#include "base/result.h"
#include "stabd/engine/build/naming.h"
#include "store/store.h"

namespace stab::engine {

struct LoadedSeries {
  std::vector<report::SeriesPart> parts;
  std::vector<std::string> left_out;  // "12, 2026-11-20: not over": of the series, and no part of it yet
};

// What is looked at, the newest first: who answers many people at once does no more than that for one of them.
struct SeriesLimits {
  size_t plan_bytes = SIZE_MAX;   // of all plans that are read
  int64_t trials = INT64_MAX;     // of all experiments that are loaded
};
inline constexpr SeriesLimits kSeriesForMany{8u << 20, 200'000};

// One user's: the asker's own where there is one, else the only one of that name, where the asker sees others'. kNotFound: no
// plan that the asker may see declares `name`; kBadInput: it is empty, or several others have it: whoever may submit may call a
// series as they like.
//
// Of an experiment that is not over nothing is loaded: its trials would tell which level leads before its looks.
Result<LoadedSeries> load_series(store::Store& store, const std::string& name, const Asker& asker,
                                 const SeriesLimits& limits = {});

// A series that somebody may ask for.
struct SeriesName {
  std::string name;
  int64_t uid = 0;
  size_t experiments = 0;
  store::Id newest = 0;
};
struct SeriesNames {
  std::vector<SeriesName> names;  // the one with the newest experiment first
  bool cut = false;               // older plans were not looked at
};
Result<SeriesNames> series_names(store::Store& store, const Asker& asker, const SeriesLimits& limits);

}  // namespace stab::engine
