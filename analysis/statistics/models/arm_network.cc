// Effects of arms are against the first arm of their component. With X_e the design of experiment e (a row for each of its
// differences), V_e their covariance as it was found, and W_e a weight, the effects are (sum X'WX)^-1 sum X'Wd. A difference c of
// effects is then sum over e of a_e'd_e with a_e = W_e X_e (sum X'WX)^-1 c, and has the variance sum of a_e'V_e a_e: one part for
// each experiment, with that experiment's degrees of freedom. W_e is the inverse of what V_e were, but for a factor that is the
// same everywhere, if arms and experiments varied alike: draws (I - J / (k + 1)). So the estimate is that of least squares over
// all draws, and its error does not rest on their varying alike.
#include "analysis/statistics/models/arm_network.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <string>

#include "analysis/statistics/distributions/satterthwaite.h"

namespace stab::statistics {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

size_t root_of(std::vector<size_t>& above, size_t arm) {
  while (above[arm] != arm) arm = above[arm] = above[above[arm]];
  return arm;
}

}  // namespace

struct ArmNetwork::Fit {
  struct Part {
    Matrix design, weight, covariance;
    Vector differences;
    double df = 0;
    // Where the errors of its arms in its session stand among all of them; the first one's is what all differences are from.
    std::vector<Eigen::Index> errors;
  };
  std::vector<Part> parts;
  std::vector<Eigen::Index> parameter;  // by arm; -1: the first of its component, whose effect is 0
  Eigen::Index parameters = 0;
  Matrix inverse;  // of sum X'WX
  Vector effects;  // of the parameters
  Eigen::Index session_errors = 0;

  // of the session's errors: what a part's differences are of them
  void put_errors(const Part& part, auto rows) const {
    for (size_t i = 1; i < part.errors.size(); ++i) {
      rows(static_cast<Eigen::Index>(i) - 1, part.errors[i]) += 1;
      rows(static_cast<Eigen::Index>(i) - 1, part.errors[0]) -= 1;
    }
  }

  void put(auto row, size_t arm, double sign) const {
    if (parameter[arm] >= 0) row(parameter[arm]) += sign;
  }
};

namespace {

// Of the parameters: each arm less the first of them, an arm a row.
Matrix asked_of(const auto& fit, const std::vector<size_t>& arms) {
  Matrix out = Matrix::Zero(static_cast<Eigen::Index>(arms.size()), fit.parameters);
  for (size_t i = 0; i < arms.size(); ++i) {
    fit.put(out.row(static_cast<Eigen::Index>(i)), arms[i], 1);
    fit.put(out.row(static_cast<Eigen::Index>(i)), arms[0], -1);
  }
  return out;
}

}  // namespace

ArmNetwork::ArmNetwork() : fit_(std::make_unique<Fit>()) {}
ArmNetwork::ArmNetwork(ArmNetwork&&) noexcept = default;
ArmNetwork::~ArmNetwork() = default;

