// Times are log-normal to a first approximation, so the interval is made on the log scale, as the report's are.
#include "stabd/precision.h"

#include <algorithm>
#include <cmath>

#include "analysis/distributions.h"

namespace stab::engine {
namespace {

constexpr double kConfidence = 0.95;

}  // namespace

void CellTimes::add(double log_seconds) {
  ++n;
  const double delta = log_seconds - mean;
  mean += delta / static_cast<double>(n);
  squares += delta * (log_seconds - mean);
}

std::optional<double> CellTimes::half_width() const {
  if (n < 2) return {};
  const double degrees = static_cast<double>(n - 1);
  const double error = std::sqrt(squares / degrees / static_cast<double>(n));
  return std::expm1(analysis::t_quantile((1 + kConfidence) / 2, degrees) * error);
}

void Precision::add(const std::string& subject, const std::string& cell, int64_t wall_ns) {
  if (wall_ns <= 0) return;
  CellTimes& times = cells_[{subject, cell}];
  times.subject = subject;
  times.cell = cell;
  times.add(std::log(static_cast<double>(wall_ns) / 1e9));
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

Result<Precision> precision_of(store::Store& store, store::Id experiment) {
  STAB_TRY(const std::vector<store::SubjectRow> subjects, store.subjects(experiment));
  STAB_TRY(const std::vector<store::CellRow> cells, store.cells(experiment));
  STAB_TRY(const std::vector<store::SampleRow> samples, store.samples(experiment, "wall_time"));
  Precision precision;
  for (const store::SampleRow& sample : samples) {
    const auto subject = static_cast<size_t>(sample.subject), cell = static_cast<size_t>(sample.cell);
    if (!sample.value || sample.excluded || subject >= subjects.size() || cell >= cells.size()) continue;
    precision.add(subjects[subject].name, cells[cell].name, std::llround(*sample.value * 1e9));
  }
  return precision;
}

}  // namespace stab::engine
