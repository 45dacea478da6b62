// Saturation: how throughput and latency go with load, and up to which load the program keeps up. Loads are multiples of the
// arrival rate; each trial has one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/causal_report/causal_data.h"
#include "analysis/report/report_data/report.h"

namespace stab::causal_report {

// One trial at one load.
struct LoadedTrial {
  double load = 1;
  double throughput = 0;                // visits a second of effective time
  std::optional<double> latency_s;      // mean time inside
  std::optional<double> busy;           // 0 to 1
  uint64_t arrivals = 0;                // 0: no arrival point
  double wall_s = 0;                    // of real time
  double offered = 0;                   // arrivals a second of effective time
};

struct LoadPoint {
  double load = 1;
  uint64_t trials = 0;
  std::optional<report::Interval> throughput;  // geometric mean with a t interval; absent: fewer than 2 trials
  double throughput_mean = 0;
  std::optional<report::Interval> latency_s;   // the same
  std::optional<double> latency_mean_s, busy;
  uint64_t arrivals = 0;               // in all; 0: no arrival point
  std::optional<double> offered;       // arrivals a second of effective time, geometric mean
  // Tasks come faster than they are served: the queue grows for as long as they do, and so does any latency that is measured.
  bool grows = false;
};

// Two lines that meet: log throughput rises with slope 1 in log load up to the knee, and with `after` beyond it.
struct Knee {
  double load = 0;
  double low = 0, high = 0;     // by the profile likelihood, from the spread of trials within loads
  double slope_after = 0;       // 0: flat; below 0: it gets slower under overload
  double throughput = 0;        // at the knee
};

// The words are in JSON and on the page: do not rename.
enum class ScalingVerdict {
  kScalesTo,     // "scales to": a knee with an interval inside the loads that were tried
  kBeyond,       // "beyond": throughput follows load at the largest one that was tried
  kSaturated,    // "saturated": it doesn't follow even from the smallest load on
  kUnsure,       // "unsure": the knee's interval reaches out of the loads that were tried
  kRefused,      // "refused": see the reason
};
// Served less than this share of what came: the queue grows.
inline constexpr double kServedShare = 0.97;
std::string_view name(ScalingVerdict verdict);

struct Saturation {
  std::string cell;                  // levels of the other factors, "opt=-O3"; empty: there are none
  std::string point;                 // the progress point whose throughput it is
  std::string latency_point;         // empty: none
  std::vector<LoadPoint> loads;      // ascending
  std::optional<Knee> knee;
  ScalingVerdict verdict = ScalingVerdict::kRefused;
  std::string refused;
  // By the arrivals of the point (load_arrivals.h): its word, and the share of arrivals where it is smallest.
  std::string arrivals;
  std::optional<report::Interval> arrivals_share;
  double arrivals_load = 1;
};

// The knee is the least-squares fit over all places of it between the loads.
// Refused: fewer than 3 loads, fewer than 3 trials at one, a throughput that isn't above 0.
Saturation saturation_of(std::span<const LoadedTrial> trials, double alpha);

// Trials of these cells at one progress point, from their baseline windows.
std::vector<LoadedTrial> loaded_trials(const CausalData& data, std::span<const uint32_t> cells, uint32_t point,
                                       std::optional<uint32_t> latency_point);

// Of each progress and latency point and each combination of the other factors' levels. Empty: all loads are 1.
std::vector<Saturation> saturations_of(const CausalData& data);

}  // namespace stab::causal_report
