// An arm's effect is a ratio of two rates: of the work that its windows did in their effective time, and of the work that the
// baseline windows of the same blocks did in theirs. Work and time are added up before they are divided, so that each part of the
// run counts by the time that it takes, whatever its share of the line. (A mean of the windows' logarithms would count a part in
// which a line is nine tenths more than nine times as much as one in which it is a tenth.) docs/explanation/causal-profiles.md
// derives it.
//
// Both sums must stand for the same parts of the run. Blocks hold each arm once, so a baseline window counts by the arm's windows
// in its block. On several CPUs a window in which threads pause much holds less of the run than others of its length, so each
// counts by the inverse of what it holds: its length less the pauses, of which a line's windows together tell how much of what
// was credited they took the program.
//
// Errors are the jackknife's over clusters, which are trials. Where each trial is one window (plans with one arm a trial) blocks
// lie across trials, and blocks are the clusters. Where there are too few trials, clusters are blocks of time within them, and
// the report withholds its verdicts.
//
// A latency is such a ratio, too: of the departures and of the integral of the tasks inside (Little's law).
#include "analysis/causal_report/causal_fit.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"

namespace stab::causal_report {
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
    else if (window.kind != ArmKind::kSpeedup && !(effective_ns(window, trial.clock) > 0)) ++summary.without_time;
    else
      out.push_back(w);  // of a line that is nearly all of a window, samples may be credited more than passed: others have less
  }
  summary.windows = out.size();
  return out;
}

Result<CausalFit> CausalFit::of(const CausalData& data, uint32_t point, std::span<const size_t> windows) {
  CausalFit fit;
  fit.data_ = &data;
  fit.point_ = point;
  fit.latency_ = data.points[point].kind == PointKind::kLatency;
  fit.windows_.assign(windows.begin(), windows.end());
  if (std::none_of(windows.begin(), windows.end(), [&](size_t w) { return data.windows[w].visits[point] > 0; }))
    return bad_input("no window has a visit of '" + data.points[point].name + "'");

  // Which windows go together.
  std::map<uint32_t, uint64_t> of_trial;
  for (const size_t w : fit.windows_) ++of_trial[data.windows[w].trial];
  const bool one_each = std::all_of(of_trial.begin(), of_trial.end(), [](const auto& each) { return each.second == 1; });
  fit.of_these_runs_ = !one_each && of_trial.size() < kFewestCausalTrials;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> groups;  // by trial and block of time, in their order
  for (const size_t w : fit.windows_)
    groups.emplace(std::pair(one_each ? 0 : data.windows[w].trial, data.windows[w].block), 0);
  for (auto& [block, index] : groups) {
    index = static_cast<uint32_t>(fit.blocks_.size());
    fit.blocks_.emplace_back().trial = block.first;
  }
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> clusters;
  for (const size_t w : fit.windows_) {
    const CausalWindow& window = data.windows[w];
    const std::pair block(one_each ? 0 : window.trial, window.block);
    const std::pair cluster = one_each || fit.of_these_runs_ ? block : std::pair(window.trial, 0u);
    const uint32_t index = clusters.emplace(cluster, clusters.size()).first->second;
    fit.cluster_of_.push_back(index);
    fit.block_of_.push_back(groups.at(block));
    fit.blocks_[groups.at(block)].cluster = index;
    fit.trials_of_.resize(std::max<size_t>(fit.trials_of_.size(), index + size_t{1}));
    std::vector<size_t>& trials = fit.trials_of_[index];
    if (std::find(trials.begin(), trials.end(), window.trial) == trials.end()) trials.push_back(window.trial);
  }
  fit.clusters_ = clusters.size();
  if (fit.clusters_ < 2)
    return bad_input("there are windows of one " + std::string(fit.of_these_runs_ ? "block of time" : "trial") + " only");
  fit.add_up(one_each);
  if (!fit.counts_.count(ArmKey{})) return bad_input("there is no baseline window");
  return fit;
}

