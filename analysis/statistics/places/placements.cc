// Of the score that a moment gets: with D the matrix of differences and psi Huber's function, the sum over rows of psi(d) times a
// differenced indicator is the sum over moments of (D' psi(d)) times the indicator itself. So a test needs one pass over the
// moments.
//
//   Hoeffding, W. (1951). A combinatorial central limit theorem. Annals of Mathematical Statistics 22, 558-566.
//   Huber, P. J. (1964). Robust estimation of a location parameter. Annals of Mathematical Statistics 35, 73-101.
#include "analysis/statistics/places/placements.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"

namespace stab::statistics {
namespace {

constexpr double kHuber = 1.345;       // 95 % efficient where the noise is normal
constexpr double kNormalMad = 1.4826;  // the standard deviation of a normal distribution by its median distance from the median
constexpr int kMostSteps = 50;
constexpr uint32_t kLeastOfLevel = 5;  // moments, to have an effect
constexpr int kBase = -1, kAbsent = -2;
// Residuals by their distance from the median, in units of the median distance: what is nearer than kNearest, bins of kBinWidth
// behind it, and what is farther. The median of a resampled sum lies in one of the bins between.
constexpr double kNearest = 0.5, kBinWidth = 1.0 / 64;
constexpr size_t kDistanceBins = 2 + 64;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double robust_scale(const std::vector<double>& values, double center) {
  std::vector<double> distances(values.size());
  std::transform(values.begin(), values.end(), distances.begin(), [&](double value) { return std::abs(value - center); });
  return kNormalMad * median_of(std::move(distances));
}

double bounded(double value, double bound) { return std::clamp(value, -bound, bound); }

size_t bin_of(double distance, double unit) {
  const double bin = unit > 0 ? (distance / unit - kNearest) / kBinWidth : 0;
  return bin < 0 ? 0 : static_cast<size_t>(std::min(bin, static_cast<double>(kDistanceBins - 2))) + 1;
}

// The median of what is in the bins, in their unit.
double median_of_bins(const std::vector<double>& bins) {
  const double half = std::accumulate(bins.begin(), bins.end(), 0.0) / 2;
  double before = bins[0];
  for (size_t i = 1; i + 1 < kDistanceBins; before += bins[i++])
    if (before + bins[i] >= half && bins[i] > 0)
      return kNearest + kBinWidth * (static_cast<double>(i - 1) + std::max(0.0, half - before) / bins[i]);
  return kNearest + kBinWidth * static_cast<double>(kDistanceBins - 2);
}

// D' applied to what each row says.
std::vector<double> scores_of(const Differences& differences, const std::vector<double>& rows) {
  std::vector<double> score(differences.moments(), 0.0);
  for (size_t r = 0; r < rows.size(); ++r) {
    const uint32_t at = differences.rows()[r];
    score[at] += rows[r];
    score[at - 1] -= rows[r] / 2;
    score[at + 1] -= rows[r] / 2;
  }
  return score;
}

// The lower triangle of a Cholesky factor in place. False: the matrix is singular, as far as doubles tell.
bool factorize(std::vector<double>& a, size_t n) {
  for (size_t j = 0; j < n; ++j) {
    const double before = a[j * n + j];
    for (size_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    if (!(a[j * n + j] > 1e-10 * before)) return false;
    a[j * n + j] = std::sqrt(a[j * n + j]);
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }
  return true;
}

std::vector<double> solve(const std::vector<double>& factor, size_t n, std::vector<double> b) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= factor[i * n + k] * b[k];
    b[i] /= factor[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= factor[k * n + i] * b[k];
    b[i] /= factor[i * n + i];
  }
  return b;
}

bool is_same_stratum(const Differences& differences, size_t a, size_t b) {
  return differences.series()[a] == differences.series()[b] && differences.stratum()[a] == differences.stratum()[b];
}

double quadratic(const std::vector<double>& matrix, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < b.size(); ++k) sum += a[i] * matrix[i * b.size() + k] * b[k];
  return sum;
}

}  // namespace

