// Placements: does a noisy signal of many moments depend on a place that was drawn at random for each of them?
//
// The moments of a program come in series (the epochs of a trial), noise within a series is correlated (phases, clocks,
// neighbours on the machine), and its tails are heavy. So the signal of a moment is compared with the mean of the two beside it,
// and Huber's function bounds what one of them can say. What makes the tests valid is not a model of the noise but the draw:
// under the hypothesis that a place does nothing, the series would have been the same had its places come in another order. Means
// and covariances under all orders within each series are known in closed form (Hoeffding 1951), so that no order has to be
// drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

// Of a moment at which the place had none of the levels that are looked at.
inline constexpr uint8_t kNoLevel = 255;

// The signal of each moment less the mean of the moments before and after it.
class Differences {
 public:
  // `signal`: not finite where there is none. `series`: of each moment; moments of one series stand together.
  // `stratum`: places were drawn so that any order of them within a stratum was as likely, such as blocks in which each level
  // comes once; strata lie within series, and moments of one stand together. Empty: series are strata.
  Differences(std::span<const double> signal, std::span<const uint32_t> series, std::span<const uint32_t> stratum = {});

  size_t moments() const { return series_.size(); }
  const std::vector<uint32_t>& rows() const { return rows_; }      // the middle moment of each three that have signals
  const std::vector<double>& values() const { return values_; }    // by row
  const std::vector<uint32_t>& series() const { return series_; }  // by moment
  const std::vector<uint32_t>& stratum() const { return stratum_; }
  bool counts(size_t moment) const { return used_[moment]; }       // it is part of a row
  // Of a difference, robust: 1.4826 times the median distance from 0, which Huber's bounds are about, too. Where most differences
  // are of one sign, as in a program of alternating phases, it is large. 0: most moments are equal, or there is none.
  double scale() const { return scale_; }
  // Correlation of differences beside each other. -2/3 where moments are independent, more where what drifts is faster than
  // moments, less where it alternates with them. Absent: fewer than 20.
  std::optional<double> lag_one() const;

 private:
  std::vector<uint32_t> rows_, series_, stratum_;
  std::vector<double> values_;
  std::vector<bool> used_;
  double scale_ = 0;
};

// A difference of independent moments has 1.5 times their variance: (1, -1/2, -1/2).
inline constexpr double kDifferenceVariance = 1.5;

struct PlacementTest {
  double chi_squared = 0;
  int df = 0;
  double p_value = 1;
};

// Tests many places against one signal.
class PlacementScreen {
 public:
  explicit PlacementScreen(const Differences& differences);
  // Whether the signal depends on the level, of 0 to levels-1. Levels that hold fewer than `least` of the moments count for
  // nothing. Nothing: fewer than two are left, or there is no noise to compare with.
  std::optional<PlacementTest> test(std::span<const uint8_t> level, int levels, uint32_t least) const;
  // Of the difference of two levels that half of the moments have each, were it estimated: what decides what can be found.
  double error_of_halves() const { return error_of_halves_; }

 private:
  double error_of_halves_ = 0;
  struct Stratum {
    std::vector<uint32_t> moments;
    double mean = 0, variance = 0;  // of their scores
  };
  std::vector<double> score_;  // by moment
  std::vector<Stratum> strata_;
};

// One thing that was placed.
struct Placed {
  std::span<const uint8_t> level;  // by moment
  int levels = 0;
};

// What the levels of one thing make of the signal, in the signal's unit.
struct LevelEffects {
  std::vector<double> effect;          // by level, less the mean of those that have moments; 0 where it has none
  std::vector<double> standard_error;  // of that
  std::vector<uint32_t> moments;       // by level
  double variance = 0;  // of the signal, that drawing the level makes; what the estimate's noise adds is taken off; at least 0
};

// All things at once: each one's effects are what is left when the others are taken into account. Huber's M-estimator; covariance
// by the orders of places within series, as in the tests.
class PlacementFit {
 public:
  // kInvalid where the moments are too few for so many levels, or the places can't be told apart.
  static Result<PlacementFit> make(const Differences& differences, std::span<const Placed> placed);

  const std::vector<LevelEffects>& effects() const { return effects_; }
  struct Contrast {
    double estimate = 0;
    double standard_error = 0;
  };
  // Level `a` less level `b` of thing `which`. Absent: one of them has too few moments.
  std::optional<Contrast> contrast(size_t which, int a, int b) const;
  double df() const { return df_; }
  double noise() const { return noise_; }          // variance of a moment that no place explains
  double explained() const { return explained_; }  // variance that all places make together

  // Of explained and noise together. The interval is by bootstrap over series, or over stretches of kStretchRows rows where
  // series are few, as much wider as Student's is than the normal one for so many; absent where there are fewer than
  // kLeastResampled of either.
  struct Share {
    double estimate = 0;
    std::optional<std::pair<double, double>> interval;
  };
  // One for each thing, and a last one for all of them.
  std::vector<Share> shares(double confidence, uint64_t seed, int rounds) const;

 private:
  // distances: of residuals from their median, how many lie in each of kDistanceBins (placements.cc).
  struct Sums {
    std::vector<double> xx, xd, distances;
  };
  Sums empty_sums() const;
  double variance_of(size_t which, std::span<const double> beta) const;  // which = number of things: of all
  double bias_of(size_t which) const;

  size_t columns_ = 0;
  std::vector<std::vector<int>> column_of_;   // by thing and level: a column; kBase, kAbsent
  std::vector<double> beta_, covariance_;     // columns; columns squared
  std::vector<double> spread_;                // covariance of the columns over moments
  std::vector<LevelEffects> effects_;
  std::vector<Sums> sums_;                    // by series or stretch
  double df_ = 0, noise_ = 0, explained_ = 0;
  friend struct PlacementFitting;
};
inline constexpr size_t kStretchRows = 25, kLeastResampled = 8;

}  // namespace stab::statistics
