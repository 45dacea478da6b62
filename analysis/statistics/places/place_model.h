// Least squares of runs whose functions were placed at random, which place_effects.cc and best_places.cc share. Columns are
// centred within their blocks, which is the same as a column for each block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <Eigen/Dense>

#include "analysis/statistics/places/place_effects.h"

namespace stab::statistics {

// The rows of each block.
using BlockRows = std::map<uint32_t, std::vector<Eigen::Index>>;

struct LeastSquares {
  Eigen::VectorXd estimate;
  Eigen::MatrixXd covariance;
  double df = 0;
};

struct PlacedColumns {
  BlockRows blocks;
  Eigen::MatrixXd raw;      // 1 where the function lay as in the new build, by run and function
  Eigen::MatrixXd columns;  // the same, centred
  Eigen::VectorXd times;    // logarithms, centred
};

// pre: each run has as many functions
PlacedColumns columns_of(const std::vector<PlacedRun>& runs);

void centre_in_blocks(const BlockRows& blocks, Eigen::Ref<Eigen::VectorXd> column);

// Of columns that are centred already. Nothing where a column depends on the others.
std::optional<LeastSquares> least_squares(const Eigen::MatrixXd& columns, const Eigen::VectorXd& times, uint32_t blocks);

// With Student's interval, and the p of this effect alone as its p_holm.
PlaceEffect student_effect(double estimate, double error, double df, double alpha);

}  // namespace stab::statistics
