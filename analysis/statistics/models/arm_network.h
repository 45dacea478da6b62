// Arm network: many experiments that each compare a few arms, some of which recur, as one set of differences. As in a network
// meta-analysis of trials with several arms (Lu & Ades 2004, Statistics in Medicine 23, 3105; Salanti et al. 2008, Statistical
// Methods in Medical Research 17, 279, section 3), but with weights that are known beforehand: experiments of the size of ours
// estimate their covariances from a few blocks, and weights that are estimated, too, make intervals too short.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "analysis/statistics/two_samples/t_tests.h"
#include "base/result.h"

namespace stab::statistics {

// What one experiment found. invariant: arms are distinct and at least two; differences[i] is arms[i + 1] minus arms[0];
// covariance is square, of the differences, row by row, symmetric; df > 0 are those of the covariance; draws > 0: how much it
// counts, its blocks or the replicates of an arm
//
// Beyond that covariance each arm errs by u ~ N(0, sd^2 / 2) in each session (machine, boot, day), so that the difference of two
// arms errs by sd (looks/between_sessions.h). Experiments of one session have the same u of an arm.
struct ArmContrasts {
  std::vector<size_t> arms;
  std::vector<double> differences;
  std::vector<double> covariance;
  double df = 0, draws = 0;
  size_t session = kOwnSession;

  static constexpr size_t kOwnSession = static_cast<size_t>(-1);
};

// How one experiment's errors move the estimates of some arms: that of arm i is loadings[i * terms ...] times `terms` independent
// standard normal draws, were its covariance what it has found, which it knows with df degrees of freedom.
struct ArmErrors {
  std::vector<double> loadings;  // arm by arm
  size_t terms = 0;
  double df = 0;
};

// A difference whose truth is 0, with its standard error but for what lies between sessions.
struct ArmRepeat {
  double difference = 0, standard_error = 0, df = 0;
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

  // What the estimates of these arms against the first of them err by, one part for each experiment. pre: all are connected
  std::vector<ArmErrors> errors_of(const std::vector<size_t>& arms) const;
  // What sessions add to that, were sd 1.
  ArmErrors session_errors_of(const std::vector<size_t>& arms) const;

  // By how much sd^2 between sessions adds to the variance of b minus a. pre: connected(a, b), a != b
  double session_share(size_t a, size_t b) const;
  // What says how large sd is: differences whose truth is 0, each with the variance sd^2 beyond its own, independent of each
  // other if experiments vary alike. They are what the experiments contradict each other by, in the order in which they are
  // given: each is what an experiment found less what those before it said (recursive residuals, Brown, Durbin & Evans 1975,
  // Journal of the Royal Statistical Society B 37, 149), standardized by what sd does to it. One without 2 degrees of freedom
  // is left out, and so are contradictions of one session.
  std::vector<ArmRepeat> repeats() const;
  // The same of what each experiment found, as if all arms were alike.
  std::vector<ArmRepeat> steps() const;

  // How far the experiments contradict each other: Cochran's Q, the squares that generalized least squares leave, with inverse
  // covariances made unbiased (Hartung & Knapp's correction: times (df - k - 1) / df for k differences). About F distributed,
  // times its first degrees of freedom, where they don't. 0 degrees: nothing closes a circle, or a part has too few blocks.
  double q() const { return q_; }
  size_t q_df() const { return q_df_; }
  double q_df2() const { return q_df2_; }  // of the covariances

 private:
  struct Fit;  // the matrices
  ArmNetwork();
  void find_contradictions();
  std::vector<ArmRepeat> between_sessions(bool of_contradictions) const;
  std::vector<size_t> component_;  // by arm: the first arm that it is connected with
  std::unique_ptr<Fit> fit_;
  double q_ = 0, q_df2_ = 0;
  size_t q_df_ = 0;
};

}  // namespace stab::statistics
