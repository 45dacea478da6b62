// Regions, windows and counts of causal experiments. A window's list of counts has only the points that were visited in it; whose
// numbers are the experiment's, so that points of two trials are the same where name and kind are.
#include <algorithm>
#include <map>

#include "store/store_state.h"

namespace stab::store {
namespace {

RegionRow read_region(const Statement& row) {
  RegionRow region;
  Columns(row).into(region.subject, region.number, region.candidate, region.file, region.line, region.function,
                    region.pilot_samples);
  return region;
}

CausalTrialRow read_run(const Statement& row) {
  CausalTrialRow trial;
  CausalRun& run = trial.run;
  Columns(row).into(trial.trial, trial.subject, trial.cell, trial.block, trial.excluded_by, run.pauses, run.cpus, run.period_ns,
                    run.run_ns, run.cpu_ns, run.growth_ns, run.start_ns, run.spun_wall_ns, run.spun_counted_ns, run.world_ns,
                    run.samples, run.samples_in_regions, run.samples_unattributed, run.samples_late, run.samples_lost, run.waits,
                    run.waits_classified, run.degradations, trial.layout, trial.system_share);
  trial.excluded = !trial.excluded_by.empty();
  return trial;
}

WindowRow read_window(const Statement& row) {
  WindowRow window;
  Columns(row, 2).into(window.position, window.block, window.kind, window.region, window.permille, window.flags, window.start_ns,
                       window.wall_ns, window.cpu_ns, window.effective_ns, window.growth_ns, window.credited_ns,
                       window.spun_wall_ns, window.spun_counted_ns, window.world_ns, window.samples, window.region_samples,
                       window.region_ns, window.waits, window.waits_classified, window.foreign_ns, window.layout);
  return window;
}

// Main trials that count.
constexpr char kRecorded[] =
    "FROM trials t JOIN causal_runs c ON c.trial = t.id LEFT JOIN outcomes o ON o.trial = t.id "
    "WHERE t.experiment = ? AND t.kind = 'main' AND t.state = 'recorded' ";

}  // namespace

Status Store::put_regions(Id experiment, int subject, const std::vector<RegionRow>& regions) {
  return state_->atomically([&]() -> Status {
    STAB_TRY(Statement * insert, state_->database.prepare("INSERT INTO regions VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
    for (const RegionRow& region : regions)
      STAB_CHECK_OK(insert->run(experiment, subject, region.number, region.candidate ? 1 : 0, region.file, region.line,
                                region.function, region.pilot_samples));
    return {};
  });
}

Result<std::vector<RegionRow>> Store::regions(Id experiment) {
  return state_->database.select(
      "SELECT subject, number, candidate, file, line, function, pilot_samples FROM regions "
      "WHERE experiment = ? ORDER BY subject, number",
      read_region, experiment);
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
  STAB_TRY(Statement * whole,
           database.prepare("INSERT INTO causal_runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  whole->bind(id).bind(run.pauses).bind(run.cpus);
  for (const int64_t field : {run.period_ns, run.run_ns, run.cpu_ns, run.growth_ns, run.start_ns, run.spun_wall_ns,
                              run.spun_counted_ns, run.world_ns, run.samples, run.samples_in_regions, run.samples_unattributed,
                              run.samples_late, run.samples_lost, run.waits, run.waits_classified})
    whole->bind(field);
  STAB_CHECK_OK(whole->run(run.degradations));
  std::vector<int64_t> numbers;
  for (const ProgressPointRow& point : run.points) {
    STAB_TRY(const int64_t number, number_of_point(trial.experiment, point));
    numbers.push_back(number);
  }
  STAB_TRY(Statement * insert, database.prepare("INSERT INTO windows VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, "
                                                "?, ?, ?, ?, ?, ?)"));
  STAB_TRY(Statement * count, database.prepare("INSERT INTO window_counts VALUES(?, ?, ?, ?, ?)"));
  for (size_t i = 0; i < run.windows.size(); ++i) {
    const WindowRow& window = run.windows[i];
    const int64_t number = static_cast<int64_t>(i);
    insert->bind(id).bind(number).bind(window.position).bind(window.block).bind(window.kind).bind(window.region);
    insert->bind(window.permille).bind(window.flags);
    for (const int64_t field : {window.start_ns, window.wall_ns, window.cpu_ns, window.effective_ns, window.growth_ns,
                                window.credited_ns, window.spun_wall_ns, window.spun_counted_ns, window.world_ns, window.samples,
                                window.region_samples, window.region_ns, window.waits, window.waits_classified,
                                    window.foreign_ns, window.layout})
      insert->bind(field);
    STAB_CHECK_OK(insert->run());
    for (const WindowCount& one : window.counts) {
      if (one.point >= numbers.size()) return Error{ErrorCode::kInternal, "a window counts a point that it does not have", {}};
      STAB_CHECK_OK(count->run(id, number, numbers[one.point], one.visits, one.inside_ns));
    }
  }
  STAB_TRY(Statement * samples, database.prepare("INSERT INTO samples VALUES(?, ?, ?, ?)"));
  for (const RegionSamples& one : run.region_samples) STAB_CHECK_OK(samples->run(id, one.region, one.samples, one.cpu_ns));
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
           database.select("SELECT t.id, t.subject, t.cell, t.block, coalesce((SELECT group_concat(rule, '; ') FROM "
                           "exclusions x "
                           "WHERE x.trial = t.id), ''), c.pauses, c.cpus, c.period_ns, c.run_ns, c.cpu_ns, c.growth_ns, "
                           "c.start_ns, c.spun_wall_ns, c.spun_counted_ns, c.world_ns, c.samples, c.samples_in_regions, "
                           "c.samples_unattributed, c.samples_late, c.samples_lost, c.waits, c.waits_classified, "
                           "c.degradations, t.layout, CAST(o.system_ns AS REAL) / nullif(o.user_ns + o.system_ns, 0) " +
                               std::string(kRecorded) + "ORDER BY t.position",
                           read_run, experiment));
  std::map<Id, size_t> by_trial;
  for (size_t i = 0; i < trials.size(); ++i) {
    by_trial[trials[i].trial] = i;
    trials[i].run.points = known;
  }
  STAB_TRY(const auto all, database.select(
                               "SELECT w.* FROM windows w JOIN trials t ON t.id = w.trial WHERE t.experiment = ? "
                               "ORDER BY w.trial, w.number",
                               [](const Statement& row) { return std::pair(row.integer(0), read_window(row)); }, experiment));
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
  STAB_TRY(const auto seen, database.select(
                                "SELECT s.trial, s.region, s.samples, s.cpu_ns FROM samples s JOIN trials t ON t.id = s.trial "
                                "WHERE t.experiment = ? ORDER BY s.trial, s.region",
                                [](const Statement& row) {
                                  return std::pair(row.integer(0), RegionSamples{static_cast<uint32_t>(row.integer(1)),
                                                                                 row.integer(2), row.integer(3)});
                                },
                                experiment));
  for (const auto& [trial, one] : seen)
    if (const auto at = by_trial.find(trial); at != by_trial.end())
      trials[at->second].run.region_samples.push_back(one);
  return trials;
}

}  // namespace stab::store