Result<ArmNetwork> ArmNetwork::fit(size_t arms, const std::vector<ArmContrasts>& experiments) {
  ArmNetwork network;
  Fit& fit = *network.fit_;
  std::vector<size_t> above(arms);
  std::iota(above.begin(), above.end(), size_t{0});
  for (const ArmContrasts& found : experiments)
    for (const size_t arm : found.arms) {
      const size_t a = root_of(above, found.arms[0]), b = root_of(above, arm);
      above[std::max(a, b)] = std::min(a, b);
    }
  for (size_t arm = 0; arm < arms; ++arm) {
    network.component_.push_back(root_of(above, arm));
    fit.parameter.push_back(network.component_[arm] == arm ? -1 : fit.parameters++);
  }
  Matrix normal = Matrix::Zero(fit.parameters, fit.parameters);
  Vector right = Vector::Zero(fit.parameters);
  std::map<std::pair<size_t, size_t>, Eigen::Index> errors;  // by session and arm; those of one experiment alone count down
  for (size_t e = 0; e < experiments.size(); ++e) {
    const ArmContrasts& found = experiments[e];
    const auto k = static_cast<Eigen::Index>(found.differences.size());
    Fit::Part part{Matrix::Zero(k, fit.parameters),
                   found.draws * (Matrix::Identity(k, k) - Matrix::Constant(k, k, 1 / static_cast<double>(k + 1))),
                   Eigen::Map<const Matrix>(found.covariance.data(), k, k),
                   Eigen::Map<const Vector>(found.differences.data(), k), found.df, {}};
    const size_t session = found.session == ArmContrasts::kOwnSession ? found.session - e : found.session;
    for (const size_t arm : found.arms)
      part.errors.push_back(errors.try_emplace({session, arm}, static_cast<Eigen::Index>(errors.size())).first->second);
    if (Eigen::LLT<Matrix>(part.covariance).info() != Eigen::Success)
      return bad_input("experiment " + std::to_string(e + 1) + ": the covariance of its differences is not positive definite");
    for (Eigen::Index i = 0; i < k; ++i) {
      fit.put(part.design.row(i), found.arms[static_cast<size_t>(i) + 1], 1);
      fit.put(part.design.row(i), found.arms[0], -1);
    }
    normal += part.design.transpose() * part.weight * part.design;
    right += part.design.transpose() * part.weight * part.differences;
    fit.parts.push_back(std::move(part));
  }
  fit.inverse = Eigen::LLT<Matrix>(normal).solve(Matrix::Identity(fit.parameters, fit.parameters));
  fit.effects = fit.inverse * right;
  fit.session_errors = static_cast<Eigen::Index>(errors.size());
  network.find_contradictions();
  return network;
}

void ArmNetwork::find_contradictions() {
  Matrix normal = Matrix::Zero(fit_->parameters, fit_->parameters);
  Vector right = Vector::Zero(fit_->parameters);
  std::vector<Matrix> weights;
  Eigen::Index differences = 0;
  for (const Fit::Part& part : fit_->parts) {
    const auto k = part.differences.size();
    const double unbiased = (part.df - static_cast<double>(k) - 1) / part.df;
    if (!(unbiased > 0)) return;
    weights.push_back(unbiased * Eigen::LLT<Matrix>(part.covariance).solve(Matrix::Identity(k, k)));
    normal += part.design.transpose() * weights.back() * part.design;
    right += part.design.transpose() * weights.back() * part.differences;
    differences += k;
    q_df2_ += part.df - static_cast<double>(k) + 1;
  }
  const Eigen::LLT<Matrix> decomposed(normal);
  if (differences == fit_->parameters || decomposed.info() != Eigen::Success) return;
  const Vector effects = decomposed.solve(right);
  for (size_t e = 0; e < weights.size(); ++e) {
    const Vector left = fit_->parts[e].differences - fit_->parts[e].design * effects;
    q_ += left.dot(weights[e] * left);
  }
  q_df_ = static_cast<size_t>(differences - fit_->parameters);
}

TTest ArmNetwork::difference(size_t a, size_t b, double conf) const {
  Vector asked = Vector::Zero(fit_->parameters);
  fit_->put(asked.transpose(), b, 1);
  fit_->put(asked.transpose(), a, -1);
  const Vector gradient = fit_->inverse * asked;
  VarianceSum variance;
  for (const Fit::Part& part : fit_->parts) {
    const Vector along = part.weight * (part.design * gradient);
    if (const double share = along.dot(part.covariance * along); share > 0) variance.add(share, part.df);
  }
  return t_test_of(asked.dot(fit_->effects), std::sqrt(variance.sum()), variance.df(), 0, Alternative::kTwoSided, conf);
}

double ArmNetwork::session_share(size_t a, size_t b) const {
  const ArmErrors errors = session_errors_of({a, b});
  double sum = 0;
  for (size_t i = 0; i < errors.terms; ++i) sum += errors.loadings[errors.terms + i] * errors.loadings[errors.terms + i];
  return sum;
}

ArmErrors ArmNetwork::session_errors_of(const std::vector<size_t>& arms) const {
  const Matrix gradients = asked_of(*fit_, arms) * fit_->inverse;
  Matrix moved = Matrix::Zero(gradients.rows(), fit_->session_errors);
  for (const Fit::Part& part : fit_->parts) {
    const Matrix along = gradients * part.design.transpose() * part.weight;
    for (Eigen::Index i = 0; i < along.cols(); ++i) {
      moved.col(part.errors[static_cast<size_t>(i) + 1]) += along.col(i) / std::numbers::sqrt2;
      moved.col(part.errors[0]) -= along.col(i) / std::numbers::sqrt2;
    }
  }
  ArmErrors out{{}, static_cast<size_t>(moved.cols()), 0};
  for (Eigen::Index i = 0; i < moved.rows(); ++i)
    for (Eigen::Index j = 0; j < moved.cols(); ++j) out.loadings.push_back(moved(i, j));
  return out;
}

