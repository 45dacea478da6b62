#include "stabd/daemon/answers/watched_results.h"

#include <algorithm>
#include <utility>

#include "stabd/daemon/events/watch_events.h"
#include "stabd/engine/results/precision.h"
#include "stabd/engine/results/valid_verdicts.h"

namespace stab::daemon {

Result<Watched> watched_now(store::Store& store, const Blinding& blinding, const store::ExperimentSummary& row, bool masked) {
  Watched out;
  STAB_TRY(const store::ExperimentRow whole, store.experiment(row.id));
  STAB_TRY(const engine::Precision precision, engine::precision_of(store, whole));
  out.cells = cells_json(masked ? blinding.masked(row.id, precision) : precision);
  out.widest = precision.widest();
  if (is_over(row.state)) return out;
  // Too few trials for an analysis are no error for somebody who watches.
  if (Result<std::string> verdicts = engine::valid_verdicts(store, whole)) out.verdicts = *std::move(verdicts);
  return out;
}

std::string mark_of(const store::ExperimentSummary& row, const store::Progress& progress, bool masked) {
  std::string mark = std::string(masked ? "masked " : "") + (is_over(row.state) ? "over " : "") + std::to_string(row.replicates) +
                     " " + std::to_string(progress.planned_total) + " " + std::to_string(progress.attempts);
  for (const auto& [state, count] : progress.by_state) mark += " " + std::string(store::name(state)) + std::to_string(count);
  return mark;
}

Result<WatchedResults::Shared> WatchedResults::of(store::Id experiment, const std::string& mark, const Make& make) {
  std::shared_ptr<One> one;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    Known& known = known_[experiment];
    if (!known.one) known.one = std::make_shared<One>();
    known.asked = ++asked_;
    one = known.one;
  }
  const std::lock_guard<std::mutex> alone(one->making);
  if (one->what && one->mark == mark) return one->what;
  STAB_TRY(Watched made, make());
  const size_t bytes = made.cells.size() + made.verdicts.size();
  one->what = std::make_shared<const Watched>(std::move(made));
  one->mark = mark;
  const std::lock_guard<std::mutex> held(mutex_);
  if (const auto known = known_.find(experiment); known != known_.end() && known->second.one == one) known->second.bytes = bytes;
  drop_excess();
  return one->what;
}

void WatchedResults::drop_excess() {
  size_t bytes = 0;
  for (const auto& [experiment, known] : known_) bytes += known.bytes;
  while (!known_.empty() && (bytes > kMostBytes || known_.size() > kMostExperiments)) {
    const auto oldest = std::min_element(known_.begin(), known_.end(),
                                         [](const auto& a, const auto& b) { return a.second.asked < b.second.asked; });
    bytes -= oldest->second.bytes;
    known_.erase(oldest);
  }
}

}  // namespace stab::daemon
