// Causal profiles: from windows to curves with intervals and verdicts. For each cell, progress point and arm:
//
//                      effective time of the arm's windows / their visits
//   1 - speedup  =  --------------------------------------------------------------------
//                      time of the baseline windows of the same blocks / their visits
//
// where all four are sums over the run, so that each part of it counts by the time that it takes; the error is the jackknife's
// over trials. The speedup is the share of the program's time that it would save. docs/explanation/causal-profiles.md has why,
// and the figures that this rests on; causal_fit.cc computes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causal_report/causal_data.h"
#include "analysis/causal_report/saturation.h"
#include "analysis/report/report_data/report.h"
#include "base/result.h"

namespace stab::text {
class JsonWriter;
}

namespace stab::causal_report {

// What is said of a line. The words are in JSON and on the page: do not rename.
enum class LineVerdict {
  // Each is shown twice, against the baseline windows and against the null windows.
  kWorthIt,   // "worth it": at one declared speedup at least the program is shown to be faster
  kHarmful,   // "harmful": at one at least it is shown to be slower, at none faster
  kNoUse,     // "no use": at every declared speedup the effect is shown to lie inside the margin
  kUnsure,    // "unsure": more windows are needed
  kWithheld,  // "withheld": the controls don't hold, the data aren't complete, or too few trials
};
std::string_view name(LineVerdict verdict);

// One arm against the baseline windows of the same blocks.
struct CausalEffect {
  report::Interval speedup;           // of the program, a share of its time (of its latency, at latency points), at 1 - alpha
  double log_effect = 0;      // -log(1 - speedup), on which intervals and tests are made
  double standard_error = 0;  // of that
  double df = 0;
  double p_value = 1;         // two-sided, against no effect
  double p_equivalence = 1;   // the larger of the two one-sided ones against the margin
  uint64_t windows = 0, baselines = 0;
  std::string refused;        // why there are no numbers
};

// A line at one declared speedup.
struct CausalArm {
  double speedup = 0;  // virtual, of the line
  CausalEffect effect;
  // The same against the null windows (its `baselines` are those): what is there beside what pausing does. Where pausing does
  // nothing both are one; where it does something inside the margin, only this one is free of it.
  CausalEffect beyond_null;
  // Of the larger p of the two, so that what is said holds against both.
  double p_holm = 1, p_equivalence_holm = 1;
  report::Verdict verdict = report::Verdict::kWithheld;
  // Not settled, since its own null windows don't confirm what the baselines alone would show.
  bool by_pausing = false;
  std::optional<uint64_t> settles_windows;  // unsure: windows of this arm in all that would settle it, at this spread
};

// What an arm gains for each unit of the line's own speedup: 1 is a line that is all of the program's time.
struct CausalSlope {
  report::Interval slope;  // at 1 - alpha
  double standard_error = 0, df = 0;
};

// A line at a point in a cell.
struct CausalCurve {
  uint32_t cell = 0, point = 0, line = 0;  // indices into CausalData's
  std::vector<CausalArm> arms;             // ascending by speedup
  // At 0, from the smallest declared speedup; and from the slow-down windows, by what the program really lost.
  std::optional<CausalSlope> slope, slowdown_slope;
  double kink_p = 1;       // of the two being one, after Holm over the curves that have both
  bool kink_or_bias = false;
  std::optional<size_t> best;  // index into arms: the largest estimate
  // How much of the run is like the line's windows: 1 where it was never skipped. Its error is in the arms'.
  double phase_share = 1;
  bool phase_corrected = false;
  uint64_t skipped = 0;    // windows in which the line did not run when it was due
  LineVerdict verdict = LineVerdict::kWithheld;
  bool exploratory = false;  // not a candidate: in a family of its own
};

// Windows in which everybody pauses, so that the true effect is 0.
struct NullControl {
  uint32_t cell = 0, point = 0;
  CausalEffect effect;
  bool holds = false;   // the interval lies inside the margin
  bool biased = false;  // it doesn't, and excludes 0: pausing itself changes the program here
  std::optional<uint64_t> settles_windows;  // neither: null windows that would do
};

// The rate of false alarms on this data: baseline windows, split at random, against each other.
struct CausalAA {
  uint32_t cell = 0, point = 0;
  uint64_t splits = 0, alarms = 0;  // alarms: p < alpha
};

// Whether a line's effect differs between a cell and the first one.
struct CausalInteraction {
  uint32_t cell = 0, point = 0, line = 0;
  double speedup = 0;
  double difference = 0;  // of the program's speedups against the baselines: this cell's minus the first one's
  double low = 0, high = 0;
  double df = 0, p_value = 1;
  // The same of effects against the null windows: pausing may do something in one cell and not in the other. 1 where one of them
  // has no number.
  double p_beyond_null = 1;
  double p_holm = 1;         // of the larger of the two, 1 where they point to opposite sides
  bool exploratory = false;  // not a candidate: in a family of its own
  bool withheld = false;     // in one of the two cells no verdict is given at this point
};

// Whether a line's effect differs between layouts, where these hold windows of the line and baseline windows: F of arm x layout.
struct LayoutInteraction {
  uint32_t cell = 0, point = 0, line = 0;
  double speedup = 0;
  double f = 0, df1 = 0, df2 = 0, p_value = 1, p_holm = 1;
  uint64_t layouts = 0;
  // What layouts are held against: trials that had the same one, or windows, where each layout is of one trial. Then whatever
  // else differs between trials counts as the layout.
  bool against_trials = false;
  bool exploratory = false;
};

// Whether arrivals follow departures, as they do where clients wait for an answer before they ask again: slow-down windows, which
// are real, must not change the rate of arrivals in real time. An open loop's arrivals don't know of them.
struct LoopCheck {
  uint32_t cell = 0, point = 0;  // an arrival point
  CausalEffect effect;           // of all slow-down windows; below 0: fewer arrivals
  bool closed = false;           // shown to be fewer
};

struct CausalCellSummary {
  uint64_t trials = 0;          // analysed
  uint64_t excluded_trials = 0;
  uint64_t windows = 0;         // analysed
  uint64_t foreign = 0;         // excluded: other programs took too much of their CPUs
  uint64_t cut = 0;             // not analysed: the program ended in them
  uint64_t without_time = 0;    // excluded: nothing was sped up, and more was credited than passed
  uint64_t skipped = 0;         // their line didn't run
  std::vector<uint64_t> without_visits;  // by point: not analysed there
  double spread = 0;            // of a baseline window's logarithm within blocks, at the first point; 0: not known
  double lengthened = 0;        // share of the trials' time, mean
  std::string withheld;         // why no verdict is given in this cell; empty: they are
};

// The closed list of warnings of a causal report.
enum class CausalCaveatCode {
  kNullFails, kNullUnsure, kNoNull, kByPausing, kContention, kFewTrials, kIncomplete, kKinkOrBias, kPhaseUnknown, kNoVisits,
  kKernelTime,
  kUnattributed, kUnclassifiedWaits, kCoarseSamples, kLengthened, kExcludedTrials,
  kClosedLoop, kLoopUnknown, kTimeouts, kNothing,
};
std::string_view name(CausalCaveatCode code);  // "null-fails", ...

struct CausalCaveat {
  CausalCaveatCode code = CausalCaveatCode::kNothing;
  std::string message, hint;
};

struct CausalReport {
  CausalData design;  // without windows; trials are there
  std::vector<CausalCellSummary> cells;  // one for each
  std::vector<CausalCurve> curves;       // by point, then cell, then line; lines that had windows
  std::vector<NullControl> nulls;
  std::vector<CausalAA> aa;
  std::vector<CausalInteraction> interactions;
  std::vector<LayoutInteraction> layout_interactions;
  std::vector<LoopCheck> loops;          // of arrival points, where there are slow-down windows
  std::vector<CausalCaveat> caveats;     // the gravest first
  std::vector<Saturation> saturations;   // one for each progress point, where load is a factor
};

// From so many analysed trials in a cell on, verdicts are given: the fewest at which coverage was seen to hold
// (docs/explanation/how-often-wrong.md).
inline constexpr uint64_t kFewestCausalTrials = 3;
// More windows without a visit than this, and a point says nothing.
inline constexpr double kMostWithoutVisits = 0.05;

// Random splits of the baselines that CausalAA takes.
inline constexpr uint64_t kCausalSplits = 200;

// Refuses what fault_of() names. Whatever can't be estimated is refused arm by arm inside the report.
Result<CausalReport> analyse_causal(const CausalData& data, uint64_t splits = kCausalSplits);

// ---- before the data ----------------------------------------------------------------------------------

// Windows that a causal plan makes and what they can show.
struct CausalBudget {
  uint64_t lines = 20, speedups = 2, points = 1, cells = 1, programs = 1;
  uint64_t trials = 10;         // of a cell
  double spread = 0.015;        // of a window's logarithm, within blocks: 0.015 is 1.5 %
  double window_s = 0.25, cooloff_s = 0.005;
  uint64_t block_windows = 100, block_baselines = 35, block_nulls = 5;  // of a block, in which each arm comes once
  double alpha = 0.05, margin = 0.01;
};
struct CausalPlanning {
  uint64_t arm_windows = 0;       // of an arm in a cell
  uint64_t windows = 0;           // in all, baselines and controls included
  double minutes = 0;
  double half_width = 0;          // of the interval of an arm's logarithm
  double detectable = 0;          // program speedup shown with a chance of 80 % after Holm, as a share
};
// For intervals of +- half_width (of the logarithm) at 1 - alpha. pre: spread > 0, half_width > 0
CausalPlanning plan_windows(const CausalBudget& budget, double half_width);
// What so many windows an arm can show. Where trials do differ in what an arm does, they show less. pre: arm_windows > 0
CausalPlanning plan_from_windows(const CausalBudget& budget, uint64_t arm_windows);
// Null windows of a cell that know the control to a part of the margin, as control trials aim at (null_extension.h).
uint64_t null_windows_for(const CausalBudget& budget);

// ---- what is written ----------------------------------------------------------------------------------

std::string render_causal_text(const CausalReport& report, int width, bool colour);
std::string render_causal_markdown(const CausalReport& report);
// "It scales to 1.82 [1.78, 1.85] times the load, 180 a second."
std::string scaling_text(const Saturation& saturation);
// The value of "causal" in a report's JSON (docs/reference/report-json.md); alone an object of its own.
void write_causal(text::JsonWriter& json, const CausalReport& report);
// One cell's windows at all points as text that `coz plot` (plasma-umass/coz) reads.
std::string coz_profile(const CausalData& data, uint32_t cell);

// The words for a cell: "opt=-O3, load=2"; empty where there is one.
std::string cell_name(const CausalData& design, uint32_t cell);

}  // namespace stab::causal_report
