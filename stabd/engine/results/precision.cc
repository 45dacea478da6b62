// Times are log-normal to a first approximation, so the interval is made on the log scale, as the report's are.
#include "stabd/engine/results/precision.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "plan/slicing.h"

namespace stab::engine {
namespace {

constexpr double kConfidence = 0.95;

}  // namespace

void LogTimes::add(double log_seconds) {
  ++n;
  const double delta = log_seconds - mean;
  mean += delta / static_cast<double>(n);
  squares += delta * (log_seconds - mean);
}

void CellTimes::add(double log_seconds, const plan::TrialLayout& layout) {
  fixed_code = layout.fixed_code;
  (layout.shared ? shared[layout.id] : own).add(log_seconds);
}

LogTimes CellTimes::units() const {
  if (fixed_code && shared.size() == 1) return shared.begin()->second;
  LogTimes all = own;
  for (const auto& [layout, times] : shared) all.add(times.mean);
  return all;
}

std::optional<double> CellTimes::half_width() const {
  const LogTimes all = units();
  if (all.n < kFewestUnits) return {};
  const double degrees = static_cast<double>(all.n - 1);
  const double error = std::sqrt(all.squares / degrees / static_cast<double>(all.n));
  return std::expm1(statistics::t_quantile((1 + kConfidence) / 2, degrees) * error);
}

void Precision::add(const std::string& subject, const std::string& cell, int64_t wall_ns, const plan::TrialLayout& layout) {
  if (wall_ns <= 0) return;
  CellTimes& times = cells_[{subject, cell}];
  times.subject = subject;
  times.cell = cell;
  times.add(std::log(static_cast<double>(wall_ns) / 1e9), layout);
}

std::vector<CellTimes> Precision::cells() const {
  std::vector<CellTimes> out;
  for (const auto& [key, times] : cells_) out.push_back(times);
  return out;
}

std::optional<double> Precision::widest() const {
  double widest = 0;
  for (const auto& [key, times] : cells_) {
    const std::optional<double> width = times.half_width();
    if (!width) return {};
    widest = std::max(widest, *width);
  }
  return cells_.empty() ? std::optional<double>() : widest;
}

Result<Precision> precision_of(store::Store& store, const store::ExperimentRow& experiment) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(experiment));
  const bool sliced = expanded.plan.experiment.blocks == plan::BlockMode::kSliced;
  STAB_TRY(const std::vector<store::SampleRow> samples, store.samples(experiment.id, sliced ? "cpu_time" : "wall_time"));
  Precision precision;
  if (expanded.plan.counters.simulation.on()) return precision;  // its times are the simulator's
  for (const store::SampleRow& sample : samples) {
    const auto subject = static_cast<size_t>(sample.subject), cell = static_cast<size_t>(sample.cell);
    if (!sample.value || sample.excluded || subject >= expanded.subjects.size() || cell >= expanded.design.cells.size()) continue;
    if (sliced && plan::runs_alone(expanded.plan, sample.block)) continue;
    precision.add(expanded.subjects[subject].name, expanded.design.cells[cell].name, std::llround(*sample.value * 1e9),
                  plan::layout_of(expanded.design.cells[cell], sample.layout));
  }
  return precision;
}

}  // namespace stab::engine