Differences::Differences(std::span<const double> signal, std::span<const uint32_t> series, std::span<const uint32_t> stratum)
    : series_(series.begin(), series.end()),
      stratum_(stratum.empty() ? series_ : std::vector<uint32_t>(stratum.begin(), stratum.end())),
      used_(signal.size(), false) {
  for (size_t i = 1; i + 1 < signal.size(); ++i) {
    if (series[i - 1] != series[i] || series[i + 1] != series[i]) continue;
    const double value = signal[i] - (signal[i - 1] + signal[i + 1]) / 2;
    if (!std::isfinite(value)) continue;
    rows_.push_back(static_cast<uint32_t>(i));
    values_.push_back(value);
    used_[i - 1] = used_[i] = used_[i + 1] = true;
  }
  scale_ = robust_scale(values_, 0);
}

std::optional<double> Differences::lag_one() const {
  double products = 0, squares = 0;
  size_t pairs = 0;
  const double bound = 3 * scale_;
  for (size_t r = 0; r + 1 < rows_.size(); ++r) {
    if (rows_[r + 1] != rows_[r] + 1) continue;
    const double a = bounded(values_[r], bound), b = bounded(values_[r + 1], bound);
    products += a * b;
    squares += (a * a + b * b) / 2;
    ++pairs;
  }
  if (pairs < 20 || !(squares > 0)) return std::nullopt;
  return products / squares;
}

PlacementScreen::PlacementScreen(const Differences& differences) {
  std::vector<double> said = differences.values();
  for (double& value : said) value = bounded(value, kHuber * differences.scale());
  score_ = scores_of(differences, said);
  for (size_t i = 0; i < differences.moments();) {
    Stratum stratum;
    double sum = 0, squares = 0;
    const size_t from = i;
    for (; i < differences.moments() && is_same_stratum(differences, from, i); ++i) {
      if (!differences.counts(i)) continue;
      stratum.moments.push_back(static_cast<uint32_t>(i));
      sum += score_[i];
      squares += score_[i] * score_[i];
    }
    const auto n = static_cast<double>(stratum.moments.size());
    if (n < 2) continue;
    stratum.mean = sum / n;
    stratum.variance = (squares - sum * sum / n) / (n - 1);
    strata_.push_back(std::move(stratum));
  }
  // A differenced indicator of halves has a mean square of 1.5 / 4; what lies within Huber's bound says all that it has to say.
  double scores = 0;
  for (const Stratum& stratum : strata_) scores += stratum.variance * static_cast<double>(stratum.moments.size());
  const auto within = std::count_if(differences.values().begin(), differences.values().end(),
                                    [&](double value) { return std::abs(value) <= kHuber * differences.scale(); });
  if (within > 0) error_of_halves_ = std::sqrt(scores / 4) / (static_cast<double>(within) * kDifferenceVariance / 4);
}

std::optional<PlacementTest> PlacementScreen::test(std::span<const uint8_t> level, int levels, uint32_t least) const {
  const auto count = static_cast<size_t>(levels);
  std::vector<double> moments(count, 0.0), sum(count, 0.0), covariance(count * count, 0.0), here(count);
  double all = 0;
  for (const Stratum& stratum : strata_) {
    std::fill(here.begin(), here.end(), 0.0);
    for (const uint32_t i : stratum.moments) {
      if (level[i] >= levels) continue;
      here[level[i]] += 1;
      sum[level[i]] += score_[i] - stratum.mean;
    }
    const auto n = static_cast<double>(stratum.moments.size());
    all += n;
    for (size_t a = 0; a < count; ++a) {
      moments[a] += here[a];
      covariance[a * count + a] += stratum.variance * here[a];
      for (size_t b = 0; b < count; ++b) covariance[a * count + b] -= stratum.variance * here[a] * here[b] / n;
    }
  }
  // One level is left out: scores about their stratum's mean sum to 0, so that it has nothing more to say. Where enough
  // others than these occur, they are what is left out.
  std::vector<size_t> kept;
  double within = 0;
  for (size_t a = 0; a < count; ++a)
    if (moments[a] >= least) {
      kept.push_back(a);
      within += moments[a];
    }
  if (all - within < least && !kept.empty()) kept.pop_back();
  const size_t df = kept.size();
  if (df == 0) return std::nullopt;
  std::vector<double> matrix(df * df), vector(df);
  for (size_t a = 0; a < df; ++a) {
    vector[a] = sum[kept[a]];
    for (size_t b = 0; b < df; ++b) matrix[a * df + b] = covariance[kept[a] * count + kept[b]];
  }
  if (!(matrix[0] > 0) || !factorize(matrix, df)) return std::nullopt;
  const std::vector<double> solved = solve(matrix, df, vector);
  PlacementTest out;
  out.chi_squared = std::inner_product(vector.begin(), vector.end(), solved.begin(), 0.0);
  out.df = static_cast<int>(df);
  out.p_value = chi_squared_upper(std::max(0.0, out.chi_squared), static_cast<double>(df));
  return out;
}

