#include "engine/results/load_series.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/experiment/expand.h"
#include "engine/results/load_samples.h"
#include "engine/results/local_time.h"
#include "plan/parse.h"

namespace stab::engine {

Result<LoadedSeries> load_series(store::Store& store, const std::string& name, int64_t uid) {
  if (name.empty()) return bad_input("the name of a series is empty; write it as the plans' [experiment] declares it");
  STAB_TRY(const std::vector<store::ExperimentRow> mention, store.experiments_whose_plan_has(name));
  std::vector<store::ExperimentRow> rows;
  for (const store::ExperimentRow& row : mention) {
    const plan::Parsed parsed = plan::parse_plan(row.plan_text, row.plan_path);
    if (parsed.plan && parsed.plan->experiment.series == name) rows.push_back(row);
  }
  if (rows.empty())
    return Error{ErrorCode::kNotFound,
                 "no experiment declares the series '" + name + "': its plans say series = \"" + name + "\" in [experiment]",
                 {}};
  const auto is_of = [](int64_t user) { return [user](const store::ExperimentRow& row) { return row.submitter_uid == user; }; };
  if (std::none_of(rows.begin(), rows.end(), is_of(uid))) {
    uid = rows.back().submitter_uid;
    if (!std::all_of(rows.begin(), rows.end(), is_of(uid)))
      return bad_input("several users have a series '" + name + "', and none of them is you; look at it as one of them");
  }
  std::erase_if(rows, std::not_fn(is_of(uid)));
  LoadedSeries out;
  for (const store::ExperimentRow& row : rows) {
    const std::string called = std::to_string(row.id) + ", " + local_time(row.submitted_at_ns, "%Y-%m-%d");
    if (row.state != store::ExperimentState::kDone) {
      out.left_out.push_back(called + ": " + std::string(store::name(row.state)));
      continue;
    }
    STAB_TRY(analysis::Samples samples, load_samples(store, row));
    if (samples.incomplete) {
      out.left_out.push_back(called + ": trials are missing");
      continue;
    }
    out.parts.push_back({called, std::move(samples)});
  }
  return out;
}

}  // namespace stab::engine
