// The fit has three numbers: log throughput is a + log load up to the knee k, and from there on rises by s for each unit of log
// load. For a given k it is least squares in a and s. Beyond the knee a program doesn't follow its load, which is taken to mean
// that s is at most a half: without that bound noise alone would put a knee anywhere into a straight line.
#include "analysis/causal_report/saturation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/causal_report/causal_fit.h"
#include "analysis/causal_report/load_arrivals.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::causal_report {
namespace {

constexpr double kMostSlopeAfter = 0.5;
constexpr size_t kFewestLoads = 3, kFewestTrials = 3;

// Means of logarithms at each load: all that least squares need to know.
struct Level {
  double x = 0;  // log load
  double n = 0, mean = 0;
};
struct Fit {
  double a = 0, k = 0, s = 0, squares = INFINITY;
};

Fit fit_at(const std::vector<Level>& levels, double k) {
  Fit fit;
  fit.k = k;
  double n = 0, u = 0, v = 0;  // of the part beyond the knee, and of what slope 1 up to it leaves
  for (const Level& level : levels) {
    n += level.n;
    u += level.n * std::max(0.0, level.x - k);
    v += level.n * (level.mean - std::min(level.x, k));
  }
  u /= n, v /= n;
  double uu = 0, uv = 0;
  for (const Level& level : levels) {
    const double du = std::max(0.0, level.x - k) - u;
    uu += level.n * du * du;
    uv += level.n * du * (level.mean - std::min(level.x, k) - v);
  }
  fit.s = uu > 1e-12 ? std::min(uv / uu, kMostSlopeAfter) : kMostSlopeAfter;
  fit.a = v - fit.s * u;
  fit.squares = 0;
  for (const Level& level : levels) {
    const double rest = level.mean - (fit.a + std::min(level.x, k) + fit.s * std::max(0.0, level.x - k));
    fit.squares += level.n * rest * rest;
  }
  return fit;
}

// Squares are smooth in k between two loads, so the best of a grid is refined between its neighbours.
Fit best_fit(const std::vector<Level>& levels) {
  constexpr int kSteps = 24;
  Fit best;
  double low = 0, high = 0;
  for (size_t i = 0; i + 1 < levels.size(); ++i) {
    const double step = (levels[i + 1].x - levels[i].x) / kSteps;
    for (int j = 0; j <= kSteps; ++j) {
      const Fit fit = fit_at(levels, levels[i].x + j * step);
      if (fit.squares >= best.squares - 1e-15) continue;
      best = fit;
      low = std::max(levels[i].x, fit.k - step), high = std::min(levels[i + 1].x, fit.k + step);
    }
  }
  constexpr double kGolden = 0.6180339887498949;
  for (int round = 0; round < 40; ++round) {
    const double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
    if (fit_at(levels, left).squares <= fit_at(levels, right).squares) high = right;
    else low = left;
  }
  const Fit refined = fit_at(levels, (low + high) / 2);
  return refined.squares < best.squares ? refined : best;
}

using ByLoad = std::map<double, std::vector<double>>;  // logarithms of throughput

std::vector<Level> levels_of(const ByLoad& trials) {
  std::vector<Level> out;
  for (const auto& [load, values] : trials)
    out.push_back({std::log(load), static_cast<double>(values.size()), statistics::mean(values)});
  return out;
}

// Where the knee may be: all places at which the fit is worse than the best one by no more than a trial's spread explains, by the
// F test of one number more (Seber and Wild 1989, Nonlinear Regression, 5.3: the profile likelihood; the spread is that within
// loads alone, so that a shape that the two lines don't have doesn't widen it).
struct KneeRange {
  double low = 0, high = 0;
};
KneeRange range_of(const std::vector<Level>& levels, const Fit& best, double spread, double freedom, double alpha) {
  const double t = statistics::t_quantile_upper(alpha / 2, freedom);
  const double most = best.squares + t * t * spread * spread;
  const auto is_inside = [&](double k) { return fit_at(levels, k).squares <= most; };
  const auto border = [&](double inside, double outside) {
    for (int round = 0; round < 50; ++round) {
      const double middle = (inside + outside) / 2;
      (is_inside(middle) ? inside : outside) = middle;
    }
    return inside;
  };
  constexpr int kSteps = 48;
  std::vector<double> places;
  for (size_t i = 0; i + 1 < levels.size(); ++i)
    for (int j = 0; j < kSteps; ++j) places.push_back(levels[i].x + j * (levels[i + 1].x - levels[i].x) / kSteps);
  places.push_back(levels.back().x);
  // The outermost of what is inside; between them may be places that are not.
  KneeRange range{best.k, best.k};
  for (size_t i = 0; i < places.size() && places[i] < best.k; ++i) {
    if (!is_inside(places[i])) continue;
    range.low = i == 0 ? places[0] : border(places[i], places[i - 1]);
    break;
  }
  for (size_t i = places.size(); i-- > 0 && places[i] > best.k;) {
    if (!is_inside(places[i])) continue;
    range.high = i + 1 == places.size() ? places.back() : border(places[i], places[i + 1]);
    break;
  }
  // Nearer to the best one than any place that was looked at.
  const double step = (levels.back().x - levels.front().x) / kSteps;
  if (range.low == best.k) range.low = border(best.k, std::max(levels.front().x, best.k - step));
  if (range.high == best.k) range.high = border(best.k, std::min(levels.back().x, best.k + step));
  return range;
}

// Geometric mean with a t interval; absent below 2 values or without a spread.
std::optional<report::Interval> mean_of_logs(const std::vector<double>& logs, double alpha) {
  if (logs.size() < 2) return std::nullopt;
  const statistics::Moments all = statistics::moments(logs);
  const double half = statistics::t_quantile_upper(alpha / 2, static_cast<double>(logs.size() - 1)) * all.sd() /
                      std::sqrt(static_cast<double>(logs.size()));
  return report::Interval{std::exp(all.mean), std::exp(all.mean - half), std::exp(all.mean + half)};
}

void describe(std::span<const LoadedTrial> trials, double alpha, Saturation& out) {
  std::map<double, std::vector<const LoadedTrial*>> by_load;
  for (const LoadedTrial& trial : trials) by_load[trial.load].push_back(&trial);
  for (const auto& [load, members] : by_load) {
    LoadPoint point;
    point.load = load;
    point.trials = members.size();
    std::vector<double> throughput, latency, offered;
    double busy = 0;
    size_t with_busy = 0;
    for (const LoadedTrial* trial : members) {
      throughput.push_back(std::log(trial->throughput));
      if (trial->latency_s && *trial->latency_s > 0) latency.push_back(std::log(*trial->latency_s));
      if (trial->busy) busy += *trial->busy, ++with_busy;
      point.arrivals += trial->arrivals;
      if (trial->offered > 0) offered.push_back(std::log(trial->offered));
    }
    point.throughput_mean = std::exp(statistics::mean(throughput));
    point.throughput = mean_of_logs(throughput, alpha);
    if (!latency.empty()) point.latency_mean_s = std::exp(statistics::mean(latency));
    point.latency_s = mean_of_logs(latency, alpha);
    if (with_busy) point.busy = busy / static_cast<double>(with_busy);
    if (offered.size() == members.size()) point.offered = std::exp(statistics::mean(offered));
    point.grows = point.offered && point.throughput_mean < kServedShare * *point.offered;
    out.loads.push_back(point);
  }
}

}  // namespace

