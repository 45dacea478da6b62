// Whether trials were randomized as much as the plan asks: how many layouts they ran in, and how much of their code and memory
// moved.
#include "analysis/report/caveats/caveat_checks.h"

#include <algorithm>
#include <set>
#include <string>

#include "analysis/report/caveats/loop_layouts.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::report {
namespace {

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

}  // namespace

std::optional<double> layouts_of_a_loop(const Report& report) {
  std::optional<double> out;
  for (const DoseSummary& dose : report.doses)
    if (dose.factor == "code" && !dose.one_draw && dose.median && *dose.median < kEnoughLayouts && stays_in_a_loop(dose))
      out = std::min(out.value_or(kEnoughLayouts), *dose.median);
  return out;
}

void check_low_dose(const Report& report, bool in_a_loop, Caveats& out) {
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
                          three_digits(*worst->median) + (*worst->median == 1 ? " layout" : " layouts") + " (median)";
  const std::string more =
      low > 1 ? "; " + std::to_string(low - 1) + " more below " + three_digits(kEnoughLayouts) + " likewise" : "";
  if (in_a_loop) {
    out.push_back(
        {CaveatCode::kLowDose,
         saw + " in " + three_digits(*worst->epochs) + " epochs: in " + percent_text(worst->unentered) +
             " of them no function was entered, so the program stays in a loop, sleeps or waits for a CPU" + more,
         "a shorter epoch does not help; write long_loops = true under [layout], which moves such loops to new layouts if it "
         "can; or call the loop's work as a function (noinline) in each round; or call the function that contains the loop "
         "several times, with stab_new_layout() before each call; or accept one layout a process as one draw, and run more "
         "replicates"});
    return;
  }
  out.push_back({CaveatCode::kLowDose,
                 saw + (worst->epochs ? ": " + three_digits(*worst->epochs) + (*worst->epochs == 1 ? " epoch" : " epochs") +
                                          " ended in a run"
                                    : "") + more,
                 "shorten the epoch or lengthen the run; each trial remains a valid draw, but spread and shape come "
                 "from few layouts"});
}

void check_degradations(const Samples& samples, Caveats& out) {
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
    // Most causes have a semicolon before their cure.
    std::string list;
    size_t number = 0;
    for (const std::string& kind : kinds)
      list += (list.empty() ? "" : "; ") + (kinds.size() > 1 ? "(" + std::to_string(++number) + ") " : std::string()) + kind;
    out.push_back({CaveatCode::kDegraded, plural(trials, "trial") + " ran with less randomization than asked: " + list,
                   std::string("remove ") + (kinds.size() > 1 ? "these causes" : "this cause") +
                       " and run the experiment again; until then layouts have a larger part in the differences than planned"});
  }
  if (with_heap > 0 && 2 * large > with_heap)
    out.push_back({CaveatCode::kLargeArrays,
                   "most of the heap lies in blocks too large for the randomizing allocator: they move as a whole, to another "
                   "page and line",
                   "read a heap effect of zero as 'hardly randomized', not as 'no effect'"});
}

}  // namespace stab::report
