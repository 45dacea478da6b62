// Report: what an experiment says, as plain data, and its renderings. One structure feeds the terminal, JSON,
// Markdown, CSV and R, so they can't disagree.
//
// Nothing in a report is NaN or infinite. A number that can't be had is absent, and the item's `refused` says
// why in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/level_summaries.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/environment_changes.h"
#include "analysis/report/report_data/replayed_trial.h"
#include "analysis/statistics/models/anova.h"
#include "base/result.h"

namespace stab::report {

enum class Verdict {
  kChanged,     // the (1 - alpha) interval excludes no difference and isn't inside the margin
  kEquivalent,  // both one-sided tests against the margin pass, after Holm over the family
  kUnsure,      // neither: more trials are needed
  kWithheld,    // the declared look has not come, or no interval could be computed
};
std::string_view name(Verdict verdict);

// An estimate with its confidence interval. On a log scale these are ratios of geometric means (1.02 = 2 %
// slower), on a linear one differences.
struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;
};

// Whom a statement is about. The words are in JSON and on the page: do not rename.
enum class Population {
  kOneWorkload,  // "": Contrast::workload names it
  kThese,        // "these programs": all of them, as given
  kLikeThese,    // "programs like these": they are a sample
};
std::string_view name(Population population);
std::optional<Population> population(std::string_view name);

// One level of one factor against the factor's baseline, for one workload (or for all), in one response.
struct Contrast {
  std::string response;
  std::string workload;     // empty: over all workloads
  Population population = Population::kOneWorkload;
  std::string factor;
  std::string level;
  std::string baseline;
  Scale scale = Scale::kLog;
  Interval interval;             // at 1 - alpha
  Interval equivalence;          // at 1 - 2 alpha
  double standard_error = 0;     // on the response's scale: of the log ratio, or of the difference
  double df = 0;                 // blocks - 1, or Satterthwaite's
  uint64_t n = 0;                // units in the smallest cell; for programs like these the number of programs
  double p_value = 1;
  double baseline_mean = 0;      // of the baseline's cells, on the response's scale: what a margin or width is a share of
  double margin = 0;             // the smallest difference that matters here, on the response's scale
  double p_holm = 1;             // within the declared family: contrasts x workloads x declared responses
  // One-sided p of "at least the margin above" and "at least the margin below" the baseline; where the margin is a share of
  // the baseline's mean that mean's error is in them. The larger one is equivalence's p (TOST), and Holm's within the family.
  double p_not_above = 1;
  double p_not_below = 1;
  double p_equivalence = 1;
  double p_equivalence_holm = 1;
  // One workload: by ranks. Wilcoxon's signed ranks of the blocks' contrasts, else van Elteren's test over the other
  // factors' cells.
  std::optional<double> p_rank;
  double least_p_rank = 0;       // what p_rank could have come to with so many values, all of them in one direction
  bool by_link = false;          // its draws are links: n and settles_n count them, and replicates of the same don't help
  bool blocked = false;          // taken within blocks; else Welch's. Only for one workload
  uint64_t blocks_left_out = 0;  // of one workload's: they lack a cell that is compared, and others hold all
  Verdict verdict = Verdict::kWithheld;
  // Unsure: replicates for each cell that would settle it (settling.h), the machine's time for those that are still to come, in
  // seconds, and the blocks that an extension would add: absent where none can be, or more than is worth it. And replicates that
  // would tell whether it is worse, which is all that a gate asks.
  std::optional<uint64_t> settles_n;
  std::optional<double> settles_seconds;
  std::optional<uint64_t> settles_blocks;
  std::optional<uint64_t> settles_worse_n;
  bool layout = false;           // the factor randomizes layout: this is what the randomization costs
  // A fraction: what the difference stands for besides the factor's own effect, such as "stack:heap" (code = stack:heap).
  std::vector<std::string> aliases;
  bool one_layout_a_side = false;  // neither side varies layout: the contrast compares two layouts
  bool by_alone = false;           // of a sliced experiment: the answer of its blocks alone, as slicing moves this difference
  std::string refused;
};

// What slicing does to one question (control_blocks.h): the answer of the sliced blocks less that of the blocks alone.
struct SlicingBias {
  std::string response;
  std::string workload;  // empty: over all workloads
  Population population = Population::kOneWorkload;
  std::string factor, level, baseline;
  Scale scale = Scale::kLog;
  Interval sliced, alone;  // each kind's own answer, at 1 - alpha
  uint64_t sliced_n = 0, alone_n = 0;
  Interval bias;           // a ratio on the log scale, as a contrast
  double standard_error = 0, df = 0;  // on the response's scale
  double p_value = 1, p_holm = 1;
  double margin = 0;       // of the contrast, on the response's scale
  bool moves = false;      // by more than chance and more than the margin: the answer is that of the blocks alone
  std::string refused;
};