// The columns of the model and what is computed on the way.
struct PlacementFitting {
  const Differences& differences;
  std::span<const Placed> placed;
  PlacementFit fit;
  std::vector<bool> usable;          // by moment: each thing has one of the model's levels
  std::vector<uint32_t> rows;        // of differences.rows(), those whose three moments are usable
  std::vector<double> x;             // rows times columns
  std::vector<double> residual, weight;

  void choose_columns() {
    usable.assign(differences.moments(), true);
    for (const Placed& thing : placed) {
      std::vector<uint32_t> moments(static_cast<size_t>(thing.levels), 0);
      for (size_t i = 0; i < differences.moments(); ++i)
        if (differences.counts(i) && thing.level[i] < thing.levels) ++moments[thing.level[i]];
      std::vector<int> columns(moments.size(), kAbsent);
      bool based = false;
      for (size_t level = 0; level < moments.size(); ++level) {
        if (moments[level] < kLeastOfLevel) continue;
        columns[level] = based ? static_cast<int>(fit.columns_++) : kBase;
        based = true;
      }
      for (size_t i = 0; i < differences.moments(); ++i)
        if (thing.level[i] >= thing.levels || columns[thing.level[i]] == kAbsent) usable[i] = false;
      LevelEffects effects;
      effects.effect.assign(moments.size(), 0.0);
      effects.standard_error.assign(moments.size(), 0.0);
      effects.moments = std::move(moments);
      fit.effects_.push_back(std::move(effects));
      fit.column_of_.push_back(std::move(columns));
    }
  }

  void add_moment(uint32_t moment, double times, double* row) const {
    for (size_t t = 0; t < placed.size(); ++t) {
      const int column = fit.column_of_[t][placed[t].level[moment]];
      if (column >= 0) row[column] += times;
    }
  }

  void fill_rows() {
    for (uint32_t r = 0; r < differences.rows().size(); ++r) {
      const uint32_t at = differences.rows()[r];
      if (usable[at - 1] && usable[at] && usable[at + 1]) rows.push_back(r);
    }
    x.assign(rows.size() * fit.columns_, 0.0);
    for (size_t r = 0; r < rows.size(); ++r) {
      const uint32_t at = differences.rows()[rows[r]];
      double* row = x.data() + r * fit.columns_;
      add_moment(at, 1, row);
      add_moment(at - 1, -0.5, row);
      add_moment(at + 1, -0.5, row);
    }
  }

  void add_row(size_t r, double weight_of_row, PlacementFit::Sums& sums) const {
    const size_t n = fit.columns_;
    const double* row = x.data() + r * n;
    const double d = differences.values()[rows[r]];
    for (size_t a = 0; a < n; ++a) {
      if (row[a] == 0) continue;
      for (size_t b = 0; b < n; ++b) sums.xx[a * n + b] += weight_of_row * row[a] * row[b];
      sums.xd[a] += weight_of_row * row[a] * d;
    }
  }

  PlacementFit::Sums empty_sums() const { return fit.empty_sums(); }

  void find_residuals() {
    residual.resize(rows.size());
    for (size_t r = 0; r < rows.size(); ++r) {
      const double* row = x.data() + r * fit.columns_;
      residual[r] = differences.values()[rows[r]] - std::inner_product(row, row + fit.columns_, fit.beta_.begin(), 0.0);
    }
  }

