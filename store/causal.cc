// Regions, windows and counts of causal experiments. A window's list of counts has only the points that were visited in it; whose
// numbers are the experiment's, so that points of two trials are the same where name and kind are.
#include <algorithm>
#include <map>
#include <utility>

#include "store/store_state.h"
#include "store/table.h"

namespace stab::store {
namespace {

Result<RegionRow> read_region(const Statement& row) {
  RegionRow region;
  Columns columns(row);
  columns.into(region.subject).record(region);
  return columns.made(std::move(region));
}

Result<CausalTrialRow> read_run(const Statement& row) {
  CausalTrialRow trial;
  Columns columns(row);
  columns.into(trial.trial, trial.subject, trial.cell, trial.block, trial.excluded_by, trial.layout, trial.system_share)
      .record(trial.run);
  trial.excluded = !trial.excluded_by.empty();
  return columns.made(std::move(trial));
}

Result<std::pair<Id, WindowRow>> read_window(const Statement& row) {
  std::pair<Id, WindowRow> of;
  Columns columns(row);
  columns.into(of.first).record(of.second);
  return columns.made(std::move(of));
}

Result<std::pair<Id, RegionSamples>> read_samples(const Statement& row) {
  std::pair<Id, RegionSamples> of;
  return Columns(row).into(of.first).record(of.second).made(of);
}

// Main trials that count.
constexpr char kRecorded[] =
    "FROM trials t JOIN causal_runs c ON c.trial = t.id LEFT JOIN outcomes o ON o.trial = t.id "
    "WHERE t.experiment = ? AND t.kind = 'main' AND t.state = 'recorded' ";

}  // namespace

Status Store::put_regions(Id experiment, int subject, const std::vector<RegionRow>& regions) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * insert, prepare_insert<RegionRow>(state_->database));
    for (const RegionRow& region : regions) STAB_CHECK_OK(insert_row(*insert, region, experiment, subject));
    return {};
  });
}

Result<std::vector<RegionRow>> Store::regions(Id experiment) {
  return state_->database.select(
      "SELECT subject, " + column_names<RegionRow>() + " FROM regions WHERE experiment = ? ORDER BY subject, number", read_region,
      experiment);
}

Result<int64_t> Store::next_window(Id experiment, int subject, int cell) {
  return state_->database.integer(
      "SELECT coalesce(max(w.position) + 1, 0) FROM windows w JOIN trials t ON t.id = w.trial "
      "WHERE t.experiment = ? AND t.subject = ? AND t.cell = ? AND t.kind = 'main' AND "
      "t.state = 'recorded'",
      experiment, subject, cell);
}

Result<int64_t> Store::State::number_of_point(Id experiment, const ProgressPointRow& point) {
  STAB_TRY(Statement * insert,
           database.prepare("INSERT OR IGNORE INTO progress_points SELECT ?1, coalesce(max(number) + 1, 0), ?2, ?3 "
                            "FROM progress_points WHERE experiment = ?1"));
  STAB_CHECK_OK(insert->run(experiment, point.name, point.kind));
  STAB_TRY(const std::optional<int64_t> number,
           database.select_one("SELECT number FROM progress_points WHERE experiment = ? AND name = ? AND kind = ?", first_integer,
                               experiment, point.name, point.kind));
  if (!number) return Error{ErrorCode::kInternal, "a progress point was not stored", {}};
  return *number;
}

