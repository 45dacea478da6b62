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
  };
  std::vector<Part> parts;
  std::vector<Eigen::Index> parameter;  // by arm; -1: the first of its component, whose effect is 0
  Eigen::Index parameters = 0;
  Matrix inverse;  // of sum X'WX
  Vector effects;  // of the parameters

  void put(auto row, size_t arm, double sign) const {
    if (parameter[arm] >= 0) row(parameter[arm]) += sign;
  }
};

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
  for (size_t e = 0; e < experiments.size(); ++e) {
    const ArmContrasts& found = experiments[e];
    const auto k = static_cast<Eigen::Index>(found.differences.size());
    Fit::Part part{Matrix::Zero(k, fit.parameters),
                   found.draws * (Matrix::Identity(k, k) - Matrix::Constant(k, k, 1 / static_cast<double>(k + 1))),
                   Eigen::Map<const Matrix>(found.covariance.data(), k, k),
                   Eigen::Map<const Vector>(found.differences.data(), k), found.df};
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

std::vector<ArmErrors> ArmNetwork::errors_of(const std::vector<size_t>& arms) const {
  Matrix asked = Matrix::Zero(static_cast<Eigen::Index>(arms.size()), fit_->parameters);
  for (size_t i = 0; i < arms.size(); ++i) {
    fit_->put(asked.row(static_cast<Eigen::Index>(i)), arms[i], 1);
    fit_->put(asked.row(static_cast<Eigen::Index>(i)), arms[0], -1);
  }
  const Matrix gradients = asked * fit_->inverse;
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