void CausalFit::add_up(bool one_each) {
  for (size_t i = 0; i < windows_.size(); ++i) {
    const CausalWindow& window = data_->windows[windows_[i]];
    Block& block = blocks_[block_of_[i]];
    ++block.windows[arm_of(window)];
    ++counts_[arm_of(window)];
    if (window.kind == ArmKind::kBaseline) block.baseline.add(work_and_time(window), 1);
  }
  const std::vector<double> held = one_each || latency_ ? std::vector<double>(windows_.size(), 1.0) : own_time();
  std::vector<double> of_block(blocks_.size());
  for (size_t i = 0; i < windows_.size(); ++i) of_block[block_of_[i]] += held[i];
  for (size_t b = 0; b < blocks_.size(); ++b) {
    double windows = 0;
    for (const auto& [key, count] : blocks_[b].windows) windows += static_cast<double>(count);
    of_block[b] /= windows;
  }
  for (size_t i = 0; i < windows_.size(); ++i) {
    const CausalWindow& window = data_->windows[windows_[i]];
    const ArmKey key = arm_of(window);
    const Block& block = blocks_[block_of_[i]];
    // Nothing that it could be held against.
    if (key.kind == ArmKind::kBaseline || block.baseline.windows == 0) continue;
    Matched& sums = sums_.try_emplace(key, clusters_).first->second[block.cluster];
    sums.arm.add(work_and_time(window), of_block[block_of_[i]] / held[i]);
  }
  for (size_t i = 0; i < windows_.size(); ++i) {
    const CausalWindow& window = data_->windows[windows_[i]];
    const Block& block = blocks_[block_of_[i]];
    if (window.kind != ArmKind::kBaseline) continue;
    for (const auto& [key, windows] : block.windows)
      if (key.kind != ArmKind::kBaseline)
        sums_.at(key)[block.cluster].baseline.add(work_and_time(window),
                                                  static_cast<double>(windows) / static_cast<double>(block.baseline.windows) *
                                                      of_block[block_of_[i]] / held[i]);
  }

  // How far apart baseline windows of one block are, for plans.
  double squares = 0, freedom = 0;
  for (const Block& block : blocks_)
    if (block.baseline.work > 0) freedom += static_cast<double>(block.baseline.windows) - 1;
  for (size_t i = 0; i < windows_.size(); ++i) {
    const CausalWindow& window = data_->windows[windows_[i]];
    const WorkAndTime& all = blocks_[block_of_[i]].baseline;
    if (window.kind != ArmKind::kBaseline || !(all.work > 0)) continue;
    const WorkAndTime own = work_and_time(window);
    const double rest = own.work / (own.time * all.work / all.time) - 1;
    squares += rest * rest;
  }
  if (freedom > 0) spread_ = std::sqrt(squares / freedom);
}

CausalFit::WorkAndTime CausalFit::work_and_time(const CausalWindow& window) const {
  const auto samples = static_cast<double>(window.line_samples);
  if (!latency_)
    return {static_cast<double>(window.visits[point_]), effective_ns(window, data_->trials[window.trial].clock), samples, 1};
  if (window.latencies.empty()) return {};
  return {static_cast<double>(window.latencies[point_].departures), window.latencies[point_].inside_ns, samples, 1};
}