// How far the trials of one cell ran beside those of their blocks.
struct CellOverlap {
  std::string workload;
  std::vector<std::string> levels;  // one for each factor
  double overlap = 1;               // 0 to 1, the mean
  uint64_t trials = 0;
};

struct Slicing {
  uint64_t sliced_blocks = 0, alone_blocks = 0;
  std::vector<SlicingBias> biases;
  std::vector<CellOverlap> overlaps;  // empty: not recorded
  std::string refused;                // why there are no biases
};

// A group that a cell's values fall into. On people's scale.
struct Mode {
  double median = 0, low = 0, high = 0;
  uint64_t n = 0;  // independent values in it
};

// Descriptive statistics of one cell of one workload, excluded trials left out.
struct Cell {
  std::string response;
  std::string workload;
  std::vector<std::string> levels;  // one for each factor
  uint64_t n = 0;
  double mean = 0;
  double median = 0;
  std::optional<double> sd;               // n >= 2
  std::optional<double> geometric_mean;   // all values > 0
  std::optional<Interval> mean_interval;  // t interval of the mean; on the log scale of the geometric mean
  std::optional<double> shapiro_w;        // of the analysed values; absent where n < 3 or they are constant
  std::optional<double> shapiro_p;
  bool one_layout = false;                // all its trials ran in one layout: n repeats, not n replicates
  // Has it one hump? Hartigan's dip of its independent values (modes.h), Holm's p over the response's cells, and, where one mode
  // is refuted, the groups, two or more. Absent where they are too few, constant, or of a benchmark.
  std::optional<double> dip, dip_p, dip_p_holm;
  std::vector<Mode> modes;
};

// The error a term is tested against in a within-subjects table, with the sphericity correction.
struct TermError {
  double df = 0;
  double sum_squares = 0;
  double greenhouse_geisser = 1;
  double p_greenhouse_geisser = 1;
};

struct AnovaTable {
  std::string response;
  std::string workload;             // empty: over all workloads
  std::string title;                // what question it answers
  bool within_subjects = false;     // the error is each term x workload: one table of several strata
  int type = 2;
  Scale scale = Scale::kLog;
  std::vector<statistics::AnovaRow> rows;  // within_subjects: no residuals row, see errors
  // Beside each row: p of a test that doesn't assume equal spread, absent for block and residuals. Complete blocks:
  // each term against its own variation between blocks, or links where code is as linked (Greenhouse-Geisser); else
  // the HC3 Wald test.
  std::vector<std::optional<double>> p_robust;
  std::string robust_method;        // "blocks", "links", "HC3", or empty
  std::vector<TermError> errors;    // within_subjects: one for each row
  // Not all combinations of levels ran: other names of each row's effect (in a fraction), and the terms of up to three
  // factors that can't be told from those above.
  std::vector<std::vector<std::string>> aliases;  // one for each row, or empty
  std::vector<std::string> left_out;
  std::string refused;
};

// Where the spread within cells comes from, pooled over the cells of a workload in which layouts vary. Variances on
// the response's scale.
struct SpreadComponents {
  std::string response;
  std::string workload;
  uint64_t layouts = 0;
  double runs_per_layout = 1;
  // With one run a layout the two can't be told apart: `run` is absent and `layout` is the variance of both.
  double layout = 0;                // may be negative where runs explain all of it: estimated as a difference
  std::optional<double> run;
  // Of sliced blocks: what all trials of a block have in common, which is in no difference; the two above are without it.
  std::optional<double> block;
};

// A contrast of one workload, or of these programs, over the machines that ran its blocks (machines.h). Differences between
// machines are taken out of it, as those between blocks are; what is left is how much the contrast itself differs.
struct MachineContrast {
  std::string response, workload;  // workload empty: over all of them
  std::string factor, level, baseline;
  Scale scale = Scale::kLog;
  struct One {
    std::string machine;
    Interval interval;  // at 1 - alpha, from its blocks alone
    uint64_t n = 0;
  };
  std::vector<One> machines;
  // "These machines": they are all that is asked about, and the error is that within them.
  Interval these;
  double these_standard_error = 0, these_df = 0, these_p = 1;
  // "Machines like these": they are a sample, and there is one number of each.
  Interval like_these;
  double like_standard_error = 0, like_df = 0, like_p = 1;
  // Whether the machines differ in the contrast: Welch's F over machines, which assumes no equal spread.
  double f = 0, f_df1 = 0, f_df2 = 0, f_p = 1;
  // Variance of the contrast between machines, on the response's scale; below 0 where the blocks explain all of it.
  double between = 0;
  std::string refused;
};

