// HC3 from cell moments. All rows of a cell share their leverage h, so the sum over rows of e^2 / (1 - h)^2 x x'
// needs only each cell's sum of squared residuals, M2 + n (mean - fit)^2.
#include "analysis/statistics/models/robust_anova.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"

namespace stab::statistics {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Rows of L with L beta = 0 for "the columns of `term` add nothing to those of `others`", type II: the part of
// the full column space that term adds to others, in terms of the coefficients of the full model.
MatrixXd hypothesis(const MatrixXd& x, const MatrixXd& covariance, const std::vector<int>& term,
                    const std::vector<int>& larger) {
  const auto p = static_cast<int>(x.cols());
  MatrixXd selected(static_cast<int>(term.size()), p);
  selected.setZero();
  for (size_t i = 0; i < term.size(); ++i) selected(static_cast<int>(i), term[i]) = 1;
  if (larger.empty()) return selected;
  // Type II with a given covariance V (as car's ConjComp): of the coefficients of term and of the terms that
  // contain it, take the directions V-orthogonal to the latter alone.
  std::vector<int> both(term);
  both.insert(both.end(), larger.begin(), larger.end());
  const auto rows = static_cast<int>(both.size());
  MatrixXd joint(rows, rows), second(rows, static_cast<int>(larger.size()));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < rows; ++j) joint(i, j) = covariance(both[static_cast<size_t>(i)], both[static_cast<size_t>(j)]);
  second.setZero();
  for (size_t j = 0; j < larger.size(); ++j) second(static_cast<int>(term.size() + j), static_cast<int>(j)) = 1;
  // Null space of second' V: the hypotheses about (term, larger) that larger doesn't touch.
  const MatrixXd constraint = second.transpose() * joint;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(constraint.transpose());
  const MatrixXd q = qr.householderQ() * MatrixXd::Identity(rows, rows);
  const MatrixXd null = q.rightCols(rows - static_cast<int>(larger.size()));
  MatrixXd full(null.cols(), p);
  full.setZero();
  for (int h = 0; h < null.cols(); ++h)
    for (int i = 0; i < rows; ++i) full(h, both[static_cast<size_t>(i)]) = null(i, h);
  return full;
}

}  // namespace

Result<std::vector<AnovaRow>> hc3_anova(const CellTable& table, std::span<const TermMask> terms, SumsType type) {
  if (type == SumsType::kOne) return bad_input("hc3 has no type I tests; use --type 2 or 3");
  // The classical analysis refuses everything that can't be estimated, with reasons.
  STAB_TRY(const std::vector<AnovaRow> classical, factorial_anova(table, terms, type));
  const auto cells = static_cast<int>(table.cells.size());
  std::vector<std::vector<int>> columns_of(terms.size());
  std::vector<Column> columns{Column(table.cells.size(), 1.0)};
  for (size_t t = 0; t < terms.size(); ++t) {
    for (Column& column : term_columns(table.factors, terms[t], {})) {
      columns_of[t].push_back(static_cast<int>(columns.size()));
      columns.push_back(std::move(column));
    }
  }
  const auto p = static_cast<int>(columns.size());
  MatrixXd x(cells, p);
  VectorXd y(cells), n(cells);
  double total = 0, weighted = 0;
  for (int row = 0; row < cells; ++row) {
    const Moments& cell = table.cells[static_cast<size_t>(row)];
    n(row) = static_cast<double>(cell.n);
    total += n(row);
    weighted += n(row) * cell.mean;
    for (int c = 0; c < p; ++c) x(row, c) = columns[static_cast<size_t>(c)][static_cast<size_t>(row)];
  }
  for (int row = 0; row < cells; ++row) y(row) = table.cells[static_cast<size_t>(row)].mean - weighted / total;
  const MatrixXd weighted_x = n.cwiseSqrt().asDiagonal() * x;
  const Eigen::HouseholderQR<MatrixXd> qr(weighted_x);
  const VectorXd beta = qr.solve(n.cwiseSqrt().asDiagonal() * y);
  const MatrixXd r = qr.matrixQR().topRows(p).triangularView<Eigen::Upper>();
  const MatrixXd r_inverse = r.triangularView<Eigen::Upper>().solve(MatrixXd::Identity(p, p));
  const MatrixXd bread = r_inverse * r_inverse.transpose();
  MatrixXd meat = MatrixXd::Zero(p, p);
  for (int row = 0; row < cells; ++row) {
    const double leverage = x.row(row) * bread * x.row(row).transpose();
    if (1 - leverage < 1e-10)
      return bad_input("hc3 needs at least 2 values in each cell: a value that its cell's mean fits exactly has no "
                       "residual; add replicates or leave out the highest interaction");
    const double residual = y(row) - x.row(row).dot(beta);
    const double squares = table.cells[static_cast<size_t>(row)].m2 + n(row) * residual * residual;
    meat += squares / ((1 - leverage) * (1 - leverage)) * x.row(row).transpose() * x.row(row);
  }
  const MatrixXd covariance = bread * meat * bread;
  const double residual_df = classical.back().df;
  std::vector<AnovaRow> rows;
  for (size_t t = 0; t < terms.size(); ++t) {
    std::vector<int> larger;
    for (size_t other = 0; type == SumsType::kTwo && other < terms.size(); ++other)
      if (other != t && (terms[other] & terms[t]) == terms[t])
        larger.insert(larger.end(), columns_of[other].begin(), columns_of[other].end());
    const MatrixXd l = hypothesis(x, covariance, columns_of[t], larger);
    const VectorXd value = l * beta;
    const MatrixXd spread = l * covariance * l.transpose();
    AnovaRow row;
    row.term = term_name(table.factors, terms[t]);
    row.df = static_cast<double>(columns_of[t].size());
    row.f = value.dot(spread.ldlt().solve(value)) / row.df;
    if (!std::isfinite(*row.f)) return bad_input("a cell has no spread: hc3 can't weigh " + row.term);
    // A spread that rounding has left without a positive definite matrix.
    if (*row.f < 0)
      return bad_input("cells differ so much in spread that hc3 can't weigh " + row.term +
                       " in double precision; look at the largest values of each cell");
    row.p_value = f_upper(*row.f, row.df, residual_df);
    rows.push_back(std::move(row));
  }
  AnovaRow residuals;
  residuals.term = "residuals";
  residuals.df = residual_df;
  rows.push_back(std::move(residuals));
  return rows;
}

}  // namespace stab::statistics
