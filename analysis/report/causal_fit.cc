// Windows become rows of a weighted regression with an effect for each block of time taken out; clusters are trials. Where each
// trial is one window (plans with one arm a trial) blocks lie across trials, and blocks are the clusters. Where there are too few
// trials, clusters are blocks of time within them, and the report withholds its verdicts.
//
// A latency is the ratio of two sums over windows, the integral of the tasks inside and the departures (Little's law), so its
// logarithm is compared between arms as such, and its error is the jackknife's over clusters.
#include "analysis/report/causal_fit.h"

#include <algorithm>
#include <cmath>
#include <array>

#include "analysis/statistics/distributions.h"
#include "base/rng.h"

namespace stab::analysis {
namespace {

Error not_found(std::string message) { return {ErrorCode::kNotFound, std::move(message), {}}; }

// What its clusters contribute to the error of a statistic, by its values without each of them (Efron & Stein 1981).
std::vector<double> jackknife_scores(const std::vector<double>& left_out) {
  double mean = 0;
  for (const double value : left_out) mean += value / static_cast<double>(left_out.size());
  const auto k = static_cast<double>(left_out.size());
  std::vector<double> scores;
  for (const double value : left_out) scores.push_back(std::sqrt((k - 1) / k) * (mean - value));
  return scores;
}

double root_of_squares(const std::vector<double>& scores) {
  double squares = 0;
  for (const double score : scores) squares += score * score;
  return std::sqrt(squares);
}

}  // namespace

ArmKey arm_of(const CausalWindow& window) {
  if (window.kind == ArmKind::kBaseline || window.kind == ArmKind::kNull) return {window.kind, 0, 0};
  return {window.kind, window.line.value_or(0), window.speedup};
}

double log_throughput(const CausalData& data, const CausalWindow& window, uint32_t point) {
  return std::log(static_cast<double>(window.visits[point]) / effective_ns(window, data.trials[window.trial].clock));
}

std::vector<size_t> windows_that_count(const CausalData& data, uint32_t cell, CausalCellSummary& summary) {
  std::vector<size_t> out;
  for (size_t w = 0; w < data.windows.size(); ++w) {
    const CausalWindow& window = data.windows[w];
    const CausalTrial& trial = data.trials[window.trial];
    if (trial.cell != cell || !trial.excluded.empty()) continue;
    if (window.flags & bit(WindowFlag::kSkipped)) ++summary.skipped;
    else if (window.flags & bit(WindowFlag::kCut)) ++summary.cut;
    else if (window.foreign_share > data.most_foreign) ++summary.foreign;
    else if (!(effective_ns(window, trial.clock) > 0)) ++summary.without_time;
    else out.push_back(w);
  }
  summary.windows = out.size();
  return out;
}

Result<CausalFit> CausalFit::of(const CausalData& data, uint32_t point, std::span<const size_t> windows) {
  CausalFit fit;
  fit.data_ = &data;
  fit.point_ = point;
  fit.latency_ = data.points[point].kind == PointKind::kLatency;
  for (const size_t w : windows)
    if (data.windows[w].visits[point] > 0) fit.windows_.push_back(w);
  if (fit.windows_.empty()) return bad_input("no window has a visit of '" + data.points[point].name + "'");

  // Which windows go together.
  std::map<uint32_t, uint64_t> of_trial;
  for (const size_t w : fit.windows_) ++of_trial[data.windows[w].trial];
  const bool one_each = std::all_of(of_trial.begin(), of_trial.end(), [](const auto& each) { return each.second == 1; });
  fit.of_these_runs_ = !one_each && of_trial.size() < kFewestCausalTrials;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> groups;  // by trial and block of time
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> clusters;
  for (const size_t w : fit.windows_) {
    const CausalWindow& window = data.windows[w];
    const std::pair block(one_each ? 0 : window.trial, window.block);
    const std::pair cluster = one_each || fit.of_these_runs_ ? block : std::pair(window.trial, 0u);
    fit.rows_.groups.push_back(groups.emplace(block, groups.size()).first->second);
    const uint32_t index = clusters.emplace(cluster, clusters.size()).first->second;
    fit.rows_.clusters.push_back(index);
    fit.trials_of_.resize(std::max<size_t>(fit.trials_of_.size(), index + size_t{1}));
    std::vector<size_t>& trials = fit.trials_of_[index];
    if (std::find(trials.begin(), trials.end(), window.trial) == trials.end()) trials.push_back(window.trial);
  }
  fit.clusters_ = clusters.size();
  fit.cluster_of_ = fit.rows_.clusters;
  if (fit.clusters_ < 2)
    return bad_input("there are windows of one " + std::string(fit.of_these_runs_ ? "block of time" : "trial") + " only");

  for (const size_t w : fit.windows_) {
    const ArmKey key = arm_of(data.windows[w]);
    ++fit.counts_[key];
    if (key.kind != ArmKind::kBaseline) fit.column_.emplace(key, 0);
    fit.rows_.weights.push_back(static_cast<double>(data.windows[w].visits[point]));
    fit.rows_.response.push_back(log_throughput(data, data.windows[w], point));
  }
  if (!fit.counts_.count(ArmKey{})) return bad_input("there is no baseline window");
  fit.rows_.columns.resize(fit.column_.size());
  size_t next = 0;
  for (auto& [key, column] : fit.column_) {
    column = next++;
    for (const size_t w : fit.windows_) fit.rows_.columns[column].push_back(arm_of(data.windows[w]) == key);
  }

  // Baseline windows about their block's mean; the rest's share of freedom is what a one-way table has.
  std::map<uint32_t, std::array<double, 4>> blocks;  // weights, weighted sum, count, weighted squares
  for (size_t i = 0; i < fit.windows_.size(); ++i) {
    if (data.windows[fit.windows_[i]].kind != ArmKind::kBaseline) continue;
    auto& block = blocks[fit.rows_.groups[i]];
    const double weight = fit.rows_.weights[i], y = fit.rows_.response[i];
    block[0] += weight, block[1] += weight * y, block[2] += 1;
  }
  double squares = 0, freedom = 0, weights = 0, count = 0;
  for (size_t i = 0; i < fit.windows_.size(); ++i) {
    if (data.windows[fit.windows_[i]].kind != ArmKind::kBaseline) continue;
    const auto& block = blocks[fit.rows_.groups[i]];
    const double rest = fit.rows_.response[i] - block[1] / block[0];
    squares += fit.rows_.weights[i] * rest * rest;
    weights += fit.rows_.weights[i], count += 1;
  }
  freedom = count - static_cast<double>(blocks.size());
  if (freedom > 0) fit.spread_ = std::sqrt(squares / freedom / (weights / count));

  if (!fit.latency_ && !fit.rows_.columns.empty()) {
    STAB_TRY(ClusterRobustFit found, ClusterRobustFit::of(fit.rows_));
    fit.fit_ = std::move(found);
  }
  return fit;
}

std::vector<ArmKey> CausalFit::arms() const {
  std::vector<ArmKey> out;
  for (const auto& [key, column] : column_) out.push_back(key);
  return out;
}

Result<ArmEstimate> CausalFit::arm(const ArmKey& key, const ArmKey& reference) const {
  return mean_of(std::span(&key, 1), reference);
}

Result<ArmEstimate> CausalFit::mean_of(std::span<const ArmKey> keys, const ArmKey& reference) const {
  for (const ArmKey& key : keys)
    if (!column_.count(key)) return not_found("no window of it counts");
  if (!counts_.count(reference)) return not_found("no window that it could be held against counts");
  if (latency_) return latency_arm(keys, reference);
  std::vector<double> combination(column_.size());
  if (column_.count(reference)) combination[column_.at(reference)] = -1;
  ArmEstimate out;
  for (const ArmKey& key : keys) {
    combination[column_.at(key)] = 1 / static_cast<double>(keys.size());
    out.windows += counts_.at(key);
  }
  STAB_TRY(const ClusterRobustEstimate found, fit_->estimate(combination));
  out.log_effect = found.estimate;
  out.standard_error = found.standard_error;
  out.df = found.df;
  out.scores = found.scores;
  out.baselines = counts_.at(reference);
  return out;
}

Result<ArmEstimate> CausalFit::latency_arm(std::span<const ArmKey> keys, const ArmKey& reference) const {
  // By cluster: integral and departures of the reference and of the arm.
  struct Sums {
    double inside[2] = {0, 0}, departures[2] = {0, 0};
  };
  std::vector<Sums> sums(clusters_);
  ArmEstimate out;
  for (size_t i = 0; i < windows_.size(); ++i) {
    const CausalWindow& window = data_->windows[windows_[i]];
    const ArmKey key = arm_of(window);
    const bool is_arm = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (!is_arm && key != reference) continue;
    ++(is_arm ? out.windows : out.baselines);
    if (window.latencies.empty()) return bad_input("its windows have no integrals");
    Sums& sum = sums[cluster_of_[i]];
    sum.inside[is_arm] += window.latencies[point_].inside_ns;
    sum.departures[is_arm] += static_cast<double>(window.latencies[point_].departures);
  }
  // Latency is a cost: less of it is a positive effect.
  const auto effect_without = [&](size_t left_out) -> std::optional<double> {
    Sums all;
    for (size_t c = 0; c < clusters_; ++c) {
      if (c == left_out) continue;
      for (const int arm : {0, 1}) all.inside[arm] += sums[c].inside[arm], all.departures[arm] += sums[c].departures[arm];
    }
    for (const int arm : {0, 1})
      if (!(all.inside[arm] > 0) || !(all.departures[arm] > 0)) return std::nullopt;
    return std::log(all.inside[0] / all.departures[0]) - std::log(all.inside[1] / all.departures[1]);
  };
  const auto whole = effect_without(SIZE_MAX);
  if (!whole) return bad_input("nothing was inside '" + data_->points[point_].name + "'");
  std::vector<double> left_out;
  size_t with_arm = 0;
  for (size_t c = 0; c < clusters_; ++c) {
    with_arm += sums[c].departures[1] > 0 && sums[c].departures[0] > 0;
    const auto without = effect_without(c);
    if (!without) return bad_input("only one cluster says something of it");
    left_out.push_back(*without);
  }
  out.log_effect = *whole;
  out.scores = jackknife_scores(left_out);
  out.standard_error = root_of_squares(out.scores);
  if (with_arm < 2 || !(out.standard_error > 0)) return bad_input("its windows do not vary, or are of one cluster");
  out.df = static_cast<double>(with_arm - 1);
  return out;
}

std::optional<double> CausalFit::phase_share(uint32_t line, std::span<const double> counts,
                                             std::span<const double> effects) const {
  // The time of its windows is what their work takes at speedup 0: an arm that is faster by exp(effect) did more of it.
  double time = 0, samples = 0, all_samples = 0, run = 0;
  for (size_t i = 0; i < windows_.size(); ++i) {
    const CausalWindow& window = data_->windows[windows_[i]];
    if (window.kind != ArmKind::kSpeedup || window.line != line) continue;
    const double count = counts[cluster_of_[i]];
    time += count * effective_ns(window, data_->trials[window.trial].clock) * std::exp(effects[column_.at(arm_of(window))]);
    samples += count * static_cast<double>(window.line_samples);
  }
  for (size_t c = 0; c < clusters_; ++c) {
    for (const size_t t : trials_of_[c]) {
      const CausalTrial& trial = data_->trials[t];
      if (trial.run_samples.empty() || trial.run_ns == 0) return std::nullopt;
      all_samples += counts[c] * static_cast<double>(trial.run_samples[line]);
      run += counts[c] * static_cast<double>(trial.run_ns);
    }
  }
  if (!(time > 0) || !(samples > 0) || !(all_samples > 0) || !(run > 0)) return std::nullopt;
  return time / samples * all_samples / run;
}

Result<ArmEstimate> CausalFit::arm_of_phase(const ArmKey& key, double* share, const ArmKey& reference) const {
  if (latency_) return bad_input("a latency is that of the phase: it has no share of the run");
  if (of_these_runs_) return bad_input("the share of the run takes trials, and there are too few");
  STAB_TRY(ArmEstimate out, arm(key, reference));
  std::vector<double> contrast(column_.size());
  contrast[column_.at(key)] = 1;
  if (column_.count(reference)) contrast[column_.at(reference)] = -1;
  const auto corrected = [&](std::span<const double> counts, double* found) -> std::optional<double> {
    std::vector<double> effects(column_.size()), combination(column_.size());
    for (const auto& [other, column] : column_) {
      if (other.line != key.line || (other.kind != ArmKind::kSpeedup && other.kind != key.kind)) continue;
      std::fill(combination.begin(), combination.end(), 0.0);
      combination[column] = 1;
      const auto effect = fit_->recounted(combination, counts);
      if (!effect) return std::nullopt;
      effects[column] = *effect;
    }
    const auto part = phase_share(key.line, counts, effects);
    if (!part) return std::nullopt;
    if (found) *found = *part;
    const auto beyond = fit_->recounted(contrast, counts);
    if (!beyond) return std::nullopt;
    const double saved = *part * (1 - std::exp(-*beyond));
    if (!(saved < 1)) return std::nullopt;
    return -std::log1p(-saved);
  };
  std::vector<double> counts(clusters_, 1.0), left_out;
  const auto whole = corrected(counts, share);
  if (!whole) return bad_input("its samples in the windows and in the whole run don't say how much of the run it is");
  for (size_t c = 0; c < clusters_; ++c) {
    counts[c] = 0;
    const auto without = corrected(counts, nullptr);
    counts[c] = 1;
    if (!without) return bad_input("without one of the trials it can't be said how much of the run it is");
    left_out.push_back(*without);
  }
  out.log_effect = *whole;
  out.scores = jackknife_scores(left_out);
  out.standard_error = root_of_squares(out.scores);
  if (!(out.standard_error > 0)) return bad_input("its trials do not vary");
  return out;
}

Result<BootstrapInterval> CausalFit::bca(const ArmKey& key, uint64_t resamples, double conf, uint64_t seed) const {
  if (!column_.count(key)) return not_found("no window of it counts");
  if (latency_) return bad_input("of latencies there is the jackknife");
  std::vector<double> combination(column_.size());
  combination[column_.at(key)] = 1;
  return bca_clusters(
      clusters_, [&](std::span<const double> counts) { return fit_->recounted(combination, counts); }, resamples, conf, seed);
}

std::optional<double> CausalFit::split_baselines(uint64_t seed) const {
  Rng rng(seed);
  std::map<uint32_t, std::vector<size_t>> blocks;
  for (size_t i = 0; i < windows_.size(); ++i)
    if (data_->windows[windows_[i]].kind == ArmKind::kBaseline) blocks[rows_.groups[i]].push_back(i);
  ClusteredRows halves;
  halves.columns.resize(1);
  std::map<uint32_t, uint32_t> clusters, groups;
  for (auto& [group, members] : blocks) {
    if (members.size() < 2) continue;
    rng.shuffle(members);
    const size_t half = (members.size() + (rng.next() & 1)) / 2;
    for (size_t m = 0; m < members.size(); ++m) {
      const size_t i = members[m];
      halves.columns[0].push_back(m < half ? 1 : 0);
      halves.response.push_back(rows_.response[i]);
      halves.weights.push_back(rows_.weights[i]);
      halves.clusters.push_back(clusters.emplace(cluster_of_[i], clusters.size()).first->second);
      halves.groups.push_back(groups.emplace(group, groups.size()).first->second);
    }
  }
  if (halves.response.empty()) return std::nullopt;
  const auto fit = ClusterRobustFit::of(halves);
  if (!fit) return std::nullopt;
  const auto found = fit->estimate(std::vector<double>{1});
  if (!found) return std::nullopt;
  return t_two_sided(found->estimate / found->standard_error, found->df);
}

}  // namespace stab::analysis
