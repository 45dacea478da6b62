// Rows of windows to windows of an analysis. What a plan with experiments = "trials" measures is one window a trial, the whole
// run;
// then a block of its list, in which each arm comes once, is the cluster, as a trial is elsewhere.
#include "stabd/engine/results/load_causal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/printable.h"
#include "plan/causal.h"
#include "plan/design.h"
#include "plan/plan.h"
#include "runtime/causal/causal_abi.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/candidates.h"
#include "stabd/engine/results/foreign_share.h"

namespace stab::engine {
namespace {

using causal_report::CausalClock;
using causal_report::CausalData;
using causal_report::CausalPoint;
using causal_report::CausalTrial;
using causal_report::CausalWindow;
using causal_report::PointKind;

constexpr char kEndToEnd[] = "end-to-end";

double share(int64_t part, double whole) {
  return whole > 0 ? std::clamp(static_cast<double>(part) / whole, 0.0, 1.0) : 0;
}

uint64_t count(int64_t number) { return static_cast<uint64_t>(std::max<int64_t>(number, 0)); }

// The store's numbers are those of the plan.
std::optional<causal_report::ArmKind> arm_kind_of(uint32_t stored) {
  constexpr std::pair<plan::CausalArmKind, causal_report::ArmKind> kKinds[] = {
      {plan::CausalArmKind::kBaseline, causal_report::ArmKind::kBaseline},
      {plan::CausalArmKind::kSpeedup, causal_report::ArmKind::kSpeedup},
      {plan::CausalArmKind::kNull, causal_report::ArmKind::kNull},
      {plan::CausalArmKind::kSlowdown, causal_report::ArmKind::kSlowdown},
  };
  for (const auto& [of_plan, of_report] : kKinds)
    if (static_cast<uint32_t>(of_plan) == stored) return of_report;
  return std::nullopt;
}

bool is_degraded(const store::CausalRun& run, std::string_view word) {
  return (" " + run.degradations + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

// The directories that all files begin with, which tell none from another.
size_t common_directory(const std::vector<store::RegionRow>& regions) {
  std::string common;
  bool is_first = true;
  for (const store::RegionRow& region : regions) {
    if (region.file.empty()) continue;
    if (std::exchange(is_first, false)) common = region.file;
    const auto [end, other] = std::mismatch(common.begin(), common.end(), region.file.begin(), region.file.end());
    common.erase(end, common.end());
  }
  const size_t slash = common.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

std::vector<causal_report::CausalLine> lines_of(const std::vector<store::RegionRow>& regions) {
  const size_t common = common_directory(regions);
  std::vector<causal_report::CausalLine> lines;
  std::set<std::string> taken;
  for (const store::RegionRow& region : regions) {
    causal_report::CausalLine line;
    line.file = region.file;
    line.line = region.line;
    line.function = region.function;
    line.pilot_samples = count(region.pilot_samples);
    line.candidate = region.candidate;
    const std::string file = region.file.size() > common ? region.file.substr(common) : region.file;
    line.name = region.line > 0 ? file + ":" + std::to_string(region.line) : region.function;
    if (!taken.insert(line.name).second) {
      line.name += " (" + file + ")";
      while (!taken.insert(line.name).second) line.name += "'";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Files, functions and points are named by a measured program, or by whoever has made the database.
void make_printable(CausalData& data) {
  data.experiment = one_line(data.experiment);
  for (causal_report::CausalLine& line : data.lines)
    for (std::string* text : {&line.file, &line.function, &line.name}) *text = one_line(*text);
  for (CausalPoint& point : data.points) point.name = one_line(point.name);
}

// A point of the analysis, and the stored points that its numbers are from.
struct Point {
  CausalPoint point;
  size_t stored = 0;  // whose visits count
};

std::vector<Point> points_of(const plan::Causal& plan, const std::vector<store::ProgressPointRow>& stored) {
  std::vector<Point> points;
  const auto is_wanted = [](const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(points.begin(), points.end(), [&](const Point& one) { return one.point.name == name; });
  };
  const auto is_of = [](const store::ProgressPointRow& row, progress::Kind kind) {
    return row.kind == static_cast<uint32_t>(kind);
  };
  for (size_t i = 0; i < stored.size(); ++i) {
    const std::string& name = stored[i].name;
    if (is_of(stored[i], progress::Kind::kProgress) && is_wanted(plan.progress, name))
      points.push_back({{name, PointKind::kProgress}, i});
    const bool is_arrival = plan.candidates > 0 ? is_wanted(plan.progress, name) : plan.arrival.empty() || name == plan.arrival;
    if (is_of(stored[i], progress::Kind::kArrival) && is_arrival) {
      points.push_back({{is_taken(name) ? name + " (arrivals)" : name, PointKind::kArrival}, i});
    }
    const bool has_begin = std::any_of(stored.begin(), stored.end(), [&](const store::ProgressPointRow& other) {
      return other.name == name && is_of(other, progress::Kind::kBegin);
    });
    // A plan that names its progress points asks for no latency unless it names that, too.
    const bool is_asked = !plan.latency.empty() || plan.progress.empty();
    if (is_of(stored[i], progress::Kind::kEnd) && has_begin && is_asked && is_wanted(plan.latency, name))
      points.push_back({{is_taken(name) ? name + " (latency)" : name, PointKind::kLatency}, i});
  }
  // Tasks arrive at the begin of a latency point where nothing else says so.
  const bool is_load = plan.candidates == 0;
  const auto is_arrival = [](const Point& point) { return point.point.kind == PointKind::kArrival; };
  for (size_t i = 0; is_load && i < stored.size() && std::none_of(points.begin(), points.end(), is_arrival); ++i) {
    const std::string& name = stored[i].name;
    if (is_of(stored[i], progress::Kind::kBegin) && (plan.arrival.empty() || name == plan.arrival))
      points.push_back({{name + " (arrivals)", PointKind::kArrival}, i});
  }
  return points;
}

class Loader {
 public:
  Loader(const plan::Causal& plan, const plan::Design& design, CausalData& data, const std::vector<store::RegionRow>& regions)
      : plan_(plan), design_(design), data_(data), whole_(data.whole_runs) {
    for (size_t i = 0; i < regions.size(); ++i) line_of_[regions[i].number] = static_cast<uint32_t>(i);
  }

  Status add(const store::CausalTrialRow& row) {
    // Points are numbered as the experiment saw them, so all trials have the same ones.
    if (points_.empty() && data_.points.empty()) {
      if (whole_) {
        data_.points.push_back({kEndToEnd, PointKind::kProgress});
      } else {
        points_ = points_of(plan_, row.run.points);
        for (const Point& point : points_) data_.points.push_back(point.point);
      }
    }
    if (row.cell < 0 || static_cast<size_t>(row.cell) >= data_.cells.size())
      return Error{ErrorCode::kCorrupt, "trial " + std::to_string(row.trial) + " is of a cell that there isn't", {}};
    if (!whole_) {
      const uint32_t trial = add_trial(row);
      for (size_t i = 0; i < row.run.windows.size(); ++i) STAB_CHECK_OK(add_window(row, row.run.windows[i], trial));
      // In CPU time what others took is no part of a window: foreign load makes it longer and changes nothing of its numbers.
      if (data_.trials[trial].clock == CausalClock::kWall) add_foreign_shares(row.run);
      return {};
    }
    if (row.run.windows.empty()) return {};
    const store::WindowRow& window = row.run.windows.front();
    // A run that is left out takes none of its block with it, nor is it taken along.
    if (!row.excluded_by.empty()) return add_window(row, window, add_trial(row));
    const auto [at, is_new] = cluster_.try_emplace({row.cell, window.block}, 0);
    if (is_new) at->second = add_trial(row);
    return add_window(row, window, at->second);
  }

 private:
  uint32_t add_trial(const store::CausalTrialRow& row) {
    const store::CausalRun& run = row.run;
    CausalTrial trial;
    trial.id = count(row.trial);
    trial.cell = static_cast<uint32_t>(row.cell);
    trial.clock = run.pauses == "cpu-time" ? CausalClock::kCpu : CausalClock::kWall;
    trial.run_ns = count(trial.clock == CausalClock::kCpu ? run.cpu_ns + run.world_ns : run.run_ns);
    trial.run_samples.assign(data_.lines.size(), 0);
    for (const store::RegionSamples& seen : run.region_samples)
      if (const auto line = line_of_.find(seen.region); line != line_of_.end()) trial.run_samples[line->second] =
          count(seen.samples);
    trial.all_samples = count(run.samples);
    // A sample stands for a period of CPU time; what has none was in the kernel, or in threads that ended within a period.
    if (is_degraded(run, "kernel-not-sampled") && !is_degraded(run, "coarse-samples"))
      trial.unsampled_share = 1 - share(run.samples * run.period_ns, static_cast<double>(run.cpu_ns));
    trial.system_share = row.system_share;
    trial.unattributed_share = share(run.samples_unattributed, static_cast<double>(run.samples));
    trial.unclassified_waits = causal_report::unclassified_share(
        static_cast<double>(run.waits), static_cast<double>(run.waits_classified), static_cast<double>(run.run_ns) / 1e9);
    if (trial.clock == CausalClock::kWall)
      trial.lengthened_share = run.pauses == "thread" ? share(run.growth_ns, static_cast<double>(run.run_ns))
                                                      : share(run.spun_wall_ns,
                                                          static_cast<double>(run.run_ns) * std::max(run.cpus, 1u));
    trial.timeouts = is_degraded(run, "time-outs");
    trial.coarse_samples = is_degraded(run, "coarse-samples");
    trial.excluded = row.excluded_by;
    data_.trials.push_back(std::move(trial));
    orders_.push_back(0);
    return static_cast<uint32_t>(data_.trials.size() - 1);
  }

  // Where code moves each window asks for a layout, counted within its trial; else the trial's stays. 0: the one before the first
  // that was asked for, and whole runs, of which none shares its layout with others of its block.
  uint64_t layout_of(const store::CausalTrialRow& row, const store::WindowRow& stored, uint32_t trial) const {
    if (whole_) return 0;
    if (!plan::asks_for_layouts(design_.cells[static_cast<size_t>(row.cell)])) return count(row.layout) + 1;
    return stored.layout > 0 ? (uint64_t{trial} + 1) << 32 | (count(stored.layout) & 0xffffffff) : 0;
  }

  Status add_window(const store::CausalTrialRow& row, const store::WindowRow& stored, uint32_t trial) {
    CausalWindow window;
    window.trial = trial;
    window.block = whole_ ? 0 : static_cast<uint32_t>(stored.block);
    window.order = orders_[trial]++;
    const std::optional<causal_report::ArmKind> kind = arm_kind_of(stored.kind);
    if (!kind)
      return Error{ErrorCode::kCorrupt, "a window of trial " + std::to_string(row.trial) + " is of the unknown kind " +
                                            std::to_string(stored.kind), {}};
    window.kind = *kind;
    if (stored.region != 0) {
      const auto line = line_of_.find(stored.region);
      if (line == line_of_.end())
        return Error{ErrorCode::kCorrupt, "a window of trial " + std::to_string(row.trial) +
            " is of a region that there isn't", {}};
      window.line = line->second;
    }
    window.speedup = stored.permille / 1000.0;
    window.start_ns = count(stored.start_ns);
    window.wall_ns = count(stored.wall_ns);
    window.cpu_ns = count(stored.cpu_ns);
    window.world_ns = count(stored.world_ns);
    window.credited_ns = count(stored.growth_ns);
    if (row.run.pauses == "spin" && stored.spun_counted_ns > 0)
      window.pay_ratio = static_cast<double>(stored.spun_wall_ns) / static_cast<double>(stored.spun_counted_ns);
    window.line_samples = count(stored.region_samples);
    window.visits.assign(data_.points.size(), whole_ ? 1 : 0);
    window.latencies.assign(data_.points.size(), {});
    for (size_t i = 0; i < points_.size(); ++i)
      for (const store::WindowCount& one : stored.counts) {
        if (one.point != points_[i].stored) continue;
        window.visits[i] = count(one.visits);
        if (points_[i].point.kind == PointKind::kLatency)
          window.latencies[i] = {static_cast<double>(std::max<int64_t>(one.inside_ns, 0)), count(one.visits)};
      }
    const double cpus_time = static_cast<double>(stored.wall_ns) * std::max(row.run.cpus, 1u);
    window.busy_share = share(stored.cpu_ns, cpus_time);
    window.layout = layout_of(row, stored, trial);
    if ((stored.flags & causal::kWindowSkipped) != 0) window.flags |= bit(causal_report::WindowFlag::kSkipped);
    if ((stored.flags & causal::kWindowCut) != 0 && !whole_) window.flags |= bit(causal_report::WindowFlag::kCut);
    if ((stored.flags & causal::kWindowProlonged) != 0) window.flags |= bit(causal_report::WindowFlag::kProlonged);
    data_.windows.push_back(std::move(window));
    return {};
  }

  // To the windows of the trial that was added last.
  void add_foreign_shares(const store::CausalRun& run) {
    std::vector<WindowOfCpus> windows;
    for (const store::WindowRow& window : run.windows)
      windows.push_back({static_cast<double>(window.foreign_ns), static_cast<double>(window.wall_ns) * std::max(run.cpus, 1u),
                         (window.flags & (causal::kWindowSkipped | causal::kWindowForeignUnknown)) == 0,
                         static_cast<double>(window.waits)});
    const std::vector<double> shares = foreign_shares(windows, run.cpus, data_.most_foreign);
    const size_t first = data_.windows.size() - shares.size();
    for (size_t w = 0; w < shares.size(); ++w) data_.windows[first + w].foreign_share = shares[w];
  }

  const plan::Causal& plan_;
  const plan::Design& design_;
  CausalData& data_;
  const bool whole_;
  std::map<uint32_t, uint32_t> line_of_;  // by number of the region
  std::vector<Point> points_;
  std::vector<uint32_t> orders_;          // by trial: its windows so far
  std::map<std::pair<int, int64_t>, uint32_t> cluster_;  // of whole runs, by cell and block of the list
};

}  // namespace

std::string words_without_windows(const store::ExperimentRow& experiment, const std::vector<std::string>& without) {
  if (without.empty()) return {};
  std::string names;
  for (const std::string& program : without) names += (names.empty() ? "'" : ", '") + program + "'";
  using State = store::ExperimentState;
  const bool goes_on =
      experiment.state == State::kRunning || experiment.state == State::kReady || experiment.state == State::kSubmitted;
  return "no causal profile of " + names +
         (goes_on ? " yet: no window was measured so far" : ": the experiment ended before its first window") +
         "; its trials, if there are any, are shown as any others";
}

Result<std::vector<CausalData>> load_causal(store::Store& store, const store::ExperimentRow& experiment,
                                            std::vector<std::string>* without) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(experiment));
  return load_causal(store, experiment, expanded, without);
}

Result<std::vector<CausalData>> load_causal(store::Store& store, const store::ExperimentRow& experiment,
                                            const ExpandedPlan& expanded, std::vector<std::string>* without) {
  std::vector<CausalData> all;
  if (!expanded.plan.causal) return all;
  const plan::Causal& plan = *expanded.plan.causal;
  STAB_TRY(const std::vector<store::RegionRow> regions, store.regions(experiment.id));
  STAB_TRY(const std::vector<store::CausalTrialRow> trials, store.causal_trials(experiment.id));
  for (size_t subject = 0; subject < expanded.subjects.size(); ++subject) {
    std::vector<store::RegionRow> of_subject;
    for (const store::RegionRow& region : regions)
      if (region.subject == static_cast<int>(subject)) of_subject.push_back(region);
    const bool is_load = expanded.plan.factor_index(plan::kLoadFactor) >= 0;
    if (of_subject.empty() && !is_load) {
      if (without) without->push_back(expanded.subjects[subject].name);
      continue;
    }
    CausalData data;
    data.experiment = experiment.name;
    data.program = expanded.subjects[subject].name;
    for (const plan::Factor& factor : expanded.plan.factors) data.factors.push_back(factor.name);
    data.lines = lines_of(of_subject);
    for (const plan::Cell& cell : expanded.design.cells) {
      causal_report::CausalCell& out = data.cells.emplace_back();
      for (size_t f = 0; f < expanded.plan.factors.size(); ++f)
        out.levels.push_back(expanded.plan.factors[f].levels[static_cast<size_t>(cell.levels[f])].name);
      if (is_load) out.load = cell.load_permille / 1000.0;
    }
    data.loads = is_load;
    data.whole_runs = plan.experiments == plan::Causal::Experiments::kTrials;
    data.closed_loop = plan.closed;
    for (const double speedup : plan.speedups) data.speedups.push_back(std::lround(speedup * 1000) / 1000.0);
    // Plans that were accepted once may have two in one step of windows.
    data.speedups.erase(std::unique(data.speedups.begin(), data.speedups.end()), data.speedups.end());
    data.margin = expanded.plan.experiment.margin;
    data.alpha = expanded.plan.experiment.alpha;
    data.sampling_ns = count(plan.sampling.count());
    data.window_ns = count(plan.window.count());
    data.incomplete = experiment.state != store::ExperimentState::kDone;
    Loader loader(plan, expanded.design, data, of_subject);
    for (const store::CausalTrialRow& trial : trials)
      if (trial.subject == static_cast<int>(subject)) STAB_CHECK_OK(loader.add(trial));
    make_printable(data);
    if (!data.points.empty() && !data.windows.empty()) all.push_back(std::move(data));
    else if (without) without->push_back(expanded.subjects[subject].name);
  }
  return all;
}

}  // namespace stab::engine
