// The closed list of caveats. Each check is one function that appends at most one caveat, with the numbers that
// made it speak and what to do about it. None of them changes a verdict.
#include "analysis/report/caveats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <set>
#include <string>

#include "analysis/statistics/descriptive.h"
#include "analysis/statistics/multiplicity.h"
#include "analysis/report/stopping_decision.h"
#include "analysis/report/modes.h"
#include "analysis/report/replication_units.h"
#include "analysis/report/report_pen.h"
#include "analysis/report/run_changes.h"

namespace stab::report {
namespace {

using Caveats = std::vector<Caveat>;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string percent(double share) { return number(100 * share) + " %"; }

std::string count(uint64_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

// Total time is a sum over layouts; from about 30 on, sums are close to normal and one lucky layout in it
// hardly counts.
constexpr double kEnoughLayouts = 30;

// A function's code changes when it is entered, not while it runs. Where most epochs end before any function was entered
// anew, the program sits in a loop, or sleeps, and neither shorter epochs nor a longer run gives it more layouts. Of two or
// three epochs those before the program got going may be most.
bool stays_in_a_loop(const DoseSummary& dose) {
  constexpr double kMost = 0.5, kTelling = 4;
  return dose.epochs && *dose.epochs >= kTelling && dose.unentered > kMost;
}

// Of the doses that are low for the same reason, the lowest, and how many more there are.
void low_dose(const Report& report, bool in_a_loop, Caveats& out) {
  const DoseSummary* worst = nullptr;
  uint64_t low = 0;
  for (const DoseSummary& dose : report.doses) {
    if (dose.factor == "heap" || dose.one_draw || !dose.median || *dose.median >= kEnoughLayouts) continue;
    if (stays_in_a_loop(dose) != in_a_loop) continue;
    ++low;
    if (!worst || *dose.median < *worst->median) worst = &dose;
  }
  if (!worst) return;
  const std::string saw = "trials of " + worst->workload + " with " + worst->factor + "=" + worst->level + " saw only " +
                          number(*worst->median) + (*worst->median == 1 ? " layout" : " layouts") + " (median)";
  const std::string more = low > 1 ? "; " + std::to_string(low - 1) + " more below " + number(kEnoughLayouts) + " likewise" : "";
  if (in_a_loop) {
    out.push_back(
        {CaveatCode::kLowDose,
         saw + " in " + number(*worst->epochs) + " epochs: in " + percent(worst->unentered) +
             " of them no function was entered, so the program stays in a loop, sleeps or waits for a CPU" + more,
         "a shorter epoch does not help; write long_loops = true under [layout], which moves such loops to new layouts if it "
         "can; or call the loop's work as a function (noinline) in each round; or call the function that contains the loop "
         "several times, with stab_new_layout() before each call; or accept one layout a process as one draw, and run more "
         "replicates"});
    return;
  }
  out.push_back({CaveatCode::kLowDose,
                 saw + (worst->epochs ? ": " + number(*worst->epochs) + " epochs ended in a run" : "") + more,
                 "shorten the epoch or lengthen the run; each trial remains a valid draw, but spread and shape come "
                 "from few layouts"});
}

void few_workloads(const Samples& samples, const Report& report, Caveats& out) {
  if (samples.unit == Unit::kRow && report.workloads.size() == 1) return;  // plain data: nobody asked about others
  constexpr size_t kEnough = 6;
  const size_t n = program_count(samples);
  if (n >= kEnough || n == 0) return;
  out.push_back({CaveatCode::kFewWorkloads,
                 n == 1 ? "one " + report.program_word + ": the answer does not cover others"
                        : count(n, report.program_word) + ": too few to say much about others like them",
                 "add " + report.program_word + "s; replicates don't help here"});
}

void one_layout(const Report& report, Caveats& out) {
  uint64_t cells = 0;
  for (const Cell& cell : report.cells) cells += cell.one_layout && cell.response == report.responses[0].name;
  if (cells == 0) return;
  out.push_back({CaveatCode::kOneLayout,
                 count(cells, "cell") + " ran in one code layout each: their values are repeats of one layout, and "
                                        "differences from them hold for this link only",
                 "vary the link in cells where code is off: link = { seeds = 10 }"});
}

// Main effects of a fraction that go under the name of a two-factor interaction, too: with resolution III.
void aliased(const Report& report, Caveats& out) {
  std::set<std::string> named;
  std::string list;
  for (const Contrast& contrast : report.contrasts) {
    if (contrast.response != report.responses[0].name || named.contains(contrast.factor)) continue;
    for (const std::string& alias : contrast.aliases) {
      if (std::count(alias.begin(), alias.end(), ':') != 1) continue;
      if (named.insert(contrast.factor).second) list += (list.empty() ? "" : ", ") + contrast.factor;
      list += " = " + alias;
    }
  }
  if (list.empty()) return;
  out.push_back({CaveatCode::kAliased, "some effects cannot be separated from interactions of two factors: " + list,
                 "read each as its factor's effect only if the interaction is small; running the missing cells separates them"});
}

// What one question is asked by: usually one test.
using Tests = std::initializer_list<std::string_view>;

// Smallest p after Holm among the primary response's diagnostics by these tests.
const Diagnostic* worst_of(const Report& report, Tests tests) {
  std::vector<const Diagnostic*> members;
  std::vector<double> p_values;
  for (const Diagnostic& diagnostic : report.diagnostics) {
    const bool asked = std::find(tests.begin(), tests.end(), diagnostic.name) != tests.end();
    if (!asked || diagnostic.response != report.responses[0].name || !diagnostic.p_value) continue;
    members.push_back(&diagnostic);
    p_values.push_back(*diagnostic.p_value);
  }
  const std::vector<double> adjusted = statistics::holm(p_values);
  const Diagnostic* worst = nullptr;
  double smallest = report.alpha;
  for (size_t i = 0; i < members.size(); ++i) {
    if (adjusted[i] >= smallest) continue;
    smallest = adjusted[i];
    worst = members[i];
  }
  return worst;
}

void from_diagnostic(const Report& report, Tests tests, CaveatCode code, std::string_view message, std::string_view hint,
                     Caveats& out) {
  const Diagnostic* worst = worst_of(report, tests);
  if (!worst) return;
  out.push_back({code,
                 (worst->workload.empty() ? "" : worst->workload + ": ") + std::string(message) + " (" +
                     worst->statistic_name + " = " + number(worst->statistic) + ", p = " + number(*worst->p_value) +
                     ")",
                 std::string(hint)});
}

// Where the order within blocks was drawn, what lasts from trial to trial falls on all cells alike: intervals hold
// (docs/explanation/how-often-wrong.md, "How often are we wrong"). Plain rows have no such order, and trials of a sliced block
// have none either.
void autocorrelation(const Samples& samples, const Report& report, Caveats& out) {
  const Diagnostic* worst = worst_of(report, {"lag-1 autocorrelation"});
  if (!worst) return;
  if (samples.is_sliced) {
    const double widens = std::sqrt(std::max(0.0, (1 + worst->statistic) / (1 - std::min(worst->statistic, 0.99))));
    from_diagnostic(report, {worst->name}, CaveatCode::kAutocorrelation,
                    worst->statistic > 0 ? "a sliced block's differences resemble those of the block before"
                                         : "a sliced block's differences are opposite to those of the block before",
                    worst->statistic > 0 ? "trials at the same time have no random order to correct that: intervals should be " +
                                               number(widens) + " times as wide; find what lasts from block to block"
                                         : "intervals are wider than they need be; find what alternates from block to block",
                    out);
    return;
  }
  const bool alike = worst->statistic > 0, drawn = samples.unit == Unit::kLayout;
  from_diagnostic(
      report, {worst->name}, CaveatCode::kAutocorrelation,
      alike ? "a trial resembles the one before it" : "a trial tends to be opposite to the one before it",
      drawn   ? "intervals hold, because the order within blocks is random; find what lasts from trial to trial"
      : alike ? "if rows are in order of time, intervals are too narrow; randomize the order, and compare within blocks"
              : "if rows are in order of time, intervals are too wide or two kinds of rows alternate; look at the sequence",
      out);
}

// "-0.1 % [-1.2, +0.9] %"
std::string bias_text(const Report& report, const SlicingBias& bias) {
  const Response& response = response_of(report, bias.response);
  return difference_text(response, bias.bias.estimate) + " " + interval_text(response, bias.bias);
}

// Those that the blocks alone answer, the one first that is moved most beyond its margin.
void slicing_moves(const Report& report, Caveats& out) {
  const auto by_margins = [](const SlicingBias& bias) {
    const double size = std::fabs(bias.scale == Scale::kLog ? std::log(bias.bias.estimate) : bias.bias.estimate);
    return bias.margin > 0 ? size / bias.margin : size;
  };
  const SlicingBias* worst = nullptr;
  uint64_t moved = 0;
  for (const SlicingBias& bias : report.slicing->biases) {
    if (!bias.moves) continue;
    ++moved;
    if (!worst || by_margins(bias) > by_margins(*worst)) worst = &bias;
  }
  if (!worst) return;
  const std::string where = worst->workload.empty() ? std::string(name(worst->population)) : worst->workload;
  out.push_back(
      {CaveatCode::kSlicingMoves,
       "slicing changes " + worst->response + " of " + where + ", " + worst->factor + " " + worst->level + " / " +
           worst->baseline + ", by " + bias_text(report, *worst) +
           ", more than the margin and more than chance (p = " + number(worst->p_holm) + "), so the answer is that of the " +
           count(worst->alone_n, "block") + " alone" + (moved > 1 ? "; " + count(moved - 1, "more question") + " likewise" : ""),
       "programs that run at the same time share caches; longer slices disturb them less, and alone = \"50%\" or ordinary "
       "blocks give a sharper answer. Tables below the answers are of the sliced blocks"});
}

void slicing_unchecked(const Report& report, Caveats& out) {
  if (report.slicing->refused.empty()) return;
  out.push_back({CaveatCode::kSlicingUnchecked, report.slicing->refused,
                 "alone = \"10%\" in [experiment], with 20 replicates or more, measures it"});
}

// A trial that runs on when the others have ended has its noise to itself, and the cache.
void low_overlap(const Report& report, Caveats& out) {
  constexpr double kLow = 0.75;
  const CellOverlap* worst = nullptr;
  uint64_t low = 0;
  for (const CellOverlap& cell : report.slicing->overlaps) {
    if (cell.overlap >= kLow) continue;
    ++low;
    if (!worst || cell.overlap < worst->overlap) worst = &cell;
  }
  if (!worst) return;
  std::string levels;
  for (size_t f = 0; f < worst->levels.size(); ++f)
    if (report.factors[f].levels.size() > 1)
      levels += (levels.empty() ? " with " : ", ") + report.factors[f].name + "=" + worst->levels[f];
  out.push_back({CaveatCode::kLowOverlap,
                 "trials of " + worst->workload + levels + " ran at the same time as all of their block in "
                                                           "" + percent(worst->overlap) +
                     " of their CPU time" + (low > 1 ? "; " + count(low - 1, "more cell") + " below 75 % likewise" : ""),
                 "for the rest of the time one side has the machine's noise and the cache to itself: give the cells of a block "
                 "about the same work, or read the answer of the blocks alone"});
}

// Of the primary response, or of the first one that has such cells: the cell that is furthest from one hump.
void several_modes(const Report& report, Caveats& out) {
  for (const Response& response : report.responses) {
    const Cell* worst = nullptr;
    uint64_t cells = 0, tested = 0;
    for (const Cell& cell : report.cells) {
      if (cell.response != response.name) continue;
      tested += cell.dip.has_value();
      if (cell.modes.empty()) continue;
      ++cells;
      if (!worst || *cell.dip > *worst->dip) worst = &cell;
    }
    if (!worst) continue;
    out.push_back({CaveatCode::kSeveralModes,
                   cell_text(report, *worst) + ": " + response.name + " falls into " + modes_text(response, *worst) +
                       " (dip = " + number(*worst->dip) + ", p = " + number(*worst->dip_p_holm) +
                       (tested > 1 ? " after Holm over " + std::to_string(tested) + " cells" : "") + ")" +
                       (cells > 1 ? "; " + count(cells - 1, "more cell") + " likewise" : ""),
                   "a mean between groups describes none of them: see in the plots whether layouts cause them ('stabctl replay' "
                   "of a trial stays in its group) or moments (a group is a stretch of the run)"});
    return;
  }
}

void run_changed(const Report& report, Caveats& out) {
  const RunChanges* first = nullptr;
  size_t changes = 0;
  for (const RunChanges& run : report.run_changes) {
    if (run.changes.empty() || (first && run.response != first->response)) continue;
    if (!first) first = &run;
    changes += run.changes.size();
  }
  if (!first) return;
  size_t strongest = 0;
  for (size_t i = 1; i < first->changes.size(); ++i)
    if (first->changes[i].statistic > first->changes[strongest].statistic) strongest = i;
  out.push_back({CaveatCode::kRunChanged,
                 "the run changes" + (first->machine.empty() ? "" : " on " + first->machine) + ": " + first->response + " " +
                     run_change_text(response_of(report, first->response), *first, strongest) +
                     (changes > 1 ? "; " + count(changes - 1, "more change") : ""),
                 "blocks remove what affects all cells alike; find in the run's plot what the machine did before you trust "
                 "small effects"});
}

void disturbances(const Samples& samples, Caveats& out) {
  if (!samples.simulated.empty()) return;  // a simulator's counts are the same on a busy machine
  uint64_t analysed = 0, steal = 0, disturbed = 0;
  for (const Trial& trial : samples.trials) {
    if (!trial.excluded.empty()) continue;
    ++analysed;
    steal += (trial.disturbances & bit(Disturbance::kSteal)) != 0;
    disturbed += (trial.disturbances & ~bit(Disturbance::kSteal)) != 0;
  }
  constexpr double kNotable = 0.05;
  if (analysed == 0) return;
  if (static_cast<double>(steal) > kNotable * static_cast<double>(analysed))
    out.push_back({CaveatCode::kSteal,
                   "the hypervisor took CPU time away in " + percent(static_cast<double>(steal) / analysed) + " of the trials",
                   samples.is_sliced ? "runs in slices lose it alike, so most of it cancels; a machine of your own is sharper"
                                     : "compare task-clock instead of wall time, or use a machine of your own"});
  if (static_cast<double>(disturbed) > kNotable * static_cast<double>(analysed))
    out.push_back({CaveatCode::kDisturbed,
                   percent(static_cast<double>(disturbed) / analysed) + " of the trials were disturbed; they are "
                                                                          "kept",
                   "see the validity table; declare exclusion rules in the plan before the next run"});
}

// "17 attempts failed and were run again (opt=-O3: 15, opt=-O2: 2)"
std::string repeated_text(const Samples& samples) {
  constexpr size_t kMost = 3;
  std::string cells;
  for (size_t i = 0; i < std::min(samples.repeated_cells.size(), kMost); ++i)
    cells += (cells.empty() ? "" : ", ") + samples.repeated_cells[i];
  if (samples.repeated_cells.size() > kMost) cells += ", and in " + count(samples.repeated_cells.size() - kMost, "more cell");
  return count(samples.repeated, "attempt") + " failed and " + (samples.repeated == 1 ? "was" : "were") + " run again" +
         (cells.empty() ? "" : " (" + cells + ")");
}

void counts(const Samples& samples, const Report& report, Caveats& out) {
  if (report.excluded > 0)
    out.push_back({CaveatCode::kExcluded,
                   count(report.excluded, "trial") + " of " + std::to_string(report.analysed + report.excluded) +
                       " left out by declared rules",
                   "check that the rules don't hit one cell more than another"});
  if (report.failed > 0 || samples.repeated > 0) {
    const std::string lost = report.failed > 0 ? count(report.failed, "trial") + " failed and gave no value" : "";
    const std::string again = samples.repeated > 0 ? repeated_text(samples) : "";
    out.push_back({CaveatCode::kFailedTrials, lost + (lost.empty() || again.empty() ? "" : "; ") + again,
                   "'stabctl logs' says why; if failures follow a treatment, the remaining trials are a selection"});
  }
  if (!samples.layout_outputs.empty()) {
    const size_t more = samples.layout_outputs.size() - 1;
    out.push_back({CaveatCode::kLayoutOutput,
                   samples.layout_outputs[0] + (more > 0 ? "; likewise in " + count(more, "more cell") : ""),
                   "it uses uninitialised memory, or prints addresses: 'stabctl replay' repeats the trial, and valgrind shows "
                   "where; only trials whose output was right are compared"});
  }
  const uint32_t replicates = replicates_of(samples);
  if (samples.planned_replicates > 0 && replicates > samples.planned_replicates &&
      samples.stopping.rule != StoppingRule::kSequence)
    out.push_back({CaveatCode::kExtended,
                   "extended after its end, from " + std::to_string(samples.planned_replicates) + " to " +
                       std::to_string(replicates) + " replicates: p and intervals ignore the earlier look" +
                       (samples.stopping.rule == StoppingRule::kLooks ? ", and no verdict is given" : ""),
                   "run a new experiment with all the replicates, or declare looks beforehand"});
  if (!samples.early_looks.empty()) {
    const size_t more = samples.early_looks.size() - 1;
    out.push_back({CaveatCode::kUnmasked,
                   "unmasked before the data were complete: " + samples.early_looks[0] +
                       (more > 0 ? "; likewise " + count(more, "more time") : ""),
                   "p and intervals hold if nothing was decided by what was seen; if it was stopped, extended or changed for "
                   "that, run a new experiment"});
  }
  if (samples.incomplete && may_be_judged(samples))
    out.push_back({CaveatCode::kIncomplete, "the experiment is not finished: it is judged by its first " +
                                                std::to_string(replicates) + " replicates",
                   "answers of a confidence sequence hold now and later; later blocks may decide what is unsure"});
  else if (samples.incomplete)
    out.push_back({CaveatCode::kIncomplete, "the experiment is not finished: no verdict is given yet",
                   "looking early raises false alarms; wait for the declared look"});
}

void degradations(const Samples& samples, Caveats& out) {
  std::set<std::string> kinds;
  uint64_t trials = 0, large = 0, with_heap = 0;
  for (const Trial& trial : samples.trials) {
    if (!trial.dose || !trial.excluded.empty()) continue;
    trials += !trial.dose->degradations.empty();
    kinds.insert(trial.dose->degradations.begin(), trial.dose->degradations.end());
    if (trial.dose->heap_share > 0) {
      ++with_heap;
      large += std::min(trial.dose->heap_share, trial.dose->heap_bytes_share.value_or(1)) < 0.5;
    }
  }
  if (trials > 0) {
    std::string list;
    for (const std::string& kind : kinds) list += (list.empty() ? "" : "; ") + kind;
    out.push_back({CaveatCode::kDegraded, count(trials, "trial") + " ran with less randomization than asked: " + list,
                   "each line names its cause and the cure"});
  }
  if (with_heap > 0 && 2 * large > with_heap)
    out.push_back({CaveatCode::kLargeArrays,
                   "most of the heap lies in blocks too large for the randomizing allocator: they move as a whole, to another "
                   "page and line",
                   "read a heap effect of zero as 'hardly randomized', not as 'no effect'"});
}

// Where means and ranks answer differently, tails or outliers carry the answer. Ranks of so few values that they never answer say
// nothing of that.
void ranks(const Report& report, Caveats& out) {
  const Contrast* first = nullptr;
  uint64_t disagree = 0;
  for (const Contrast& contrast : report.contrasts) {
    if (!contrast.p_rank || (contrast.p_value < report.alpha) == (*contrast.p_rank < report.alpha)) continue;
    if (contrast.least_p_rank >= report.alpha) continue;
    if (contrast.response != report.responses[0].name) continue;
    if (disagree++ == 0) first = &contrast;
  }
  if (!first) return;
  out.push_back({CaveatCode::kRanksDisagree,
                 first->workload + ", " + first->factor + " " + first->level + " / " + first->baseline +
                     ": means say p = " + number(first->p_value) + ", ranks p = " + number(*first->p_rank) +
                     (disagree > 1 ? "; " + std::to_string(disagree - 1) + " more disagree" : ""),
                 "look for tails and outliers in the strip figure before believing either"});
}

// Blocks of the first response that take no part in a contrast, since they lack one of its cells: the most of any.
uint64_t blocks_left_out(const Report& report) {
  uint64_t most = 0;
  for (const Contrast& contrast : report.contrasts)
    if (contrast.response == report.responses[0].name) most = std::max(most, contrast.blocks_left_out);
  return most;
}

void sizes(const Report& report, Caveats& out) {
  uint64_t smallest = UINT64_MAX, largest = 0;
  const Cell* fewest = nullptr;
  for (const Cell& cell : report.cells) {
    if (cell.response != report.responses[0].name) continue;
    if (cell.n < smallest) fewest = &cell;
    smallest = std::min(smallest, cell.n);
    largest = std::max(largest, cell.n);
  }
  if (!fewest) return;
  constexpr uint64_t kSmall = 10;
  const bool repeated = report.workloads.size() > 1 && largest == 1;  // one value for each subject and cell: by design
  if (smallest < kSmall && !repeated)
    out.push_back({CaveatCode::kSmallSample,
                   "as few as " + count(smallest, report.trial_word) + " in a cell of " + fewest->workload,
                   "intervals rest on the normal assumption there; use 20 or more"});
  const uint64_t left_out = blocks_left_out(report);
  if (smallest != largest || left_out > 0)
    out.push_back({CaveatCode::kUnbalanced,
                   (smallest != largest
                        ? "cells hold between " + std::to_string(smallest) + " and " + count(largest, report.trial_word)
                        : "blocks lack cells") +
                       (left_out > 0 ? "; of a comparison within blocks " + count(left_out, "block") +
                                           " that lack" + (left_out == 1 ? "s" : "") + " a cell took no part"
                                     : ""),
                   "sums of squares of type II and III allow for it; see why some are missing"});
  // What a process takes from its start to its end. A benchmark's operation has no start-up in it, nor has a region.
  const Response& primary = report.responses[0];
  const bool is_of_the_process = primary.name == "wall_time" || primary.name == "user_time" || primary.name == "system_time";
  if (!is_of_the_process || primary.unit != "s") return;
  constexpr double kShortSeconds = 0.05;
  std::set<std::string> tiny;
  for (const Cell& cell : report.cells)
    if (cell.response == primary.name && cell.median < kShortSeconds) tiny.insert(cell.workload);
  if (!tiny.empty())
    out.push_back({CaveatCode::kTiny,
                   *tiny.begin() + (tiny.size() > 1 ? " and " + std::to_string(tiny.size() - 1) + " more run" : " runs") +
                       " less than 50 ms: start-up is a large part of what is measured",
                   "give it more work"});
}

void machines(const Samples& samples, Caveats& out) {
  constexpr size_t kEnough = 4;
  const auto all = [](const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : "; ") + text;
    return list;
  };
  if (!samples.lost_machines.empty())
    out.push_back({CaveatCode::kLostMachines, "blocks were lost with their machines and run again: " + all(samples.lost_machines),
                   "slow machines are lost more often; check whether the lost ones were slow"});
  if (samples.machines.size() < 2) return;
  if (!samples.machine_differences.empty())
    out.push_back({CaveatCode::kDifferentMachines, "machines differ: " + all(samples.machine_differences),
                   "same = [\"cpu\", ...] below [machines] refuses those that do"});
  if (samples.machines.size() < kEnough)
    out.push_back({CaveatCode::kFewMachines,
                   count(samples.machines.size(), "machine") + ": too few to say much about others like them",
                   "add machines; replicates don't help here"});
}

// A fact that is shared out unevenly among a factor's levels is in that factor's difference; one that changes between blocks is
// not, and one that each machine has its own value of is said with the machines.
void environment(const Samples& samples, const Report& report, Caveats& out) {
  const EnvironmentDifference *split = nullptr, *changed = nullptr;
  size_t splits = 0, changes = 0;
  for (const EnvironmentDifference& one : report.environment.differences) {
    if (!one.splits.empty()) {
      ++splits;
      if (!split || one.splits[0].share_difference() > split->splits[0].share_difference()) split = &one;
    } else if (one.along != EnvironmentAlong::kMachines && !one.says_where) {
      ++changes;
      if (!changed) changed = &one;
    }
  }
  const auto more = [](size_t all) { return all > 1 ? "; likewise " + count(all - 1, "more fact") : std::string(); };
  if (split)
    out.push_back({CaveatCode::kEnvironmentSplit,
                   "the machine changed together with " + split->splits[0].factor + ": " +
                       split_words(*split, shown_values(*split), split->splits[0]) + more(splits),
                   "a difference of " + split->splits[0].factor + " may be the machine's: run the experiment again on a machine "
                   "that stays as it is, or at least all levels of the blocks concerned"});
  if (changed && samples.simulated.empty())
    out.push_back({CaveatCode::kEnvironmentChanged,
                   "the machine changed within the experiment: " + environment_words(*changed) + more(changes),
                   "blocks remove what affects all cells alike, but not what affects one of them; --full has the table"});
}

void simulated(const Samples& samples, Caveats& out) {
  if (samples.simulated.empty()) return;
  std::string models;
  for (const std::string& model : samples.simulated) models += (models.empty() ? "" : "; and ") + model;
  out.push_back({CaveatCode::kSimulated, (samples.simulated.size() > 1
                                             ? "the numbers are counts of different simulators, not times: "
                                             : "the numbers are counts of a simulator, not times: ") + models,
                 "a difference says that layouts or code differ, not that users wait longer; measure wall_time in a plan without "
                 "simulate"});
}

// A reader who sees three of them must see these. First what makes the answers be of something else than was asked: of a part
// of the trials, of trials whose output differs, of one layout, of fewer layouts, of sums of effects. Then what makes them
// doubtful, then what makes them noisy. The others follow in the order in which they are checked.
constexpr CaveatCode kGravestFirst[] = {
    CaveatCode::kSimulated,
    CaveatCode::kIncomplete,    CaveatCode::kEnvironmentSplit,  CaveatCode::kSlicingMoves,
    CaveatCode::kLayoutOutput,  CaveatCode::kOneLayout,         CaveatCode::kAliased,
    CaveatCode::kLowDose,       CaveatCode::kDegraded,          CaveatCode::kSmallSample,  CaveatCode::kRanksDisagree,
    CaveatCode::kExtended,      CaveatCode::kUnmasked,          CaveatCode::kSlicingUnchecked, CaveatCode::kLowOverlap,
    CaveatCode::kSeveralModes,  CaveatCode::kRunChanged,
    CaveatCode::kDrift,         CaveatCode::kLostMachines,
    CaveatCode::kDifferentMachines, CaveatCode::kEnvironmentChanged,
    CaveatCode::kFailedTrials,  CaveatCode::kDisturbed,         CaveatCode::kSteal};

size_t gravity(CaveatCode code) {
  return static_cast<size_t>(std::find(std::begin(kGravestFirst), std::end(kGravestFirst), code) - std::begin(kGravestFirst));
}

}  // namespace

std::string_view name(CaveatCode code) {
  switch (code) {
    case CaveatCode::kLowDose: return "low-dose";
    case CaveatCode::kFewWorkloads: return "few-workloads";
    case CaveatCode::kOneLayout: return "one-layout";
    case CaveatCode::kDrift: return "drift";
    case CaveatCode::kAutocorrelation: return "autocorrelation";
    case CaveatCode::kSteal: return "steal";
    case CaveatCode::kDisturbed: return "disturbed";
    case CaveatCode::kExcluded: return "excluded";
    case CaveatCode::kFailedTrials: return "failed-trials";
    case CaveatCode::kNotNormal: return "not-normal";
    case CaveatCode::kUnequalVariance: return "unequal-variance";
    case CaveatCode::kSmallSample: return "small-sample";
    case CaveatCode::kUnavailableCounter: return "unavailable-counter";
    case CaveatCode::kIncomplete: return "incomplete";
    case CaveatCode::kDegraded: return "degraded";
    case CaveatCode::kLargeArrays: return "large-arrays";
    case CaveatCode::kUnbalanced: return "unbalanced";
    case CaveatCode::kTiny: return "short-run";
    case CaveatCode::kRanksDisagree: return "ranks-disagree";
    case CaveatCode::kExtended: return "extended";
    case CaveatCode::kAliased: return "aliased";
    case CaveatCode::kLayoutOutput: return "layout-output";
    case CaveatCode::kUnmasked: return "unmasked";
    case CaveatCode::kDifferentMachines: return "different-machines";
    case CaveatCode::kLostMachines: return "lost-machines";
    case CaveatCode::kFewMachines: return "few-machines";
    case CaveatCode::kSimulated: return "simulated";
    case CaveatCode::kDifferentNights: return "different-nights";
    case CaveatCode::kSeveralModes: return "several-modes";
    case CaveatCode::kRunChanged: return "run-changed";
    case CaveatCode::kEnvironmentSplit: return "environment-split";
    case CaveatCode::kEnvironmentChanged: return "environment-changed";
    case CaveatCode::kSlicingMoves: return "slicing-moves";
    case CaveatCode::kSlicingUnchecked: return "slicing-unchecked";
    case CaveatCode::kLowOverlap: return "low-overlap";
  }
  return "unknown";
}

std::string_view disturbance_word(uint32_t bit_index) {
  constexpr std::string_view kWords[kDisturbanceCount] = {
      "migrated", "preempted", "interrupts", "steal", "throttled", "frequency",
      "pressure", "major faults", "swapped", "kernel log", "laboratory busy", "suspended"};
  return bit_index < kDisturbanceCount ? kWords[bit_index] : "unknown";
}

bool turns_an_answer(CaveatCode code) {
  return code == CaveatCode::kFailedTrials || code == CaveatCode::kSlicingMoves || code == CaveatCode::kLowOverlap;
}

std::vector<Caveat> caveats_that_turn(const std::vector<Caveat>& caveats) {
  std::vector<Caveat> out;
  for (const Caveat& caveat : caveats)
    if (turns_an_answer(caveat.code)) out.push_back(caveat);
  return out;
}

std::string care_text(const Caveat& caveat) { return caveat.message + "; " + caveat.hint; }

std::vector<Caveat> caveats_of(const Samples& samples, const Report& report) {
  Caveats out;
  simulated(samples, out);
  counts(samples, report, out);
  one_layout(report, out);
  aliased(report, out);
  low_dose(report, false, out);
  low_dose(report, true, out);
  degradations(samples, out);
  few_workloads(samples, report, out);
  machines(samples, out);
  environment(samples, report, out);
  if (report.slicing) {
    slicing_moves(report, out);
    slicing_unchecked(report, out);
    low_overlap(report, out);
  }
  disturbances(samples, out);
  from_diagnostic(report, {"drift"}, CaveatCode::kDrift, "values drift over the run",
                  "blocks remove drift; find its cause before you trust small effects", out);
  run_changed(report, out);
  autocorrelation(samples, report, out);
  several_modes(report, out);
  // The second one where residuals are more than 5,000.
  from_diagnostic(report, {"shapiro-wilk", "anderson-darling"}, CaveatCode::kNotNormal, "residuals are not normal",
                  "means of 30 are close to normal anyway; see whether ranks agree", out);
  // Runs of one layout differ less than layouts do: of a replay that is the point, and differences within its blocks need no
  // equal spread.
  if (!samples.replayed)
    from_diagnostic(report, {"brown-forsythe"}, CaveatCode::kUnequalVariance, "cells differ in spread",
                    "contrasts allow for it; in the ANOVA table read the p in brackets", out);
  ranks(report, out);
  sizes(report, out);
  for (const Unavailable& counter : samples.unavailable)
    out.push_back({CaveatCode::kUnavailableCounter, counter.what, counter.cure});
  std::stable_sort(out.begin(), out.end(), [](const Caveat& a, const Caveat& b) { return gravity(a.code) < gravity(b.code); });
  return out;
}

}  // namespace stab::report