std::string_view name(ScalingVerdict verdict) {
  constexpr std::array<std::string_view, 5> kWords{"scales to", "beyond", "saturated", "unsure", "refused"};
  return kWords[static_cast<size_t>(verdict)];
}

Saturation saturation_of(std::span<const LoadedTrial> trials, double alpha) {
  Saturation out;
  for (const LoadedTrial& trial : trials) {
    if (trial.throughput > 0 && std::isfinite(trial.throughput) && trial.load > 0 && std::isfinite(trial.load)) continue;
    out.refused = "a trial has no throughput above 0";
    return out;
  }
  describe(trials, alpha, out);
  ByLoad by_load;
  for (const LoadedTrial& trial : trials) by_load[trial.load].push_back(std::log(trial.throughput));
  if (by_load.size() < kFewestLoads) {
    out.refused = "a knee takes " + std::to_string(kFewestLoads) + " loads, there are " + std::to_string(by_load.size());
    return out;
  }
  for (const auto& [load, values] : by_load) {
    if (values.size() >= kFewestTrials) continue;
    out.refused = "a knee's interval takes " + std::to_string(kFewestTrials) + " trials at each load";
    return out;
  }

  const std::vector<Level> levels = levels_of(by_load);
  const Fit fit = best_fit(levels);
  double freedom = 0, squares = 0;
  for (const auto& [load, values] : by_load) {
    const double sd = statistics::moments(values).sd();
    freedom += static_cast<double>(values.size() - 1);
    squares += static_cast<double>(values.size() - 1) * sd * sd;
  }
  const auto [low, high] = range_of(levels, fit, std::sqrt(squares / freedom), freedom, alpha);
  out.knee = Knee{std::exp(fit.k), std::exp(low), std::exp(high), fit.s, std::exp(fit.a + fit.k)};
  constexpr double kEnd = 1e-6;
  const bool to_the_end = high >= levels.back().x - kEnd, from_the_start = low <= levels.front().x + kEnd;
  if (to_the_end && low > levels[levels.size() - 2].x) out.verdict = ScalingVerdict::kBeyond;
  else if (from_the_start && high < levels[1].x) out.verdict = ScalingVerdict::kSaturated;
  else if (to_the_end || from_the_start) out.verdict = ScalingVerdict::kUnsure;
  else out.verdict = ScalingVerdict::kScalesTo;
  return out;
}

