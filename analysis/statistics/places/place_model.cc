#include "analysis/statistics/places/place_model.h"

#include <cmath>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {

void centre_in_blocks(const BlockRows& blocks, Eigen::Ref<Eigen::VectorXd> column) {
  for (const auto& [block, rows] : blocks) {
    double sum = 0;
    for (const Eigen::Index row : rows) sum += column[row];
    for (const Eigen::Index row : rows) column[row] -= sum / static_cast<double>(rows.size());
  }
}

PlacedColumns columns_of(const std::vector<PlacedRun>& runs) {
  PlacedColumns out;
  const auto rows = static_cast<Eigen::Index>(runs.size());
  const auto count = rows == 0 ? Eigen::Index{0} : static_cast<Eigen::Index>(runs[0].as_new.size());
  out.raw.resize(rows, count);
  out.times.resize(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const PlacedRun& run = runs[static_cast<size_t>(r)];
    out.blocks[run.block].push_back(r);
    out.times[r] = run.log_time;
    for (Eigen::Index f = 0; f < count; ++f) out.raw(r, f) = run.as_new[static_cast<size_t>(f)] ? 1 : 0;
  }
  out.columns = out.raw;
  for (Eigen::Index f = 0; f < count; ++f) centre_in_blocks(out.blocks, out.columns.col(f));
  centre_in_blocks(out.blocks, out.times);
  return out;
}

std::optional<LeastSquares> least_squares(const Eigen::MatrixXd& columns, const Eigen::VectorXd& times, uint32_t blocks) {
  LeastSquares out;
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

PlaceEffect student_effect(double estimate, double error, double df, double alpha) {
  PlaceEffect out;
  const double half = t_quantile_upper(alpha / 2, df) * error;
  out.estimate = estimate;
  out.low = estimate - half;
  out.high = estimate + half;
  out.p_holm = error > 0 ? t_two_sided(estimate / error, df) : (estimate == 0 ? 1.0 : 0.0);
  return out;
}

}  // namespace stab::statistics