Status Store::State::store_causal(Id id, const CausalRun& run) {
  STAB_TRY(const TrialRow trial, load_trial(id));
  STAB_TRY(Statement * whole, prepare_insert<CausalRun>(database));
  STAB_CHECK_OK(insert_row(*whole, run, id));
  std::vector<int64_t> numbers;
  for (const ProgressPointRow& point : run.points) {
    STAB_TRY(const int64_t number, number_of_point(trial.experiment, point));
    numbers.push_back(number);
  }
  STAB_TRY(Statement * insert, prepare_insert<WindowRow>(database));
  STAB_TRY(Statement * count, database.prepare("INSERT INTO window_counts VALUES(?, ?, ?, ?, ?)"));
  for (size_t i = 0; i < run.windows.size(); ++i) {
    const WindowRow& window = run.windows[i];
    const int64_t number = static_cast<int64_t>(i);
    STAB_CHECK_OK(insert_row(*insert, window, id, number));
    for (const WindowCount& one : window.counts) {
      if (one.point >= numbers.size()) return Error{ErrorCode::kInternal, "a window counts a point that it does not have", {}};
      STAB_CHECK_OK(count->run(id, number, numbers[one.point], one.visits, one.inside_ns));
    }
  }
  STAB_TRY(Statement * samples, prepare_insert<RegionSamples>(database));
  for (const RegionSamples& one : run.region_samples) STAB_CHECK_OK(insert_row(*samples, one, id));
  return {};
}

Result<std::vector<CausalTrialRow>> Store::causal_trials(Id experiment) {
  Database& database = state_->database;
  STAB_TRY(const std::vector<ProgressPointRow> known,
           database.select(
               "SELECT name, kind FROM progress_points WHERE experiment = ? ORDER BY number",
               [](const Statement& row) {
                 return ProgressPointRow{row.text(0), static_cast<uint32_t>(row.integer(1))};
               },
               experiment));
  STAB_TRY(std::vector<CausalTrialRow> trials,
           database.select("SELECT t.id, t.subject, t.cell, t.block, "
                           "coalesce((SELECT group_concat(rule, '; ') FROM exclusions x WHERE x.trial = t.id), ''), "
                           "t.layout, CAST(o.system_ns AS REAL) / nullif(o.user_ns + o.system_ns, 0), " +
                               column_names<CausalRun>("c.") + " " + kRecorded + "ORDER BY t.position",
                           read_run, experiment));
  std::map<Id, size_t> by_trial;
  for (size_t i = 0; i < trials.size(); ++i) {
    by_trial[trials[i].trial] = i;
    trials[i].run.points = known;
  }
  STAB_TRY(const auto all, database.select("SELECT w.trial, " + column_names<WindowRow>("w.") +
                                               " FROM windows w JOIN trials t ON t.id = w.trial WHERE t.experiment = ? "
                                               "ORDER BY w.trial, w.number",
                                           read_window, experiment));
  for (const auto& [trial, window] : all)
    if (const auto at = by_trial.find(trial); at != by_trial.end()) trials[at->second].run.windows.push_back(window);
  STAB_TRY(Statement * counts,
           database.prepare("SELECT c.trial, c.window, c.point, c.visits, c.inside_ns FROM window_counts c JOIN trials t "
                            "ON t.id = c.trial WHERE t.experiment = ? ORDER BY c.trial, c.window, c.point"));
  counts->bind(experiment);
  while (true) {
    STAB_TRY(const bool row, counts->step());
    if (!row) break;
    const auto at = by_trial.find(counts->integer(0));
    if (at == by_trial.end()) continue;
    std::vector<WindowRow>& of = trials[at->second].run.windows;
    const size_t number = static_cast<size_t>(counts->integer(1));
    const size_t point = static_cast<size_t>(counts->integer(2));
    // A bundle may have been made by anybody.
    if (number >= of.size() || point >= known.size())
      return Error{ErrorCode::kCorrupt, "a window of trial " + std::to_string(at->first) + " counts what is not there", {}};
    of[number].counts.push_back({static_cast<uint32_t>(point), counts->integer(3), counts->integer(4)});
  }
  counts->reset();
  STAB_TRY(const auto seen, database.select("SELECT s.trial, " + column_names<RegionSamples>("s.") +
                                                " FROM samples s JOIN trials t ON t.id = s.trial WHERE t.experiment = ? "
                                                "ORDER BY s.trial, s.region",
                                            read_samples, experiment));
  for (const auto& [trial, one] : seen)
    if (const auto at = by_trial.find(trial); at != by_trial.end())
      trials[at->second].run.region_samples.push_back(one);
  return trials;
}

}  // namespace stab::store