// Of a mixed model: how much one of its random terms, or the residual, adds to a value's variance.
struct MixedComponent {
  std::string term;      // "program", "program:opt", "residual"
  uint64_t levels = 0;   // of the residual: rows
  double variance = 0;   // on the response's scale; 0: the fit is singular
};

// A contrast by a declared estimator other than the mean (estimators.h). On a log scale ratios, as in Contrast.
struct EstimatorContrast {
  std::string estimator;  // "hodges-lehmann", "median", "quantile 0.9", "mixed"
  std::string response;
  std::string workload;   // empty: over all of them
  Population population = Population::kOneWorkload;
  std::string factor, level, baseline;
  Scale scale = Scale::kLog;
  Interval interval;      // at the report's interval_level
  Interval equivalence;
  bool distribution_free = false;  // exact from ranks; else by an estimated error
  uint64_t n = 0;         // draws of the smaller side; for programs like these the number of programs
  // Of a mixed model alone: on the response's scale, Kenward and Roger's; and its variances.
  double standard_error = 0, df = 0;
  std::vector<MixedComponent> components;
  double margin = 0;      // on the response's scale
  double p_value = 1, p_holm = 1;  // within the family of all declared estimators of one population
  double p_equivalence = 1, p_equivalence_holm = 1;
  Verdict verdict = Verdict::kWithheld;
  std::string refused;
};

// The differences at several quantiles, with a band that holds for all of them at once.
struct ShiftFunction {
  std::string response, workload, factor, level, baseline;
  Scale scale = Scale::kLog;
  struct Point {
    double probability = 0;
    Interval interval;  // for this quantile alone
    Interval band;      // for all of them together
  };
  std::vector<Point> points;
  uint64_t n = 0;
  std::string refused;
};

// A diagnostic on residuals or on the run order. Shows, never decides the method.
struct Diagnostic {
  std::string response;
  std::string workload;             // empty: all
  std::string name;                 // "shapiro-wilk", "brown-forsythe", "lag-1 autocorrelation", "drift"
  std::string statistic_name;       // "W", "F", "r", "rho"
  double statistic = 0;
  std::optional<double> p_value;
  uint64_t n = 0;
  std::string refused;
};

// What the run was like, all workloads together: where trials begin to lie otherwise than before (run_changes.h).
// invariant: segments.size() == changes.size() + 1
struct RunChanges {
  struct Segment {
    uint32_t first = 0, last = 0;  // positions in the run (Trial::order)
    uint32_t first_block = 0;
    uint64_t trials = 0;           // those of one layout in a block count once, here and below
    double level_sds = 0;          // mean difference from the trials' cells, in sds of these
    double spread_sds = 0;         // sd of the same
    std::optional<double> level;   // the same as a ratio; absent on a linear scale, where cells have no common unit
  };
  struct Change {
    uint32_t position = 0, block = 0;  // of the first trial after it
    double statistic = 0, p_value = 1;
  };
  std::string response, machine;  // machine empty: there was one
  bool has_blocks = true;         // false: the trials ran in one random order
  uint64_t trials = 0, chunk = 1; // looked at in chunks of so many trials
  double level = 0.05;            // of each test; all series of a report share alpha
  uint64_t permutations = 0;
  std::vector<Segment> segments;
  std::vector<Change> changes;    // in the order of the run
  std::optional<double> p_of_next;  // of the strongest split that is no change; absent where none could be asked about
};

// Layouts that trials of one level of a layout factor really saw.
struct DoseSummary {
  std::string workload;
  std::string factor;
  std::string level;
  uint64_t trials = 0;
  std::optional<double> minimum, median, maximum;  // layouts in a trial; absent where the runtime doesn't count them
  double share = 0;                 // functions moved, functions padded or requests served, 0 to 1
  std::optional<double> epochs;     // that ended in a trial, median; absent where the runtime doesn't count them
  double unentered = 0;             // of code and stack: the share of them in which the program entered no function anew, median
  bool one_draw = false;            // the plan asks for one layout a process: "once", "direct", or a simulator without epochs
};

struct ValidityCount {
  std::string what;
  uint64_t trials = 0;
};

