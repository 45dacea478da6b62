// Variance components of a nested design. Expected mean squares equate each mean square with what it estimates;
// with unbalanced data the coefficients come from the design itself. REML maximizes the likelihood of what is
// left after the mean, over relative standard deviations theta >= 0.
#include "analysis/statistics/models/variance_components.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::statistics {
namespace {

// Levels of each factor within those before it, numbered from 0.
std::vector<std::vector<int>> nested_levels(const FactorCodes& factors, std::vector<int>& counts) {
  const size_t rows = factors.rows();
  std::vector<std::vector<int>> levels;
  std::vector<std::vector<uint32_t>> path(rows);
  for (const auto& codes : factors.codes) {
    std::map<std::vector<uint32_t>, int> seen;
    levels.emplace_back(rows);
    for (size_t row = 0; row < rows; ++row) {
      path[row].push_back(codes[row]);
      levels.back()[row] = seen.try_emplace(path[row], static_cast<int>(seen.size())).first->second;
    }
    counts.push_back(static_cast<int>(seen.size()));
  }
  return levels;
}

// The profiled REML criterion at relative standard deviations theta, for y ~ 1 + random intercepts of nested levels. From the
// innermost level outwards: a level whose values say w (their number, at first) of its mean says w / (1 + theta^2 w) of the
// mean of what is around it. Squares are summed around the means that they are taken from, never as a difference of sums, so
// that they keep their digits where outer levels lie far apart.
class RemlCriterion {
 public:
  RemlCriterion(const std::vector<std::vector<int>>& levels, const std::vector<int>& counts, const std::vector<double>& y)
      : n_(static_cast<double>(y.size())), around_(counts.size()) {
    std::vector<std::vector<double>> innermost(static_cast<size_t>(counts.back()));
    for (size_t f = 0; f < counts.size(); ++f) around_[f].resize(static_cast<size_t>(counts[f]), 0);
    for (size_t row = 0; row < y.size(); ++row) {
      innermost[static_cast<size_t>(levels.back()[row])].push_back(y[row]);
      for (size_t f = 1; f < counts.size(); ++f)
        around_[f][static_cast<size_t>(levels[f][row])] = static_cast<size_t>(levels[f - 1][row]);
    }
    for (const std::vector<double>& values : innermost) {
      const Moments of = moments(values);
      innermost_.push_back({static_cast<double>(of.n), of.mean});
      within_ += of.m2;
    }
  }

  double operator()(const std::vector<double>& theta) {
    double log_det = 0, squares = within_;
    std::vector<Part> parts = innermost_;
    for (size_t f = theta.size(); f-- > 0;) {
      std::vector<Part> outer(f > 0 ? around_[f - 1].size() : 1);
      for (size_t i = 0; i < parts.size(); ++i) {
        const double spread = 1 + theta[f] * theta[f] * parts[i].weight;
        log_det += std::log(spread);
        parts[i].weight /= spread;
        Part& one = outer[around_[f][i]];
        one.weight += parts[i].weight;
        one.mean += parts[i].weight * parts[i].mean;
      }
      for (Part& one : outer) one.mean /= one.weight;
      for (size_t i = 0; i < parts.size(); ++i) {
        const double deviation = parts[i].mean - outer[around_[f][i]].mean;
        squares += parts[i].weight * deviation * deviation;
      }
      parts = std::move(outer);
    }
    sigma2_ = squares / (n_ - 1);
    return log_det + std::log(parts[0].weight) + (n_ - 1) * (1 + std::log(2 * M_PI * sigma2_));
  }
  double sigma2() const { return sigma2_; }  // residual variance at the last theta

