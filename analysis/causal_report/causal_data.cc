// The words of causal data, the effective time of a window, and what may not be.
#include "analysis/causal_report/causal_data.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stab::causal_report {
namespace {

constexpr std::array<std::string_view, 4> kArms{"baseline", "speedup", "null", "slowdown"};
constexpr std::array<std::string_view, 2> kClocks{"wall", "cpu"};
constexpr std::array<std::string_view, 3> kPoints{"progress", "arrival", "latency"};

template <typename Enum, size_t Count>
std::optional<Enum> among(const std::array<std::string_view, Count>& words, std::string_view name) {
  const auto found = std::find(words.begin(), words.end(), name);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

bool share(double value) { return value >= 0 && value <= 1; }

std::string fault_of_trial(const CausalData& data, const CausalTrial& trial) {
  if (trial.cell >= data.cells.size()) return "is of a cell that there isn't";
  if (!trial.run_samples.empty() && trial.run_samples.size() != data.lines.size())
    return "counts samples of " + std::to_string(trial.run_samples.size()) + " lines, not of " +
           std::to_string(data.lines.size());
  for (const double each : {trial.unsampled_share, trial.system_share.value_or(0), trial.unattributed_share,
                            trial.unclassified_waits, trial.lengthened_share})
    if (!share(each)) return "has a share that is not between 0 and 1";
  return {};
}

std::string fault_of_window(const CausalData& data, const CausalWindow& window) {
  if (window.trial >= data.trials.size()) return "is of a trial that there isn't";
  if (window.line && *window.line >= data.lines.size()) return "is of a line that there isn't";
  if (window.kind == ArmKind::kBaseline && (window.line || window.speedup != 0)) return "is a baseline with a line or a speedup";
  if (window.kind == ArmKind::kSpeedup && !window.line) return "speeds nothing up";
  if (window.kind != ArmKind::kBaseline && !(window.speedup > 0 && window.speedup <= 1))
    return "has a speedup that is not between 0 and 1";
  if (window.kind == ArmKind::kSpeedup &&
      std::find(data.speedups.begin(), data.speedups.end(), window.speedup) == data.speedups.end())
    return "has a speedup that was not declared";
  if (window.flags & bit(WindowFlag::kSkipped)) return {};
  if (window.visits.size() != data.points.size())
    return "counts visits of " + std::to_string(window.visits.size()) + " points, not of " + std::to_string(data.points.size());
  if (!window.latencies.empty() && window.latencies.size() != data.points.size()) return "has integrals of other points";
  for (const LatencyIntegral& latency : window.latencies)
    if (!(latency.inside_ns >= 0 && std::isfinite(latency.inside_ns))) return "has an integral that is no number of 0 or more";
  if (!(window.pay_ratio >= 0 && std::isfinite(window.pay_ratio))) return "has a ratio of pauses that is no number of 0 or more";
  if (!share(window.foreign_share) || !share(window.busy_share)) return "has a share of CPU time that is not between 0 and 1";
  return {};
}

}  // namespace

std::string_view name(ArmKind kind) { return kArms[static_cast<size_t>(kind)]; }
std::string_view name(CausalClock clock) { return kClocks[static_cast<size_t>(clock)]; }
std::string_view name(PointKind kind) { return kPoints[static_cast<size_t>(kind)]; }
std::optional<ArmKind> arm_kind(std::string_view name) { return among<ArmKind>(kArms, name); }
std::optional<CausalClock> causal_clock(std::string_view name) { return among<CausalClock>(kClocks, name); }
std::optional<PointKind> point_kind(std::string_view name) { return among<PointKind>(kPoints, name); }

double effective_ns(const CausalWindow& window, CausalClock clock) {
  const auto credited = static_cast<double>(window.credited_ns);
  if (clock == CausalClock::kCpu) return static_cast<double>(window.cpu_ns) + static_cast<double>(window.world_ns) - credited;
  return static_cast<double>(window.wall_ns) - window.pay_ratio * credited;
}

std::optional<std::string> fault_of(const CausalData& data) {
  if (data.points.empty()) return "there is no progress point";
  if (data.cells.empty()) return "there is no cell";
  if (!(data.margin > 0 && data.margin < 1)) return "the margin is not between 0 and 1";
  if (!(data.alpha > 0 && data.alpha <= 0.5)) return "alpha is not above 0 and at most 0.5";
  for (const CausalCell& cell : data.cells) {
    if (cell.levels.size() != data.factors.size()) return "a cell has levels of other factors";
    if (!(cell.load > 0 && std::isfinite(cell.load))) return "a cell's load is no number above 0";
  }
  for (size_t s = 0; s < data.speedups.size(); ++s)
    if (!(data.speedups[s] > (s ? data.speedups[s - 1] : 0) && data.speedups[s] <= 1))
      return "the declared speedups do not ascend between 0 and 1";
  for (size_t t = 0; t < data.trials.size(); ++t)
    if (const std::string fault = fault_of_trial(data, data.trials[t]); !fault.empty())
      return "trial " + std::to_string(data.trials[t].id) + " " + fault;
  for (size_t w = 0; w < data.windows.size(); ++w)
    if (const std::string fault = fault_of_window(data, data.windows[w]); !fault.empty())
      return "window " + std::to_string(w + 1) + " " + fault;
  return std::nullopt;
}

double unclassified_share(double waits, double classified, double run_s) {
  constexpr double kFewest = 10;  // a second
  const double unclassified = std::max(0.0, waits - classified), of = std::max(waits, kFewest * run_s);
  return of > 0 ? std::min(1.0, unclassified / of) : 0;
}

}  // namespace stab::causal_report
