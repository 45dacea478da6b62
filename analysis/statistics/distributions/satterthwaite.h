// Degrees of freedom of a sum of independent variances. Satterthwaite (1946), eq. 17; Welch (1947) for two samples.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace stab::statistics {

class VarianceSum {
 public:
  // pre: variance >= 0, df > 0
  void add(double variance, double df) {
    parts_.emplace_back(variance, df);
    sum_ += variance;
    largest_ = std::max(largest_, variance);
  }
  double sum() const { return sum_; }
  // As shares of the largest part: squares of variances neither overflow nor underflow. 0 where all are 0.
  double df() const {
    if (!(largest_ > 0)) return 0;
    double denominator = 0;
    for (const auto& [variance, df] : parts_) denominator += (variance / largest_) * (variance / largest_) / df;
    return (sum_ / largest_) * (sum_ / largest_) / denominator;
  }

 private:
  std::vector<std::pair<double, double>> parts_;
  double sum_ = 0, largest_ = 0;
};

}  // namespace stab::statistics
