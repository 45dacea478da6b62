// The closed list of caveats: their names, their order, and the order in which they are checked. The checks are in
// caveat_checks.h. None of them changes a verdict.
#include "analysis/report/caveats/caveats.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>

#include "analysis/report/caveats/caveat_checks.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::report {
namespace {

// A reader who sees three of them must see these. First what makes the answers be of something else than was asked: of a part
// of the trials, of one build twice, of trials whose output differs, of one layout, of fewer layouts, of sums of effects. Then
// what makes them doubtful, then what makes them noisy. The others follow in the order in which they are checked.
constexpr CaveatCode kGravestFirst[] = {
    CaveatCode::kSimulated,
    CaveatCode::kIncomplete,    CaveatCode::kSameBuild,         CaveatCode::kEnvironmentSplit,  CaveatCode::kSlicingMoves,
    CaveatCode::kLayoutOutput,  CaveatCode::kOneLayout,         CaveatCode::kAliased,
    CaveatCode::kLowDose,       CaveatCode::kDegraded,          CaveatCode::kSmallSample,  CaveatCode::kRanksDisagree,
    CaveatCode::kExtended,      CaveatCode::kUnmasked,          CaveatCode::kSlicingUnchecked, CaveatCode::kLowOverlap,
    CaveatCode::kSeveralModes,  CaveatCode::kRunChanged,
    CaveatCode::kDrift,         CaveatCode::kLostMachines,
    CaveatCode::kDifferentMachines, CaveatCode::kEnvironmentChanged,
    CaveatCode::kFailedTrials,  CaveatCode::kDisturbed,         CaveatCode::kSteal};

// What is not normal has means that nearly are, if they are means of many.
std::string normal_means_text(const Report& report) {
  constexpr size_t kMany = 30;
  size_t least = SIZE_MAX;
  for (const Cell& cell : report.cells)
    if (cell.response == report.responses[0].name) least = std::min<size_t>(least, cell.n);
  if (least >= kMany) return "means of " + std::to_string(kMany) + " are close to normal anyway; see whether ranks agree";
  return "means of " + std::to_string(kMany) + " would be close to normal anyway, and a cell has " + std::to_string(least) +
         "; see whether ranks agree, or add " + replicates_word(report);
}

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
    case CaveatCode::kSeveralModes: return "several-modes";
    case CaveatCode::kRunChanged: return "run-changed";
    case CaveatCode::kEnvironmentSplit: return "environment-split";
    case CaveatCode::kEnvironmentChanged: return "environment-changed";
    case CaveatCode::kSlicingMoves: return "slicing-moves";
    case CaveatCode::kSlicingUnchecked: return "slicing-unchecked";
    case CaveatCode::kLowOverlap: return "low-overlap";
    case CaveatCode::kSameBuild: return "same-build";
  }
  return "unknown";
}

std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string percent_text(double share) { return three_digits(100 * share) + " %"; }

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
  check_simulated(samples, out);
  check_counts(samples, report, out);
  check_equal_builds(samples, out);
  check_one_layout(report, out);
  check_aliased(report, out);
  check_low_dose(report, false, out);
  check_low_dose(report, true, out);
  check_degradations(samples, out);
  check_few_workloads(samples, report, out);
  check_machines(samples, out);
  check_environment(samples, report, out);
  if (report.slicing) {
    check_slicing_moves(report, out);
    check_slicing_unchecked(report, out);
    check_low_overlap(report, out);
  }
  check_disturbances(samples, out);
  check_diagnostic(report, {"drift"}, CaveatCode::kDrift, "values drift over the run",
                   "blocks remove drift; find its cause before you trust small effects", out);
  check_run_changed(report, out);
  check_autocorrelation(samples, report, out);
  check_several_modes(report, out);
  // The second one where residuals are more than 5,000.
  check_diagnostic(report, {"shapiro-wilk", "anderson-darling"}, CaveatCode::kNotNormal, "residuals are not normal",
                   normal_means_text(report), out);
  // Runs of one layout differ less than layouts do: of a replay that is the point, and differences within its blocks need no
  // equal spread.
  if (!samples.replayed)
    check_diagnostic(report, {"brown-forsythe"}, CaveatCode::kUnequalVariance, "cells differ in spread",
                     "contrasts allow for it; in the ANOVA table read the p in brackets", out);
  check_ranks(report, out);
  check_sizes(report, out);
  for (const Unavailable& counter : samples.unavailable)
    out.push_back({CaveatCode::kUnavailableCounter, counter.what, counter.cure});
  std::stable_sort(out.begin(), out.end(), [](const Caveat& a, const Caveat& b) { return gravity(a.code) < gravity(b.code); });
  return out;
}

}  // namespace stab::report