  double find_weights() {
    const double scale = robust_scale(residual, median_of(residual));
    for (size_t r = 0; r < rows.size(); ++r) {
      const double distance = std::abs(residual[r]);
      weight[r] = distance > kHuber * scale ? kHuber * scale / distance : 1;
    }
    return scale;
  }

  // Iteratively reweighted least squares.
  bool find_effects() {
    weight.assign(rows.size(), 1.0);
    fit.beta_.assign(fit.columns_, 0.0);
    for (int step = 0; step < kMostSteps; ++step) {
      PlacementFit::Sums sums = empty_sums();
      for (size_t r = 0; r < rows.size(); ++r) add_row(r, weight[r], sums);
      if (!factorize(sums.xx, fit.columns_)) return false;
      const std::vector<double> before = fit.beta_;
      fit.beta_ = solve(sums.xx, fit.columns_, sums.xd);
      find_residuals();
      const double scale = find_weights();
      double moved = 0;
      for (size_t a = 0; a < fit.columns_; ++a) moved = std::max(moved, std::abs(fit.beta_[a] - before[a]));
      if (moved <= 1e-6 * scale) break;
    }
    return true;
  }

  // The columns' sums of squares about their means in each stratum, times the variance of the scores there; and over all moments.
  bool find_covariance() {
    const size_t n = fit.columns_;
    const double scale = robust_scale(residual, median_of(residual));
    std::vector<double> said(differences.rows().size(), 0.0);
    PlacementFit::Sums slope = empty_sums();
    for (size_t r = 0; r < rows.size(); ++r) {
      said[rows[r]] = bounded(residual[r], kHuber * scale);
      if (std::abs(residual[r]) <= kHuber * scale) add_row(r, 1, slope);
    }
    const std::vector<double> score = scores_of(differences, said);
    std::vector<bool> counted(differences.moments(), false);
    for (const uint32_t r : rows)
      for (uint32_t i = differences.rows()[r] - 1; i <= differences.rows()[r] + 1; ++i) counted[i] = true;
    std::vector<double> middle(n * n, 0.0), mean_all(n, 0.0), here(n), products(n * n), row(n);
    fit.spread_.assign(n * n, 0.0);
    double all = 0;
    for (size_t i = 0; i < differences.moments();) {
      std::fill(here.begin(), here.end(), 0.0);
      std::fill(products.begin(), products.end(), 0.0);
      double count = 0, sum = 0, squares = 0;
      const size_t from = i;
      for (; i < differences.moments() && is_same_stratum(differences, from, i); ++i) {
        if (!counted[i]) continue;
        std::fill(row.begin(), row.end(), 0.0);
        add_moment(static_cast<uint32_t>(i), 1, row.data());
        for (size_t a = 0; a < n; ++a) {
          if (row[a] == 0) continue;
          here[a] += 1;
          for (size_t b = 0; b < n; ++b) products[a * n + b] += row[a] * row[b];
        }
        ++count;
        sum += score[i];
        squares += score[i] * score[i];
      }
      all += count;
      const double variance = count < 2 ? 0 : (squares - sum * sum / count) / (count - 1);
      for (size_t a = 0; a < n && count > 0; ++a) {
        mean_all[a] += here[a];
        for (size_t b = 0; b < n; ++b) {
          middle[a * n + b] += variance * (products[a * n + b] - here[a] * here[b] / count);
          fit.spread_[a * n + b] += products[a * n + b];
        }
      }
    }
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b < n; ++b)
        fit.spread_[a * n + b] = fit.spread_[a * n + b] / all - mean_all[a] / all * mean_all[b] / all;
    // Each series lends two moments to its differences and has none for them.
    fit.df_ = static_cast<double>(rows.size()) - static_cast<double>(n);
    if (fit.df_ < 10 || !factorize(slope.xx, n)) return false;
    // A^-1 M A^-1: each column of M, then each row of what comes out.
    std::vector<double> half(n * n), column(n);
    for (size_t b = 0; b < n; ++b) {
      for (size_t a = 0; a < n; ++a) column[a] = middle[a * n + b];
      const std::vector<double> solved = solve(slope.xx, n, column);
      for (size_t a = 0; a < n; ++a) half[b * n + a] = solved[a];
    }
    fit.covariance_.assign(n * n, 0.0);
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) column[b] = half[b * n + a];
      const std::vector<double> solved = solve(slope.xx, n, column);
      for (size_t b = 0; b < n; ++b) fit.covariance_[a * n + b] = solved[b];
    }
    fit.noise_ = scale * scale / kDifferenceVariance;
    return true;
  }

  // Each level against the mean of those that there are.
  void find_level_effects() {
    const size_t n = fit.columns_;
    for (size_t t = 0; t < placed.size(); ++t) {
      const std::vector<int>& columns = fit.column_of_[t];
      const auto there = static_cast<double>(std::count_if(columns.begin(), columns.end(), [](int c) { return c != kAbsent; }));
      LevelEffects& effects = fit.effects_[t];
      for (size_t level = 0; level < columns.size(); ++level) {
        if (columns[level] == kAbsent) continue;
        std::vector<double> with(n, 0.0);
        for (const int column : columns)
          if (column >= 0) with[static_cast<size_t>(column)] -= 1 / there;
        if (columns[level] >= 0) with[static_cast<size_t>(columns[level])] += 1;
        effects.effect[level] = std::inner_product(with.begin(), with.end(), fit.beta_.begin(), 0.0);
        effects.standard_error[level] = std::sqrt(std::max(0.0, quadratic(fit.covariance_, with, with)));
      }
      effects.variance = std::max(0.0, fit.variance_of(t, fit.beta_) - fit.bias_of(t));
    }
    fit.explained_ = std::max(0.0, fit.variance_of(placed.size(), fit.beta_) - fit.bias_of(placed.size()));
  }

  // For the bootstrap: by series, or in stretches where these are few.
  void sum_up() {
    uint32_t series = 0, before = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      const uint32_t now = differences.series()[differences.rows()[rows[r]]];
      if (r == 0 || now != before) ++series;
      before = now;
    }
    const bool stretched = series < kLeastResampled;
    const double median = median_of(residual), unit = robust_scale(residual, median) / kNormalMad;
    size_t in_stretch = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      const uint32_t now = differences.series()[differences.rows()[rows[r]]];
      if (r == 0 || (stretched ? in_stretch == kStretchRows : now != before)) {
        fit.sums_.push_back(empty_sums());
        in_stretch = 0;
      }
      before = now;
      ++in_stretch;
      add_row(r, weight[r], fit.sums_.back());
      fit.sums_.back().distances[bin_of(std::abs(residual[r] - median), unit)] += 1;
    }
  }
};

