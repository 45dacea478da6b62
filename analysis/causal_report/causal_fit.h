// CausalFit: the effects of all arms of one cell at one point, and what they are computed from.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/causal_report/causal.h"
#include "analysis/statistics/two_samples/resampling.h"

namespace stab::causal_report {

// What windows of one arm share. Null windows are one arm, whatever line they are judged by.
struct ArmKey {
  ArmKind kind = ArmKind::kBaseline;
  uint32_t line = 0;   // 0 for kBaseline and kNull
  double speedup = 0;  // 0 for kBaseline and kNull
  auto operator<=>(const ArmKey&) const = default;
};
ArmKey arm_of(const CausalWindow& window);

// Windows of a cell that count, as indices into CausalData::windows, by the rules that causal.h names; what doesn't is counted.
std::vector<size_t> windows_that_count(const CausalData& data, uint32_t cell, CausalCellSummary& summary);

// An effect as -log(1 - speedup), with what each cluster contributes to its error.
struct ArmEstimate {
  double log_effect = 0;
  double standard_error = 0;
  double df = 0;
  std::vector<double> scores;  // their squares add up to standard_error^2
  uint64_t windows = 0, baselines = 0;  // baselines: windows of what it was held against
};

class CausalFit {
 public:
  // pre: windows are of one cell and count. kBadInput: nothing to compare, or too few clusters.
  static Result<CausalFit> of(const CausalData& data, uint32_t point, std::span<const size_t> windows);

  // Against the windows of `reference`, the baselines or the null windows. Absent from the data: kNotFound.
  Result<ArmEstimate> arm(const ArmKey& key, const ArmKey& reference = {}) const;
  // The mean of several arms, each with the same weight.
  Result<ArmEstimate> mean_of(std::span<const ArmKey> keys, const ArmKey& reference = {}) const;
  // For the share of the run that is like the line's windows (causal.h), which goes with the effect as clusters are left out.
  // pre: key.kind is kSpeedup or kSlowdown
  Result<ArmEstimate> arm_of_phase(const ArmKey& key, double* share, const ArmKey& reference = {}) const;
  // The interval of arm()'s effect by drawing clusters, which asks nothing of how they vary.
  Result<statistics::BootstrapInterval> bca(const ArmKey& key, uint64_t resamples, double conf, uint64_t seed) const;
  std::vector<ArmKey> arms() const;

  size_t clusters() const { return clusters_; }
  // Clusters are blocks of time of fewer trials than verdicts need: what is said is said of these runs alone.
  bool of_these_runs() const { return of_these_runs_; }
  // Relative standard deviation of a baseline window's rate within blocks; 0: not known.
  double spread() const { return spread_; }

  // Baseline windows at random in two halves within blocks: the p of one against the other. Absent: too few.
  std::optional<double> split_baselines(uint64_t seed) const;

 private:
  // What windows did and in which time: visits and effective time, or departures and the integral of those inside. Of one window
  // more time may have been credited than passed; of many, time is left.
  struct WorkAndTime {
    double work = 0, time = 0, samples = 0;  // samples: of its line
    uint64_t windows = 0;
    void add(const WorkAndTime& other, double weight) {
      work += weight * other.work, time += weight * other.time, samples += weight * other.samples;
      if (weight > 0) windows += other.windows;
    }
  };
  struct Block {
    uint32_t trial = 0, cluster = 0;
    std::map<ArmKey, uint64_t> windows;
    WorkAndTime baseline;
  };
  // An arm in a cluster, beside the baseline windows of the same blocks with as much weight.
  struct Matched {
    WorkAndTime arm, baseline;
  };
  using Statistic = std::function<std::optional<double>(std::span<const double> counts)>;

  void add_up(bool one_each);
  WorkAndTime work_and_time(const CausalWindow& window) const;
  // The program's own time that each window holds: its length, without what it paused.
  std::vector<double> own_time() const;
  // An arm's windows and their baselines, each cluster counted so often.
  Matched matched(const ArmKey& key, std::span<const double> counts) const;
  // Time for the same work, of the baselines' 1. Not above 0 where all of it was credited. Absent: no work was done.
  std::optional<double> time_left(const ArmKey& key, std::span<const double> counts) const;
  std::optional<double> log_effect(const ArmKey& key, std::span<const double> counts) const;
  Result<ArmEstimate> jackknifed(const Statistic& statistic, std::span<const ArmKey> keys, const ArmKey& reference) const;
  std::optional<double> phase_share(uint32_t line, std::span<const double> counts) const;

  const CausalData* data_ = nullptr;
  uint32_t point_ = 0;
  bool latency_ = false;
  std::vector<size_t> windows_;
  std::vector<uint32_t> cluster_of_, block_of_;  // of each of windows_
  std::vector<std::vector<size_t>> trials_of_;   // trials of each cluster, where clusters are trials
  size_t clusters_ = 0;
  bool of_these_runs_ = false;
  double spread_ = 0;
  std::map<ArmKey, uint64_t> counts_;            // windows
  std::vector<Block> blocks_;                    // of one trial next to each other, in their order
  std::map<ArmKey, std::vector<Matched>> sums_;  // by cluster; not the baseline's
};

// Adds what is to be warned of. pre: everything else is there
void add_caveats(CausalReport& report);

// log(visits / effective time) is taken of visits in ns.
double log_throughput(const CausalData& data, const CausalWindow& window, uint32_t point);

}  // namespace stab::causal_report