std::vector<double> CausalFit::own_time() const {
  const auto length = [&](const CausalWindow& window) {
    const bool cpu = data_->trials[window.trial].clock == CausalClock::kCpu;
    return static_cast<double>(cpu ? window.cpu_ns + window.world_ns : window.wall_ns);
  };
  // Of what is credited in a window the share that the program did not run for.
  std::map<std::pair<ArmKind, uint32_t>, std::pair<double, double>> lost;  // and what was credited
  for (size_t i = 0; i < windows_.size(); ++i) {
    const CausalWindow& window = data_->windows[windows_[i]];
    const WorkAndTime& baseline = blocks_[block_of_[i]].baseline;
    if (data_->trials[window.trial].clock == CausalClock::kCpu || !(baseline.work > 0)) continue;
    auto& [time, credited] = lost[{window.kind, arm_of(window).line}];
    // By its work; of a block in which the rate changes that may be anything, but it lost no more than was credited.
    const auto most = static_cast<double>(window.credited_ns);
    time += std::clamp(length(window) - work_and_time(window).work * baseline.time / baseline.work, 0.0, most);
    credited += most;
  }
  std::vector<double> out;
  for (const size_t w : windows_) {
    const CausalWindow& window = data_->windows[w];
    // By CPU time nobody pauses for a line, and for null windows all do.
    double share = window.kind == ArmKind::kNull ? 1 : 0;
    if (const auto found = lost.find({window.kind, arm_of(window).line}); found != lost.end() && found->second.second > 0)
      share = std::clamp(found->second.first / found->second.second, 0.0, 1.0);
    constexpr double kLeast = 0.02;  // no window counts as fifty
    const double all = length(window);
    out.push_back(std::max(kLeast * all, all - share * static_cast<double>(window.credited_ns)));
    if (!(out.back() > 0)) out.back() = 1;  // no length: it adds nothing, with any weight
  }
  return out;
}

std::vector<ArmKey> CausalFit::arms() const {
  std::vector<ArmKey> out;
  for (const auto& [key, count] : counts_)
    if (key.kind != ArmKind::kBaseline) out.push_back(key);
  return out;
}

CausalFit::Matched CausalFit::matched(const ArmKey& key, std::span<const double> counts) const {
  Matched all;
  const std::vector<Matched>& sums = sums_.at(key);
  for (size_t c = 0; c < clusters_; ++c) {
    all.arm.add(sums[c].arm, counts[c]);
    all.baseline.add(sums[c].baseline, counts[c]);
  }
  return all;
}

std::optional<double> CausalFit::time_left(const ArmKey& key, std::span<const double> counts) const {
  if (key.kind == ArmKind::kBaseline) return 1;
  const auto [arm, baseline] = matched(key, counts);
  if (!(arm.work > 0) || !(baseline.work > 0) || !(baseline.time > 0)) return std::nullopt;
  return arm.time / arm.work / (baseline.time / baseline.work);
}

std::optional<double> CausalFit::log_effect(const ArmKey& key, std::span<const double> counts) const {
  const auto left = time_left(key, counts);
  if (!left || !(*left > 0)) return std::nullopt;
  return -std::log(*left);
}

Result<ArmEstimate> CausalFit::arm(const ArmKey& key, const ArmKey& reference) const {
  return mean_of(std::span(&key, 1), reference);
}

Result<ArmEstimate> CausalFit::jackknifed(const Statistic& statistic, std::span<const ArmKey> keys,
                                          const ArmKey& reference) const {
  ArmEstimate out;
  std::vector<double> counts(clusters_, 1.0), left_out;
  const auto whole = statistic(counts);
  if (!whole)
    return bad_input("no work was done in its windows, or all of their time is the line's; a smaller speedup may have a number");
  // Those that say something of the arm, and of what it is held against: the fewer of the two say how well the error is known.
  size_t with_arm = 0, with_reference = 0;
  for (size_t c = 0; c < clusters_; ++c) {
    const auto has = [&](const ArmKey& key) { return key.kind == ArmKind::kBaseline || sums_.at(key)[c].arm.windows > 0; };
    with_arm += std::any_of(keys.begin(), keys.end(), has);
    with_reference += has(reference);
    counts[c] = 0;
    const auto without = statistic(counts);
    counts[c] = 1;
    if (!without) return bad_input("only one cluster says something of it");
    left_out.push_back(*without);
  }
  out.log_effect = *whole;
  out.scores = jackknife_scores(left_out);
  out.standard_error = root_of_squares(out.scores);
  const size_t clusters = std::min(with_arm, with_reference);
  if (clusters < 2 || !(out.standard_error > 0)) return bad_input("its windows do not vary, or are of one cluster");
  out.df = static_cast<double>(clusters - 1);
  for (const ArmKey& key : keys) out.windows += counts_.at(key);
  out.baselines = counts_.at(reference);
  return out;
}

