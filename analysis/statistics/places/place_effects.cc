// Columns are centred within their blocks, which is the same as a column for each block. Draws are independent of everything,
// so what other functions add is noise that the model takes off.
#include "analysis/statistics/places/place_effects.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include <Eigen/Dense>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"

namespace stab::statistics {
namespace {

// Pairs are as many as the square of this at most.
constexpr size_t kMostPaired = 16;
// Of alpha: what is claimed of functions, of pairs, and of all together has as much each.
constexpr double kClaims = 3;

struct Fit {
  Eigen::VectorXd estimate;
  Eigen::MatrixXd covariance;
  double df = 0;
};

// Least squares of columns that are centred already. Nothing where a column depends on the others.
std::optional<Fit> fit(const Eigen::MatrixXd& columns, const Eigen::VectorXd& times, uint32_t blocks) {
  Fit out;
  out.df = static_cast<double>(columns.rows() - columns.cols()) - blocks;
  if (out.df < 1) return std::nullopt;
  const Eigen::MatrixXd product = columns.transpose() * columns;
  const Eigen::LDLT<Eigen::MatrixXd> solver(product);
  if (solver.info() != Eigen::Success || solver.rcond() < 1e-10) return std::nullopt;
  out.estimate = solver.solve(columns.transpose() * times);
  const double variance = (times - columns * out.estimate).squaredNorm() / out.df;
  out.covariance = variance * solver.solve(Eigen::MatrixXd::Identity(product.rows(), product.cols()));
  return out;
}

void centre(const std::map<uint32_t, std::vector<Eigen::Index>>& blocks, Eigen::Ref<Eigen::VectorXd> column) {
  for (const auto& [block, rows] : blocks) {
    double sum = 0;
    for (const Eigen::Index row : rows) sum += column[row];
    for (const Eigen::Index row : rows) column[row] -= sum / static_cast<double>(rows.size());
  }
}

PlaceEffect effect_of(double estimate, double error, double df, double alpha) {
  PlaceEffect out;
  const double half = t_quantile_upper(alpha / 2, df) * error;
  out.estimate = estimate;
  out.low = estimate - half;
  out.high = estimate + half;
  out.p_holm = error > 0 ? t_two_sided(estimate / error, df) : (estimate == 0 ? 1.0 : 0.0);
  return out;
}

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
  std::map<uint32_t, std::vector<Eigen::Index>> blocks;
  Eigen::MatrixXd raw(rows, count);
  Eigen::VectorXd times(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const PlacedRun& run = runs[static_cast<size_t>(r)];
    blocks[run.block].push_back(r);
    times[r] = run.log_time;
    for (Eigen::Index f = 0; f < count; ++f) raw(r, f) = run.as_new[static_cast<size_t>(f)] ? 1 : 0;
  }
  PlaceAnswer out;
  out.runs = static_cast<uint32_t>(rows);
  out.blocks = static_cast<uint32_t>(blocks.size());
  Eigen::MatrixXd columns = raw;
  for (Eigen::Index f = 0; f < count; ++f) centre(blocks, columns.col(f));
  centre(blocks, times);
  const std::optional<Fit> mains = fit(columns, times, out.blocks);
  if (!mains)
    return bad_input(std::to_string(rows) + " runs in " + std::to_string(out.blocks) + " blocks don't tell " +
                     std::to_string(count) + " functions apart: expected " +
                     std::to_string(static_cast<uint32_t>(count) * kRunsPerFunction) + " runs at least");
  std::vector<double> p;
  for (Eigen::Index f = 0; f < count; ++f) {
    out.functions.push_back(effect_of(mains->estimate[f], std::sqrt(mains->covariance(f, f)), mains->df, settings.alpha));
    p.push_back(out.functions.back().p_holm);
  }
  const std::vector<double> adjusted = holm(p);
  for (size_t f = 0; f < adjusted.size(); ++f) {
    out.functions[f].p_holm = adjusted[f];
    out.functions[f].is_found = adjusted[f] <= settings.alpha / kClaims;
  }
  const double error = std::sqrt(std::max(0.0, mains->covariance.sum()));
  out.together = effect_of(mains->estimate.sum(), error, mains->df, settings.alpha / kClaims);

  std::vector<PairEffect> pairs;
  p.clear();
  const Eigen::Index paired = std::min<Eigen::Index>(count, kMostPaired);
  Eigen::MatrixXd with(rows, count + 1);
  with.leftCols(count) = columns;
  for (Eigen::Index a = 0; a < paired; ++a)
    for (Eigen::Index b = a + 1; b < paired; ++b) {
      with.col(count) = raw.col(a).cwiseProduct(raw.col(b));
      centre(blocks, with.col(count));
      const std::optional<Fit> both = fit(with, times, out.blocks);
      if (!both) continue;
      const PlaceEffect beyond =
          effect_of(both->estimate[count], std::sqrt(both->covariance(count, count)), both->df, settings.alpha);
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
