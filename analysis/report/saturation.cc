// The fit has three numbers: log throughput is a + log load up to the knee k, and from there on rises by s for each unit of log load.
// For a given k it is least squares in a and s. Beyond the knee a program doesn't follow its load, which is taken to mean that s is
// at most a half: without that bound noise alone would put a knee anywhere into a straight line.
#include "analysis/report/saturation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/report/causal_fit.h"
#include "analysis/statistics/descriptive.h"
#include "analysis/statistics/distributions.h"
#include "analysis/statistics/resampling.h"
#include "base/rng.h"

namespace stab::analysis {
namespace {

constexpr double kMostSlopeAfter = 0.5;
constexpr size_t kFewestLoads = 3, kFewestTrials = 3;
constexpr uint64_t kResamples = 2000;

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
  for (const auto& [load, values] : trials) out.push_back({std::log(load), static_cast<double>(values.size()), mean(values)});
  return out;
}

// Where every draw lies on one side of the estimate, at an end of the loads, there is nothing to correct for: the quantiles.
std::pair<double, double> interval_of(double estimate, std::vector<double> replicates, std::vector<double> left_out, double alpha) {
  if (const auto found = bca_interval(estimate, replicates, std::move(left_out), 1 - alpha)) return {found->conf_low, found->conf_high};
  std::sort(replicates.begin(), replicates.end());
  const auto at = [&](double level) { return replicates[static_cast<size_t>(level * static_cast<double>(replicates.size() - 1))]; };
  return {std::min(estimate, at(alpha / 2)), std::max(estimate, at(1 - alpha / 2))};
}

// Geometric mean with a t interval; absent below 2 values or without a spread.
std::optional<Interval> mean_of_logs(const std::vector<double>& logs, double alpha) {
  if (logs.size() < 2) return std::nullopt;
  const Moments all = moments(logs);
  const double half =
      t_quantile_upper(alpha / 2, static_cast<double>(logs.size() - 1)) * all.sd() / std::sqrt(static_cast<double>(logs.size()));
  return Interval{std::exp(all.mean), std::exp(all.mean - half), std::exp(all.mean + half)};
}

void describe(std::span<const LoadedTrial> trials, double alpha, Saturation& out) {
  std::map<double, std::vector<const LoadedTrial*>> by_load;
  for (const LoadedTrial& trial : trials) by_load[trial.load].push_back(&trial);
  for (const auto& [load, members] : by_load) {
    LoadPoint point;
    point.load = load;
    point.trials = members.size();
    std::vector<double> throughput, latency;
    double busy = 0;
    size_t with_busy = 0;
    for (const LoadedTrial* trial : members) {
      throughput.push_back(std::log(trial->throughput));
      if (trial->latency_s && *trial->latency_s > 0) latency.push_back(std::log(*trial->latency_s));
      if (trial->busy) busy += *trial->busy, ++with_busy;
    }
    point.throughput_mean = std::exp(mean(throughput));
    point.throughput = mean_of_logs(throughput, alpha);
    if (!latency.empty()) point.latency_mean_s = std::exp(mean(latency));
    point.latency_s = mean_of_logs(latency, alpha);
    if (with_busy) point.busy = busy / static_cast<double>(with_busy);
    out.loads.push_back(std::move(point));
  }
}

}  // namespace

std::string_view name(ScalingVerdict verdict) {
  constexpr std::array<std::string_view, 5> kWords{"scales to", "beyond", "saturated", "unsure", "refused"};
  return kWords[static_cast<size_t>(verdict)];
}

Saturation saturation_of(std::span<const LoadedTrial> trials, double alpha, uint64_t seed) {
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
  Rng rng = Rng::stream(seed, "knee");
  std::vector<double> replicates, left_out;
  std::vector<Level> drawn = levels;
  for (uint64_t draw = 0; draw < kResamples; ++draw) {
    size_t at = 0;
    for (const auto& [load, values] : by_load) {
      double sum = 0;
      for (size_t i = 0; i < values.size(); ++i) sum += values[rng.below(values.size())];
      drawn[at++].mean = sum / static_cast<double>(values.size());
    }
    replicates.push_back(best_fit(drawn).k);
  }
  size_t at = 0;
  for (const auto& [load, values] : by_load) {
    std::vector<double> without;
    for (const double value : values) {
      drawn = levels;
      const auto n = static_cast<double>(values.size());
      drawn[at].n = n - 1;
      drawn[at].mean = (n * levels[at].mean - value) / (n - 1);
      without.push_back(best_fit(drawn).k);
    }
    const double centre = mean(without);
    for (const double value : without) left_out.push_back(value - centre);
    ++at;
  }
  const auto [low, high] = interval_of(fit.k, std::move(replicates), std::move(left_out), alpha);
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
  };
  std::map<uint32_t, Sums> sums;
  for (const CausalWindow& window : data.windows) {
    const CausalTrial& trial = data.trials[window.trial];
    const uint32_t unusable = bit(WindowFlag::kSkipped) | bit(WindowFlag::kCut);
    if (window.kind != ArmKind::kBaseline || !trial.excluded.empty() || (window.flags & unusable)) continue;
    if (std::find(cells.begin(), cells.end(), trial.cell) == cells.end()) continue;
    const double ns = effective_ns(window, trial.clock);
    if (window.foreign_share > data.most_foreign || !(ns > 0)) continue;
    Sums& sum = sums[window.trial];
    sum.visits += static_cast<double>(window.visits[point]);
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
    out.push_back(trial);
  }
  return out;
}

std::vector<Saturation> saturations_of(const CausalData& data) {
  std::vector<Saturation> out;
  if (std::all_of(data.cells.begin(), data.cells.end(), [](const CausalCell& cell) { return cell.load == 1; })) return out;
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
      Saturation found = saturation_of(loaded_trials(data, members, point, inside), data.alpha);
      found.cell = others;
      found.point = data.points[point].name;
      if (inside) found.latency_point = data.points[*inside].name;
      out.push_back(std::move(found));
    }
  }
  return out;
}

}  // namespace stab::analysis