Result<ArmEstimate> CausalFit::mean_of(std::span<const ArmKey> keys, const ArmKey& reference) const {
  for (const ArmKey& key : keys)
    if (!sums_.count(key))
      return not_found(counts_.count(key) ? "no baseline window is in its blocks" : "no window of it counts");
  if (!counts_.count(reference) || (reference.kind != ArmKind::kBaseline && !sums_.count(reference)))
    return not_found("no window that it could be compared with counts");
  return jackknifed(
      [&](std::span<const double> counts) -> std::optional<double> {
        const auto against = log_effect(reference, counts);
        if (!against) return std::nullopt;
        double mean = 0;
        for (const ArmKey& key : keys) {
          const auto effect = log_effect(key, counts);
          if (!effect) return std::nullopt;
          mean += *effect / static_cast<double>(keys.size());
        }
        return mean - *against;
      },
      keys, reference);
}

std::optional<double> CausalFit::phase_share(uint32_t line, std::span<const double> counts) const {
  // The time of its windows is what their work takes the baselines.
  double time = 0, samples = 0, all_samples = 0, run = 0;
  for (const auto& [key, sums] : sums_) {
    if (key.kind != ArmKind::kSpeedup || key.line != line) continue;
    const auto [arm, baseline] = matched(key, counts);
    if (!(baseline.work > 0)) return std::nullopt;
    time += arm.work * baseline.time / baseline.work;
    samples += arm.samples;
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
  if (!sums_.count(key) || !counts_.count(reference) || (reference.kind != ArmKind::kBaseline && !sums_.count(reference)))
    return not_found("no window of it counts, or none that it could be compared with");
  const auto part = phase_share(key.line, std::vector<double>(clusters_, 1.0));
  if (!part) return bad_input("its samples in the windows and in the whole run don't say how much of the run it is");
  *share = *part;
  return jackknifed(
      [&](std::span<const double> counts) -> std::optional<double> {
        const auto of_run = phase_share(key.line, counts);
        const auto left = time_left(key, counts), against = time_left(reference, counts);
        if (!of_run || !left || !against || !(*against > 0)) return std::nullopt;
        const double saved = *of_run * (1 - *left / *against);
        if (!(saved < 1)) return std::nullopt;
        return -std::log1p(-saved);
      },
      std::span(&key, 1), reference);
}

Result<statistics::BootstrapInterval> CausalFit::bca(const ArmKey& key, uint64_t resamples, double conf, uint64_t seed) const {
  if (!sums_.count(key)) return not_found("no window of it counts");
  return statistics::bca_clusters(
      clusters_, [&](std::span<const double> counts) { return log_effect(key, counts); }, resamples, conf, seed);
}

std::optional<double> CausalFit::split_baselines(uint64_t seed) const {
  constexpr ArmKey kHalf{ArmKind::kNull, 0, 0};
  Rng rng(seed);
  std::map<uint32_t, std::vector<size_t>> blocks;
  for (size_t i = 0; i < windows_.size(); ++i)
    if (data_->windows[windows_[i]].kind == ArmKind::kBaseline) blocks[block_of_[i]].push_back(i);
  CausalFit halves;
  halves.clusters_ = clusters_;
  halves.counts_ = {{ArmKey{}, 1}, {kHalf, 1}};
  std::vector<Matched>& matched = halves.sums_.try_emplace(kHalf, clusters_).first->second;
  for (auto& [block, members] : blocks) {
    if (members.size() < 2) continue;
    rng.shuffle(members);
    const size_t half = (members.size() + (rng.next() & 1)) / 2;
    Matched sums;
    for (size_t m = 0; m < members.size(); ++m)
      (m < half ? sums.arm : sums.baseline).add(work_and_time(data_->windows[windows_[members[m]]]), 1);
    matched[blocks_[block].cluster].arm.add(sums.arm, 1);
    matched[blocks_[block].cluster].baseline.add(sums.baseline,
                                                 static_cast<double>(half) / static_cast<double>(members.size() - half));
  }
  const auto found = halves.arm(kHalf);
  if (!found) return std::nullopt;
  return statistics::t_two_sided(found->log_effect / found->standard_error, found->df);
}

}  // namespace stab::causal_report
