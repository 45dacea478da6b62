// Functions that no pair has are chosen one by one. Those of pairs, which are of the first sixteen, are tried in all
// combinations.
#include "analysis/statistics/places/best_places.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/places/place_model.h"

namespace stab::statistics {
namespace {

using Index = Eigen::Index;

// What a choice of places costs by the model, in coefficients of functions and, behind them, of pairs.
Eigen::VectorXd terms_of(const std::vector<bool>& as_new, const std::vector<bool>& counts, const std::vector<PairEffect>& pairs) {
  const size_t count = as_new.size();
  Eigen::VectorXd out = Eigen::VectorXd::Zero(static_cast<Index>(count + pairs.size()));
  for (size_t f = 0; f < count; ++f) out[static_cast<Index>(f)] = counts[f] && as_new[f] ? 1 : 0;
  for (size_t i = 0; i < pairs.size(); ++i)
    out[static_cast<Index>(count + i)] = as_new[pairs[i].first] && as_new[pairs[i].second] ? 1 : 0;
  return out;
}

PlaceEffect contrast_effect(const Eigen::VectorXd& contrast, const LeastSquares& model, double alpha) {
  const double variance = contrast.dot(model.covariance * contrast);
  return student_effect(contrast.dot(model.estimate), std::sqrt(std::max(0.0, variance)), model.df, alpha);
}

std::optional<LeastSquares> model_with(const PlacedColumns& placed, const std::vector<PairEffect>& pairs) {
  const Index count = placed.raw.cols();
  Eigen::MatrixXd columns(placed.raw.rows(), count + static_cast<Index>(pairs.size()));
  columns.leftCols(count) = placed.columns;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Index at = count + static_cast<Index>(i);
    columns.col(at) = placed.raw.col(pairs[i].first).cwiseProduct(placed.raw.col(pairs[i].second));
    centre_in_blocks(placed.blocks, columns.col(at));
  }
  return least_squares(columns, placed.times, static_cast<uint32_t>(placed.blocks.size()));
}

}  // namespace

std::optional<BestPlaces> best_places(const std::vector<PlacedRun>& runs, const PlaceAnswer& answer,
                                      const std::vector<bool>& may_place, double alpha, bool is_slowest) {
  const size_t count = answer.functions.size();
  std::vector<PairEffect> pairs;
  for (const PairEffect& pair : answer.pairs)
    if (may_place[pair.first] && may_place[pair.second]) pairs.push_back(pair);
  BestPlaces out{std::vector<bool>(count), std::vector<bool>(count), std::vector<bool>(count), {}, {}};
  for (size_t f = 0; f < count; ++f) out.is_placed[f] = answer.functions[f].is_found && may_place[f];
  for (const PairEffect& pair : pairs)
    for (const size_t f : {size_t{pair.first}, size_t{pair.second}}) out.is_placed[f] = out.is_together[f] = true;
  if (std::find(out.is_placed.begin(), out.is_placed.end(), true) == out.is_placed.end()) return std::nullopt;
  const std::optional<LeastSquares> model = model_with(columns_of(runs), pairs);
  if (!model) return std::nullopt;

  const Eigen::VectorXd costs = is_slowest ? Eigen::VectorXd(-model->estimate) : model->estimate;
  std::vector<size_t> together;
  for (size_t f = 0; f < count; ++f) {
    if (out.is_together[f]) together.push_back(f);
    else out.as_new[f] = out.is_placed[f] && costs[static_cast<Index>(f)] < 0;
  }
  const auto cost = [&](const std::vector<bool>& as_new) { return terms_of(as_new, out.is_placed, pairs).dot(costs); };
  std::vector<bool> tried = out.as_new;
  double least = cost(tried);
  for (uint32_t choice = 1; choice < (uint32_t{1} << together.size()); ++choice) {
    for (size_t i = 0; i < together.size(); ++i) tried[together[i]] = (choice >> i & 1) != 0;
    if (const double now = cost(tried); now < least) least = now, out.as_new = tried;
  }
  const Eigen::VectorXd chosen = terms_of(out.as_new, out.is_placed, pairs);
  out.in_old = contrast_effect(chosen, *model, alpha);
  out.in_new = contrast_effect(chosen - terms_of(out.is_placed, out.is_placed, pairs), *model, alpha);
  return out;
}

}  // namespace stab::statistics