PlacementFit::Sums PlacementFit::empty_sums() const {
  return {std::vector<double>(columns_ * columns_, 0.0), std::vector<double>(columns_, 0.0),
          std::vector<double>(kDistanceBins, 0.0)};
}

double PlacementFit::variance_of(size_t which, std::span<const double> beta) const {
  if (which == effects_.size()) return quadratic(spread_, beta, beta);
  double sum = 0;
  for (const int a : column_of_[which])
    for (const int b : column_of_[which])
      if (a >= 0 && b >= 0)
        sum += beta[static_cast<size_t>(a)] * spread_[static_cast<size_t>(a) * columns_ + static_cast<size_t>(b)] *
               beta[static_cast<size_t>(b)];
  return sum;
}

// What noise of the estimates adds to variance_of: the trace of spread times covariance.
double PlacementFit::bias_of(size_t which) const {
  double sum = 0;
  const auto add = [&](size_t a, size_t b) { sum += spread_[a * columns_ + b] * covariance_[b * columns_ + a]; };
  if (which == effects_.size()) {
    for (size_t a = 0; a < columns_; ++a)
      for (size_t b = 0; b < columns_; ++b) add(a, b);
    return sum;
  }
  for (const int a : column_of_[which])
    for (const int b : column_of_[which])
      if (a >= 0 && b >= 0) add(static_cast<size_t>(a), static_cast<size_t>(b));
  return sum;
}

