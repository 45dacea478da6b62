// Draws are independent of everything, so what other functions add is noise that the model takes off.
#include "analysis/statistics/places/place_effects.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/statistics/places/place_model.h"

namespace stab::statistics {
namespace {

// Pairs are as many as the square of this at most.
constexpr size_t kMostPaired = 16;
// Of alpha: what is claimed of functions, of pairs, and of all together has as much each.
constexpr double kClaims = 3;

// A function's own effect is a mean over the places of the others, so it has its half of what a pair adds.
double of_found(const PlaceAnswer& answer) {
  std::vector<bool> is_found;
  for (const PlaceEffect& one : answer.functions) is_found.push_back(one.is_found);
  for (const PairEffect& pair : answer.pairs) is_found[pair.first] = is_found[pair.second] = true;
  double sum = 0;
  for (size_t f = 0; f < is_found.size(); ++f) sum += is_found[f] ? answer.functions[f].estimate : 0;
  return sum;
}

bool is_half(double part, double place) {
  return place == 0 || (part * place > 0 && std::abs(part) >= std::abs(place) / 2);
}

PlaceCause cause_of(const PlaceAnswer& answer, const PlaceSettings& settings, double half_one_sided) {
  const auto found = std::count_if(answer.functions.begin(), answer.functions.end(),
                                   [](const PlaceEffect& one) { return one.is_found; });
  if (makes_half(answer, settings.place)) {
    if (found == 1 && answer.pairs.empty()) return PlaceCause::kFunction;
    if (found == 2 || (found < 2 && answer.pairs.size() == 1)) return PlaceCause::kPair;
    if (found > 2 || answer.pairs.size() > 1) return PlaceCause::kSeveral;
  }
  const PlaceEffect& all = answer.together;
  if ((all.low > 0 || all.high < 0) && is_half(all.estimate, settings.place)) return PlaceCause::kMany;
  const bool is_less_than_half = settings.place > 0 ? all.high < settings.place / 2 : all.low > settings.place / 2;
  const bool is_small = std::abs(all.estimate) + half_one_sided < std::log1p(settings.margin);
  return is_small || (settings.place != 0 && is_less_than_half) ? PlaceCause::kElsewhere : PlaceCause::kOpen;
}

}  // namespace

bool makes_half(const PlaceAnswer& answer, double place) { return is_half(answer.of_found, place); }

std::string_view word_of(PlaceCause cause) {
  switch (cause) {
    case PlaceCause::kFunction: return "one function";
    case PlaceCause::kPair: return "two functions";
    case PlaceCause::kSeveral: return "several functions";
    case PlaceCause::kMany: return "many small ones";
    case PlaceCause::kElsewhere: return "elsewhere";
    case PlaceCause::kOpen: break;
  }
  return "open";
}

double runs_to_find(double effect, double spread, size_t functions, uint32_t runs_of_block, double alpha) {
  const auto others = static_cast<double>(functions) - 1;
  const double found = normal_quantile(1 - alpha / kClaims / static_cast<double>(functions) / 2), power = normal_quantile(0.9);
  // A column is 0 or 1 with a variance of a quarter. The other functions and t's tails want some runs more (Guenther 1981), and
  // a block's mean takes off its share of all.
  const double degrees = 4 * std::pow((found + power) * spread / effect, 2) + others + found * found / 2;
  return degrees * runs_of_block / (runs_of_block - 1);
}

Result<PlaceAnswer> find_places(const std::vector<PlacedRun>& runs, const PlaceSettings& settings) {
  if (runs.empty() || runs[0].as_new.empty()) return bad_input("there are no runs, or no functions in them");
  const auto count = static_cast<Eigen::Index>(runs[0].as_new.size());
  const auto rows = static_cast<Eigen::Index>(runs.size());
  const PlacedColumns placed = columns_of(runs);
  const auto& [blocks, raw, columns, times] = placed;
  PlaceAnswer out;
  out.runs = static_cast<uint32_t>(rows);
  out.blocks = static_cast<uint32_t>(blocks.size());
  const std::optional<LeastSquares> mains = least_squares(columns, times, out.blocks);
  if (!mains)
    return bad_input(std::to_string(rows) + " runs in " + std::to_string(out.blocks) + " blocks don't tell " +
                     std::to_string(count) + " functions apart: expected " +
                     std::to_string(static_cast<uint32_t>(count) * kRunsPerFunction) + " runs at least");
  std::vector<double> p;
  for (Eigen::Index f = 0; f < count; ++f) {
    out.functions.push_back(student_effect(mains->estimate[f], std::sqrt(mains->covariance(f, f)), mains->df, settings.alpha));
    p.push_back(out.functions.back().p_holm);
  }
  const std::vector<double> adjusted = holm(p);
  for (size_t f = 0; f < adjusted.size(); ++f) {
    out.functions[f].p_holm = adjusted[f];
    out.functions[f].is_found = adjusted[f] <= settings.alpha / kClaims;
  }
  const double error = std::sqrt(std::max(0.0, mains->covariance.sum()));
  out.together = student_effect(mains->estimate.sum(), error, mains->df, settings.alpha / kClaims);

  std::vector<PairEffect> pairs;
  p.clear();
  const Eigen::Index paired = std::min<Eigen::Index>(count, kMostPaired);
  Eigen::MatrixXd with(rows, count + 1);
  with.leftCols(count) = columns;
  for (Eigen::Index a = 0; a < paired; ++a)
    for (Eigen::Index b = a + 1; b < paired; ++b) {
      with.col(count) = raw.col(a).cwiseProduct(raw.col(b));
      centre_in_blocks(blocks, with.col(count));
      const std::optional<LeastSquares> both = least_squares(with, times, out.blocks);
      if (!both) continue;
      const PlaceEffect beyond =
          student_effect(both->estimate[count], std::sqrt(both->covariance(count, count)), both->df, settings.alpha);
      pairs.push_back({static_cast<uint32_t>(a), static_cast<uint32_t>(b), beyond.estimate, beyond.p_holm});
      p.push_back(beyond.p_holm);
    }
  const std::vector<double> pair_p = holm(p);
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].p_holm = pair_p[i];
    if (pair_p[i] <= settings.alpha / kClaims) out.pairs.push_back(pairs[i]);
  }
  std::sort(out.pairs.begin(), out.pairs.end(),
            [](const PairEffect& a, const PairEffect& b) { return std::abs(a.estimate) > std::abs(b.estimate); });
  out.of_found = of_found(out);
  out.cause = cause_of(out, settings, t_quantile_upper(settings.alpha, mains->df) * error);
  return out;
}

}  // namespace stab::statistics