std::vector<LoadedTrial> loaded_trials(const CausalData& data, std::span<const uint32_t> cells, uint32_t point,
                                       std::optional<uint32_t> latency_point) {
  struct Sums {
    double visits = 0, ns = 0, inside = 0, departures = 0, busy = 0, wall = 0;
    uint64_t arrivals = 0;
  };
  std::map<uint32_t, Sums> sums;
  std::optional<uint32_t> arrival;
  for (uint32_t each = 0; each < data.points.size() && !arrival; ++each)
    if (data.points[each].kind == PointKind::kArrival) arrival = each;
  for (const CausalWindow& window : data.windows) {
    const CausalTrial& trial = data.trials[window.trial];
    const uint32_t unusable = bit(WindowFlag::kSkipped) | bit(WindowFlag::kCut);
    if (window.kind != ArmKind::kBaseline || !trial.excluded.empty() || (window.flags & unusable)) continue;
    if (std::find(cells.begin(), cells.end(), trial.cell) == cells.end()) continue;
    const double ns = effective_ns(window, trial.clock);
    if (window.foreign_share > data.most_foreign || !(ns > 0)) continue;
    Sums& sum = sums[window.trial];
    sum.visits += static_cast<double>(window.visits[point]);
    if (arrival) sum.arrivals += window.visits[*arrival];
    sum.ns += ns;
    sum.busy += window.busy_share * static_cast<double>(window.wall_ns);
    sum.wall += static_cast<double>(window.wall_ns);
    if (!latency_point || window.latencies.empty()) continue;
    sum.inside += window.latencies[*latency_point].inside_ns;
    sum.departures += static_cast<double>(window.latencies[*latency_point].departures);
  }
  std::vector<LoadedTrial> out;
  for (const auto& [t, sum] : sums) {
    LoadedTrial trial;
    trial.load = data.cells[data.trials[t].cell].load;
    trial.throughput = 1e9 * sum.visits / sum.ns;
    if (sum.departures > 0) trial.latency_s = 1e-9 * sum.inside / sum.departures;
    if (sum.busy > 0 && sum.wall > 0) trial.busy = sum.busy / sum.wall;
    trial.arrivals = sum.arrivals;
    trial.wall_s = 1e-9 * sum.wall;
    trial.offered = 1e9 * static_cast<double>(sum.arrivals) / sum.ns;
    out.push_back(trial);
  }
  return out;
}