Result<PlacementFit> PlacementFit::make(const Differences& differences, std::span<const Placed> placed) {
  PlacementFitting fitting{differences, placed, {}, {}, {}, {}, {}, {}};
  fitting.choose_columns();
  if (fitting.fit.columns_ == 0) return bad_input("no place has two levels that occur");
  fitting.fill_rows();
  if (fitting.rows.size() < 3 * fitting.fit.columns_ + 10)
    return bad_input(std::to_string(fitting.rows.size()) + " differences are too few for " +
                     std::to_string(fitting.fit.columns_) + " effects");
  if (!fitting.find_effects() || !fitting.find_covariance())
    return bad_input("the places can't be told apart: some always come together");
  fitting.find_level_effects();
  fitting.sum_up();
  return std::move(fitting.fit);
}

std::optional<PlacementFit::Contrast> PlacementFit::contrast(size_t which, int a, int b) const {
  const std::vector<int>& columns = column_of_[which];
  const int from = columns[static_cast<size_t>(a)], to = columns[static_cast<size_t>(b)];
  if (from == kAbsent || to == kAbsent) return std::nullopt;
  std::vector<double> with(columns_, 0.0);
  if (from >= 0) with[static_cast<size_t>(from)] += 1;
  if (to >= 0) with[static_cast<size_t>(to)] -= 1;
  return Contrast{std::inner_product(with.begin(), with.end(), beta_.begin(), 0.0),
                  std::sqrt(std::max(0.0, quadratic(covariance_, with, with)))};
}

std::vector<PlacementFit::Share> PlacementFit::shares(double confidence, uint64_t seed, int rounds) const {
  const size_t things = effects_.size();
  std::vector<Share> out(things + 1);
  const double total = explained_ + noise_;
  if (!(total > 0)) return out;
  for (size_t t = 0; t < things; ++t) out[t].estimate = std::min(1.0, effects_[t].variance / total);
  out[things].estimate = explained_ / total;
  if (sums_.size() < kLeastResampled) return out;
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    for (size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  };
  Rng rng = Rng::stream(seed, "shares");
  std::vector<std::vector<double>> drawn(things + 1);
  for (int round = 0; round < rounds; ++round) {
    Sums sums = empty_sums();
    for (size_t i = 0; i < sums_.size(); ++i) {
      const Sums& one = sums_[rng.below(sums_.size())];
      add(sums.xx, one.xx);
      add(sums.xd, one.xd);
      add(sums.distances, one.distances);
    }
    std::vector<double> factor = sums.xx;
    if (!factorize(factor, columns_)) continue;
    const std::vector<double> beta = solve(factor, columns_, sums.xd);
    const double scale = median_of_bins(sums.distances), noise = noise_ * scale * scale;
    // The draw's noise comes on top of the estimate's own.
    const double explained = std::max(0.0, variance_of(things, beta) - 2 * bias_of(things));
    if (!(explained + noise > 0)) continue;
    for (size_t t = 0; t < things; ++t)
      drawn[t].push_back(std::min(1.0, std::max(0.0, variance_of(t, beta) - 2 * bias_of(t)) / (explained + noise)));
    drawn[things].push_back(explained / (explained + noise));
  }
  const double tail = (1 - confidence) / 2, drawn_from = static_cast<double>(sums_.size());
  // Draws of few vary less than new ones would, and by how much they do is not known well.
  const double wider =
      t_quantile_upper(tail, drawn_from - 1) / normal_quantile(1 - tail) * std::sqrt(drawn_from / (drawn_from - 1));
  for (size_t t = 0; t <= things; ++t) {
    std::vector<double>& values = drawn[t];
    if (values.size() < 100) continue;
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    const auto at = [&](double p) { return values[static_cast<size_t>(std::lround(p * last))]; };
    const double estimate = out[t].estimate;
    out[t].interval = {std::max(0.0, estimate - wider * std::max(0.0, estimate - at(tail))),
                       std::min(1.0, estimate + wider * std::max(0.0, at(1 - tail) - estimate))};
  }
  return out;
}

}  // namespace stab::statistics