std::vector<ArmRepeat> ArmNetwork::repeats() const { return between_sessions(true); }
std::vector<ArmRepeat> ArmNetwork::steps() const { return between_sessions(false); }

// With C the covariance that sessions make at sd 1 and LL' = C, L^-1 d has the design L^-1 X and independent errors. The
// residuals' space is that of M = I - L^-1 X (X'C^-1 X)^-1 X'L'^-1. Of it the last difference's residual, M's last column, is
// orthogonal to all that don't hold the last difference: it is taken, then the last but one's of what is left, and so on.
std::vector<ArmRepeat> ArmNetwork::between_sessions(bool of_contradictions) const {
  // Experiments of one session that compare the same would make C singular. Their own errors keep them apart.
  constexpr double kOwn = 1e-6, kNothing = 1e-6, kHalf = 0.5, kFewestDf = 2;
  Eigen::Index rows = 0;
  for (const Fit::Part& part : fit_->parts) rows += part.differences.size();
  Matrix errors = Matrix::Zero(rows, fit_->session_errors), design(rows, fit_->parameters);
  Vector differences(rows);
  Matrix own = Matrix::Zero(rows, rows);
  Eigen::Index at = 0;
  for (const Fit::Part& part : fit_->parts) {
    const auto k = part.differences.size();
    fit_->put_errors(part, errors.middleRows(at, k));
    design.middleRows(at, k) = part.design;
    differences.segment(at, k) = part.differences;
    own.block(at, at, k, k) = (Matrix::Identity(k, k) + Matrix::Constant(k, k, 1)) / 2;
    at += k;
  }
  const Matrix made = errors * errors.transpose() / 2;
  const Eigen::LLT<Matrix> decomposed(made + kOwn * own);
  Matrix left = Matrix::Identity(rows, rows);
  if (of_contradictions) {
    const Matrix whitened = decomposed.matrixL().solve(design);
    left -= whitened * Eigen::LLT<Matrix>(whitened.transpose() * whitened).solve(whitened.transpose());
  }
  std::vector<ArmRepeat> out;
  for (Eigen::Index row = rows - 1; row >= 0; --row) {
    if (left(row, row) < kNothing) continue;
    const Vector direction = left.col(row) / std::sqrt(left(row, row));
    left -= direction * direction.transpose();
    const Vector weights = decomposed.matrixU().solve(direction);
    if (weights.dot(made * weights) < kHalf) continue;
    VarianceSum variance;
    at = 0;
    for (const Fit::Part& part : fit_->parts) {
      const auto k = part.differences.size();
      const Vector along = weights.segment(at, k);
      if (const double share = along.dot(part.covariance * along); share > 0) variance.add(share, part.df);
      at += k;
    }
    if (variance.df() > kFewestDf) out.push_back({weights.dot(differences), std::sqrt(variance.sum()), variance.df()});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<ArmErrors> ArmNetwork::errors_of(const std::vector<size_t>& arms) const {
  const Matrix gradients = asked_of(*fit_, arms) * fit_->inverse;
  std::vector<ArmErrors> out;
  for (const Fit::Part& part : fit_->parts) {
    const Matrix along = gradients * part.design.transpose() * part.weight;  // an arm a row, a difference of the part a column
    const Matrix moved = along * Eigen::LLT<Matrix>(part.covariance).matrixL().toDenseMatrix();
    if (!(moved.cwiseAbs().maxCoeff() > 0)) continue;
    ArmErrors errors{{}, static_cast<size_t>(moved.cols()), part.df};
    for (Eigen::Index i = 0; i < moved.rows(); ++i)
      for (Eigen::Index j = 0; j < moved.cols(); ++j) errors.loadings.push_back(moved(i, j));
    out.push_back(std::move(errors));
  }
  return out;
}

}  // namespace stab::statistics
