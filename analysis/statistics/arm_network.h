// Arm network: many experiments that each compare a few arms, some of which recur, as one set of differences. Each experiment's
// differences have a covariance, because they share a baseline; those between all arms that are connected follow by generalized
// least squares. As in a network meta-analysis of trials with several arms: Lu & Ades (2004), Statistics in Medicine 23, 3105;
// Salanti et al. (2008), Statistical Methods in Medical Research 17, 279, section 3; with each experiment's own degrees of freedom.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "analysis/statistics/t_tests.h"
#include "base/result.h"

namespace stab::analysis {

// What one experiment found. invariant: arms are distinct and at least two; differences[i] is arms[i + 1] minus arms[0];
// covariance is square, of the differences, row by row, symmetric; df > 0 are those of the covariance
struct ArmContrasts {
  std::vector<size_t> arms;
  std::vector<double> differences;
  std::vector<double> covariance;
  double df = 0;
};

class ArmNetwork {
 public:
  // arms: how many there are. kBadInput where a covariance is not positive definite; the message counts experiments from 1.
  static Result<ArmNetwork> fit(size_t arms, const std::vector<ArmContrasts>& experiments);
  ArmNetwork(ArmNetwork&&) noexcept;
  ~ArmNetwork();

  // Whether a chain of experiments leads from one to the other.
  bool connected(size_t a, size_t b) const { return component_[a] == component_[b]; }
  // b minus a, two-sided; degrees of freedom by Satterthwaite over the experiments, each by its share of the variance.
  // pre: connected(a, b), a != b
  TTest difference(size_t a, size_t b, double conf) const;

  // How far the experiments contradict each other: the weighted squares that are left (Cochran's Q), chi-squared where they
  // don't and the covariances are known. df 0: nothing closes a circle, so nothing could be contradicted.
  double q() const { return q_; }
  size_t q_df() const { return q_df_; }

 private:
  struct Fit;  // the matrices
  ArmNetwork();
  std::vector<size_t> component_;  // by arm: the first arm that it is connected with
  std::unique_ptr<Fit> fit_;
  double q_ = 0;
  size_t q_df_ = 0;
};

}  // namespace stab::analysis