namespace {

void refuse(Saturation& out, const std::string& reason) {
  out.verdict = ScalingVerdict::kRefused;
  out.refused = reason;
  out.knee.reset();
}

// Trials of which nothing is left: other programs had their CPUs, or they ended too early.
std::string why_no_trials(const CausalData& data, std::span<const uint32_t> cells, std::span<const LoadedTrial> loaded) {
  std::map<double, uint64_t> left;
  for (const LoadedTrial& trial : loaded) ++left[trial.load];
  for (const uint32_t cell : cells) {
    uint64_t run = 0, foreign = 0, windows = 0;
    for (const CausalTrial& trial : data.trials) run += trial.cell == cell && trial.excluded.empty();
    for (const CausalWindow& window : data.windows) {
      if (data.trials[window.trial].cell != cell) continue;
      ++windows;
      foreign += window.foreign_share > data.most_foreign;
    }
    const double load = data.cells[cell].load;
    if (run < kFewestTrials || left[load] >= kFewestTrials) continue;
    const std::string where = plural(run, "trial") + " at load " + report::plain(load) + " only " +
                              std::to_string(left[load]) + (left[load] == 1 ? " has" : " have") + " a window that counts";
    if (foreign == 0) return "of " + where + ": make them longer, or windows shorter";
    return "of " + where + ": in " + std::to_string(foreign) + " of " + plural(windows, "window") +
           " other programs took more than " + text::significant(100 * data.most_foreign, 2) +
           " % of their CPUs; give the trials CPUs of their own";
  }
  return {};
}

// Whether the load was what it says; a knee of another load is none.
void judge_arrivals(std::span<const LoadedTrial> trials, const CausalData& data, Saturation& out) {
  const ArrivalsCheck check = check_arrivals(trials, data.alpha);
  out.arrivals = name(check.verdict);
  out.arrivals_share = check.share;
  out.arrivals_load = check.load;
  const bool has_arrivals = std::any_of(data.points.begin(), data.points.end(),
                                        [](const CausalPoint& point) { return point.kind == PointKind::kArrival; });
  if (!has_arrivals) return;
  for (const LoadPoint& point : out.loads)
    if (point.arrivals < kFewestArrivals)
      return refuse(out, "only " + std::to_string(point.arrivals) + " tasks arrived in the windows of load " +
                             report::plain(point.load) + ", at least " + std::to_string(kFewestArrivals) +
                             " are needed: longer trials, or more of them");
  if (check.verdict == ArrivalsVerdict::kClosed && !data.closed_loop)
    refuse(out, "at load " + report::plain(check.load) + " only " + text::significant(100 * check.share->estimate, 3) +
                    " % of the arrivals at the smallest load came: they wait for the program, for answers (a closed loop), room "
                    "in a queue or a CPU, so the load was not what it says; drive the program by arrivals that wait for "
                    "nothing, or declare closed = true");
}

}  // namespace

std::vector<Saturation> saturations_of(const CausalData& data) {
  std::vector<Saturation> out;
  const auto is_one = [](const CausalCell& cell) { return cell.load == 1; };
  if (!data.loads && std::all_of(data.cells.begin(), data.cells.end(), is_one)) return out;
  std::map<std::string, std::vector<uint32_t>> cells;
  for (uint32_t cell = 0; cell < data.cells.size(); ++cell) {
    std::string others;
    for (size_t f = 0; f < data.factors.size(); ++f)
      if (data.factors[f] != "load") others += (others.empty() ? "" : ", ") + data.factors[f] + "=" + data.cells[cell].levels[f];
    cells[others].push_back(cell);
  }
  std::optional<uint32_t> latency;
  for (uint32_t point = 0; point < data.points.size() && !latency; ++point)
    if (data.points[point].kind == PointKind::kLatency) latency = point;
  for (const auto& [others, members] : cells) {
    for (uint32_t point = 0; point < data.points.size(); ++point) {
      if (data.points[point].kind == PointKind::kArrival) continue;
      const auto inside = data.points[point].kind == PointKind::kLatency ? std::optional(point) : latency;
      const std::vector<LoadedTrial> loaded = loaded_trials(data, members, point, inside);
      Saturation found = saturation_of(loaded, data.alpha);
      judge_arrivals(loaded, data, found);
      if (const std::string reason = why_no_trials(data, members, loaded); !reason.empty()) refuse(found, reason);
      found.cell = others;
      found.point = data.points[point].name;
      if (inside) found.latency_point = data.points[*inside].name;
      out.push_back(std::move(found));
    }
  }
  return out;
}

}  // namespace stab::causal_report
