// What a sliced experiment must say of itself: where slicing changes an answer, where nobody knows whether it does, and where
// trials of a block ran apart.
#include "analysis/report/caveats/caveat_checks.h"

#include <cmath>
#include <string>

#include "analysis/report/report_data/report_pen.h"

namespace stab::report {
namespace {

// "-0.1 % [-1.2, +0.9] %"
std::string bias_text(const Report& report, const SlicingBias& bias) {
  const Response& response = response_of(report, bias.response);
  return difference_text(response, bias.bias.estimate) + " " + interval_text(response, bias.bias);
}

}  // namespace

// Those that the blocks alone answer, the one first that is moved most beyond its margin.
void check_slicing_moves(const Report& report, Caveats& out) {
  const auto by_margins = [](const SlicingBias& bias) {
    const double size = std::fabs(on_scale(bias.scale, bias.bias.estimate));
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
           ", more than the margin and more than chance (p = " + three_digits(worst->p_holm) + "), so the answer is that of "
           "the " + plural(worst->alone_n, "block") + " alone" +
           (moved > 1 ? "; " + plural(moved - 1, "more question") + " likewise" : ""),
       "programs that run at the same time share caches; longer slices disturb them less, and alone = \"50%\" or ordinary "
       "blocks give a sharper answer. Tables below the answers are of the sliced blocks"});
}

void check_slicing_unchecked(const Report& report, Caveats& out) {
  if (report.slicing->refused.empty()) return;
  out.push_back({CaveatCode::kSlicingUnchecked, report.slicing->refused,
                 "alone = \"10%\" in [experiment], with 20 replicates or more, measures it"});
}

// A trial that runs on when the others have ended has its noise to itself, and the cache.
void check_low_overlap(const Report& report, Caveats& out) {
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
                                                           "" + percent_text(worst->overlap) +
                     " of their CPU time" + (low > 1 ? "; " + plural(low - 1, "more cell") + " below 75 % likewise" : ""),
                 "for the rest of the time one side has the machine's noise and the cache to itself: give the cells of a block "
                 "about the same work, or read the answer of the blocks alone"});
}

}  // namespace stab::report