// level against baseline of one treatment, in two cells that differ in nothing else (halves.h).
struct HalfContrast {
  std::string workload;
  std::string within;  // the other factors' levels: "code=off, stack=off"
  bool randomized = false;
  std::string factor, level, baseline;
  Interval interval;   // at the report's level, for this row alone
  uint64_t n = 0;
  std::string refused;  // then the interval is not set
};

// The closed list of warnings. Words and hints are in caveats.cc.
enum class CaveatCode {
  kLowDose, kFewWorkloads, kOneLayout, kDrift, kAutocorrelation, kSteal, kDisturbed, kExcluded, kFailedTrials,
  kNotNormal, kUnequalVariance, kSmallSample, kUnavailableCounter, kIncomplete, kDegraded, kLargeArrays,
  kUnbalanced, kTiny, kRanksDisagree, kExtended, kAliased, kLayoutOutput,
  kUnmasked,
  kDifferentMachines, kLostMachines, kFewMachines,
  kSimulated,
  kSeveralModes, kRunChanged,
  kEnvironmentSplit, kEnvironmentChanged,
  kSlicingMoves, kSlicingUnchecked, kLowOverlap,
  kSameBuild,
};
std::string_view name(CaveatCode code);

struct Caveat {
  CaveatCode code = CaveatCode::kIncomplete;
  std::string message;
  std::string hint;
};

struct Report {
  std::string experiment;
  double alpha = 0.05;
  std::vector<std::string> workloads;
  std::string workload_word;
  std::vector<std::string> programs;  // as in Samples
  std::string program_word;
  std::string trial_word = "trial";  // "row" for plain data
  std::vector<Factor> factors;
  std::vector<Response> responses;
  double interval_level = 0.05;  // two-sided, of the contrasts' intervals: alpha, or what a look makes of it; bets may widen them
  // Of a confidence sequence (confidence_sequence.h): replicates so far and the mixture's variance; g 0: none.
  uint32_t sequence_replicates = 0;
  double sequence_mixture = 0;
  std::string stopping;  // how the plan ends and where this is; empty: after fixed replicates
  uint64_t planned = 0;
  uint64_t analysed = 0;
  uint64_t excluded = 0;
  uint64_t failed = 0;
  uint64_t cell_count = 0;  // combinations of levels that have values
  std::vector<Contrast> contrasts;
  std::optional<Slicing> slicing;                  // of a sliced experiment
  std::vector<EstimatorContrast> estimators;       // empty: none was declared
  std::optional<ReplayAnswer> replay;              // of an experiment that replays a trial
  std::vector<ShiftFunction> shift_functions;      // of declared responses; the same
  std::vector<MachineContrast> machine_contrasts;  // empty: one machine
  std::vector<HalfContrast> halves;                // empty: no plain cells beside randomized ones
  std::vector<Cell> cells;
  std::vector<SpreadComponents> components;
  std::vector<AnovaTable> anovas;
  std::vector<Diagnostic> diagnostics;
  std::vector<RunChanges> run_changes;  // of declared responses
  uint64_t runs_not_searched = 0;       // for changes: there were too many of them
  EnvironmentTable environment;
  EnvironmentChanges environment_changes;
  LevelSummaries level_summaries;
  std::vector<DoseSummary> doses;
  std::vector<ValidityCount> validity;
  std::vector<Caveat> caveats;  // the gravest first
};

// Refuses, with the row and the cure: NaN or infinite values, values <= 0 on a log scale, a broken invariant,
// no analysable trial. Cells that are too small or constant are refused one by one inside the report.
enum class Depth {
  kWhole,
  // Without modes, changes of the run and what differed in the machine, for who asks at each look and reads verdicts alone.
  kVerdicts,
};
Result<Report> analyse(const Samples& samples, Depth depth = Depth::kWhole);
// Whether analyse() takes them, and why not.
Status check_samples(const Samples& samples);

// analyse() for rows that never were trials (a large CSV file): `design` has no trials, units[r][w] the values.
struct WorkloadUnits;
Result<Report> analyse_units(const Samples& design, const std::vector<std::vector<WorkloadUnits>>& units,
                             Depth depth = Depth::kWhole);

// One screen of verdicts first, then tables. Escape sequences only with `colour`.
std::string render_terminal(const Report& report, int width = 100, bool colour = false);

// For a pull request or a page: the terminal's tables as Markdown.
std::string render_markdown(const Report& report);

// The main tables for a paper, by booktabs: to be included.
std::string render_latex(const Report& report);

// The same, machine-readable: version 1 of docs/reference/report-json.md. Doubles with 17 significant digits.
std::string to_json(const Report& report);

}  // namespace stab::report