 private:
  struct Part {
    double weight = 0, mean = 0;
  };
  double n_ = 0, within_ = 0, sigma2_ = 0;
  std::vector<Part> innermost_;              // their values' number and mean
  std::vector<std::vector<size_t>> around_;  // by factor and level: the level of the factor around it; 0 of the outermost
};

// Minimizes one coordinate at a time by golden section on a shrinking bracket, round after round: few
// coordinates, smooth, and zero (the boundary) is tried itself.
std::vector<double> minimize(RemlCriterion& criterion, std::vector<double> theta) {
  double best = criterion(theta);
  for (int round = 0; round < 100; ++round) {
    const double before = best;
    for (size_t f = 0; f < theta.size(); ++f) {
      const auto at = [&](double value) {
        std::vector<double> trial(theta);
        trial[f] = value;
        return criterion(trial);
      };
      double low = 0, high = std::max(2 * theta[f], 0.1);
      while (at(high) < best && high < 1e6) high *= 2;
      constexpr double kGolden = 0.6180339887498949;
      double a = high - kGolden * (high - low), b = low + kGolden * (high - low), fa = at(a), fb = at(b);
      for (int step = 0; step < 80 && high - low > 1e-9 * (1 + high); ++step) {
        if (fa < fb) {
          high = b;
          b = a;
          fb = fa;
          a = high - kGolden * (high - low);
          fa = at(a);
        } else {
          low = a;
          a = b;
          fa = fb;
          b = low + kGolden * (high - low);
          fb = at(b);
        }
      }
      double value = 0.5 * (low + high);
      if (at(0) <= at(value)) value = 0;
      const double reached = at(value);
      if (reached < best) {
        best = reached;
        theta[f] = value;
      }
    }
    if (before - best < 1e-12 * (1 + std::fabs(best))) break;
  }
  criterion(theta);
  return theta;
}

// Whether each factor has levels enough, and not too many.
Status check_counts(const FactorCodes& factors, const std::vector<int>& counts, size_t rows) {
  for (size_t f = 0; f < counts.size(); ++f) {
    if (counts[f] == (f ? counts[f - 1] : 1))
      return bad_input("'" + factors.names[f] + "' has one level" +
                       (f ? " in each of '" + factors.names[f - 1] + "'" : std::string()) +
                       ": its variance can't be told from what is around it");
  }
  if (static_cast<size_t>(counts.back()) >= rows)
    return bad_input("each '" + factors.names.back() + "' has one value: its variance can't be told from the "
                     "residual; run each more than once");
  constexpr size_t kMostLevels = 100'000;
  size_t all_levels = 0;
  for (int count : counts) all_levels += static_cast<size_t>(count);
  if (all_levels > kMostLevels)
    return bad_input(std::to_string(all_levels) + " levels in all; at most 100000, use a part of the data");
  return {};
}

// Sums of squares between levels, type I, from level means.
struct LevelSums {
  std::vector<std::vector<double>> sizes;  // by factor and level
  std::vector<double> between;             // squares of the levels' means around those of the levels around them
};

// pre: y has the mean 0
LevelSums level_sums(const std::vector<std::vector<int>>& levels, const std::vector<int>& counts, const std::vector<double>& y) {
  const size_t depth = levels.size();
  LevelSums out{std::vector<std::vector<double>>(depth), std::vector<double>(depth, 0.0)};
  std::vector<double> outer_means{0};
  for (size_t f = 0; f < depth; ++f) {
    std::vector<double>& sizes = out.sizes[f];
    std::vector<double> means(static_cast<size_t>(counts[f]));
    std::vector<size_t> around(means.size(), 0);
    sizes.resize(means.size());
    for (size_t row = 0; row < y.size(); ++row) {
      const auto level = static_cast<size_t>(levels[f][row]);
      sizes[level] += 1;
      means[level] += y[row];
      if (f > 0) around[level] = static_cast<size_t>(levels[f - 1][row]);
    }
    for (size_t level = 0; level < sizes.size(); ++level) {
      means[level] /= sizes[level];
      const double deviation = means[level] - outer_means[around[level]];
      out.between[f] += sizes[level] * deviation * deviation;
    }
    outer_means = std::move(means);
  }
  return out;
}

// Expected squares: the component of factor g adds sum over its levels j of n_j^2 / N_(f)(j) to what the levels of f explain,
// N_(f)(j) the size of the f-level around (or for f deeper than g: n_j itself). f == -1: the overall mean.
double expected_share(const std::vector<std::vector<int>>& levels, const std::vector<std::vector<double>>& sizes, int f,
                      size_t g) {
  const size_t rows = levels[g].size();
  double sum = 0;
  std::vector<char> counted(sizes[g].size(), 0);
  for (size_t row = 0; row < rows; ++row) {
    const auto j = static_cast<size_t>(levels[g][row]);
    if (counted[j]++ != 0) continue;
    double outer = static_cast<double>(rows);
    if (f >= 0) {
      const auto around = static_cast<size_t>(f);
      outer = around >= g ? sizes[g][j] : sizes[around][static_cast<size_t>(levels[around][row])];
    }
    sum += sizes[g][j] * sizes[g][j] / outer;
  }
  return sum;
}

// The mean square within the innermost levels. `all_squares`: of all values around their mean.
Result<VarianceComponent> residual_component(const std::vector<int>& innermost_levels, int count, std::span<const double> values,
                                             double all_squares) {
  VarianceComponent residual;
  residual.name = "residual";
  residual.df = static_cast<double>(values.size()) - count;
  std::vector<std::vector<double>> innermost(static_cast<size_t>(count));
  for (size_t row = 0; row < values.size(); ++row) innermost[static_cast<size_t>(innermost_levels[row])].push_back(values[row]);
  double within = 0;
  for (const auto& level : innermost) within += moments(level).m2;
  residual.mean_square = within / residual.df;
  if (within <= 0) return bad_input("values within the innermost level are all equal: there is no residual variance");
  if (within <= 1e-12 * all_squares)
    return bad_input(
        "values within the innermost level differ by less than a millionth of what others do: the components can't be "
        "told from rounding; take the innermost level's means instead");
  residual.ems = residual.mean_square;
  return residual;
}

}  // namespace

