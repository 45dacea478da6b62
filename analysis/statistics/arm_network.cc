// Effects of arms are against the first arm of their component. With X_e the design of experiment e (a row for each of its
// differences), V_e its covariance and W_e its inverse, the effects are (sum X'WX)^-1 sum X'Wd. A difference c of effects is then
// sum over e of a_e'd_e with a_e = W_e X_e (sum X'WX)^-1 c, and has the variance sum of a_e'V_e a_e: one part for each experiment,
// with that experiment's degrees of freedom. That the weights are estimates themselves is not in it.
#include "analysis/statistics/arm_network.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "analysis/statistics/satterthwaite.h"

namespace stab::analysis {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

struct Part {
  Matrix design, weight;
  Vector differences;
  double df = 0;
};

size_t root_of(std::vector<size_t>& above, size_t arm) {
  while (above[arm] != arm) arm = above[arm] = above[above[arm]];
  return arm;
}

}  // namespace

struct ArmNetwork::Fit {
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
    const Eigen::LLT<Matrix> decomposed(Eigen::Map<const Matrix>(found.covariance.data(), k, k));
    if (decomposed.info() != Eigen::Success)
      return bad_input("experiment " + std::to_string(e + 1) + ": the covariance of its differences is not positive definite");
    Part part{Matrix::Zero(k, fit.parameters), decomposed.solve(Matrix::Identity(k, k)),
              Eigen::Map<const Vector>(found.differences.data(), k), found.df};
    for (Eigen::Index i = 0; i < k; ++i) {
      fit.put(part.design.row(i), found.arms[static_cast<size_t>(i) + 1], 1);
      fit.put(part.design.row(i), found.arms[0], -1);
    }
    normal += part.design.transpose() * part.weight * part.design;
    right += part.design.transpose() * part.weight * part.differences;
    network.q_df_ += static_cast<size_t>(k);
    fit.parts.push_back(std::move(part));
  }
  const Eigen::LLT<Matrix> decomposed(normal);
  if (decomposed.info() != Eigen::Success)
    return bad_input("the experiments' variances differ by too much to be weighed against each other");
  fit.inverse = decomposed.solve(Matrix::Identity(fit.parameters, fit.parameters));
  fit.effects = fit.inverse * right;
  network.q_df_ -= static_cast<size_t>(fit.parameters);
  for (const Part& part : fit.parts) {
    const Vector left = part.differences - part.design * fit.effects;
    network.q_ += left.dot(part.weight * left);
  }
  return network;
}

TTest ArmNetwork::difference(size_t a, size_t b, double conf) const {
  Vector asked = Vector::Zero(fit_->parameters);
  fit_->put(asked.transpose(), b, 1);
  fit_->put(asked.transpose(), a, -1);
  const Vector gradient = fit_->inverse * asked;
  VarianceSum variance;
  for (const Part& part : fit_->parts) {
    const Vector along = part.design * gradient;
    if (const double share = along.dot(part.weight * along); share > 0) variance.add(share, part.df);
  }
  return t_test_of(asked.dot(fit_->effects), std::sqrt(variance.sum()), variance.df(), 0, Alternative::kTwoSided, conf);
}

}  // namespace stab::analysis
