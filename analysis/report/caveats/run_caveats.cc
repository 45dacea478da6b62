// What happened while the experiment ran: trials that failed, were left out or were disturbed, early looks, and machines that
// differ or changed.
#include "analysis/report/caveats/caveat_checks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/environment.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::report {

void check_disturbances(const Samples& samples, Caveats& out) {
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
                   "the hypervisor took CPU time away in " + percent_text(static_cast<double>(steal) / analysed) +
                       " of the trials",
                   samples.is_sliced ? "runs in slices lose it alike, so most of it cancels; a machine of your own is sharper"
                                     : "compare task-clock instead of wall time, or use a machine of your own"});
  if (static_cast<double>(disturbed) > kNotable * static_cast<double>(analysed))
    out.push_back({CaveatCode::kDisturbed,
                   percent_text(static_cast<double>(disturbed) / analysed) + " of the trials were disturbed; they are "
                                                                          "kept",
                   "see the validity table; declare exclusion rules in the plan before the next run"});
}

namespace {

// "17 attempts failed and were run again (opt=-O3: 15, opt=-O2: 2)"
std::string repeated_text(const Samples& samples) {
  constexpr size_t kMost = 3;
  std::string cells;
  for (size_t i = 0; i < std::min(samples.repeated_cells.size(), kMost); ++i)
    cells += (cells.empty() ? "" : ", ") + samples.repeated_cells[i];
  if (samples.repeated_cells.size() > kMost) cells += ", and in " + plural(samples.repeated_cells.size() - kMost, "more cell");
  return plural(samples.repeated, "attempt") + " failed and " + (samples.repeated == 1 ? "was" : "were") + " run again" +
         (cells.empty() ? "" : " (" + cells + ")");
}

}  // namespace

void check_counts(const Samples& samples, const Report& report, Caveats& out) {
  if (report.excluded > 0)
    out.push_back({CaveatCode::kExcluded,
                   plural(report.excluded, "trial") + " of " + std::to_string(report.analysed + report.excluded) +
                       " left out by declared rules",
                   "check that the rules don't hit one cell more than another"});
  if (report.failed > 0 || samples.repeated > 0) {
    const std::string why = report.failed == 1 ? "it failed, or was not run" : "they failed, or were not run";
    const std::string lost =
        report.failed > 0 ? plural(report.failed, "trial") + " gave no value: " + why + " after three failures in a row" : "";
    const std::string again = samples.repeated > 0 ? repeated_text(samples) : "";
    out.push_back({CaveatCode::kFailedTrials, lost + (lost.empty() || again.empty() ? "" : "; ") + again,
                   "'stabctl logs' says why; if failures follow a treatment, the remaining trials are a selection"});
  }
  if (!samples.layout_outputs.empty()) {
    const size_t more = samples.layout_outputs.size() - 1;
    out.push_back({CaveatCode::kLayoutOutput,
                   samples.layout_outputs[0] + (more > 0 ? "; likewise in " + plural(more, "more cell") : ""),
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
                       (more > 0 ? "; likewise " + plural(more, "more time") : ""),
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

void check_machines(const Samples& samples, Caveats& out) {
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
                   plural(samples.machines.size(), "machine") + ": too few to say much about others like them",
                   "add machines; replicates don't help here"});
}

// A fact that is shared out unevenly among a factor's levels is in that factor's difference; one that changes between blocks is
// not, and one that each machine has its own value of is said with the machines.
void check_environment(const Samples& samples, const Report& report, Caveats& out) {
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
  const auto more = [](size_t all) { return all > 1 ? "; likewise " + plural(all - 1, "more fact") : std::string(); };
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

}  // namespace stab::report