Result<std::vector<VarianceComponent>> variance_components(const FactorCodes& factors,
                                                           std::span<const double> values) {
  STAB_CHECK_OK(check_sample(values, 3, "variance components"));
  if (constant(values)) return bad_input("all values are equal: there is no variance to divide");
  STAB_CHECK_OK(check_squares(values));
  std::vector<int> counts;
  const std::vector<std::vector<int>> levels = nested_levels(factors, counts);
  const size_t depth = levels.size();
  STAB_CHECK_OK(check_counts(factors, counts, values.size()));

  const Moments all = moments(values);
  std::vector<double> y(values.size());
  for (size_t row = 0; row < values.size(); ++row) y[row] = values[row] - all.mean;
  const auto [sizes, between] = level_sums(levels, counts, y);
  std::vector<VarianceComponent> components(depth + 1);
  VarianceComponent& residual = components[depth];
  STAB_TRY(residual, residual_component(levels.back(), counts.back(), values, all.m2));
  for (size_t f = depth; f-- > 0;) {
    VarianceComponent& component = components[f];
    component.name = factors.names[f];
    component.df = counts[f] - (f ? counts[f - 1] : 1);
    component.mean_square = between[f] / component.df;
    // E[MS_f] = residual + sum over g >= f of c_g component_g.
    const auto coefficient = [&, &sizes = sizes](size_t g) {
      const int within = static_cast<int>(f);
      return (expected_share(levels, sizes, within, g) - expected_share(levels, sizes, within - 1, g)) / component.df;
    };
    double known = residual.ems;
    for (size_t g = f + 1; g < depth; ++g) known += coefficient(g) * components[g].ems;
    component.ems = (component.mean_square - known) / coefficient(f);
  }
  // REML, on values scaled to unit variance.
  const double scale = all.sd();
  for (double& value : y) value /= scale;
  RemlCriterion criterion(levels, counts, y);
  std::vector<double> theta;
  for (size_t f = 0; f < depth; ++f)
    theta.push_back(std::sqrt(std::max(components[f].ems, 0.01 * residual.ems) / residual.ems));
  theta = minimize(criterion, theta);
  for (size_t f = 0; f < depth; ++f)
    components[f].reml = theta[f] * theta[f] * criterion.sigma2() * scale * scale;
  residual.reml = criterion.sigma2() * scale * scale;
  return components;
}

}  // namespace stab::statistics
