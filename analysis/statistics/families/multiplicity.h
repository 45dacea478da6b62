// Adjusting p-values for the number of questions asked.
#pragma once

#include <span>
#include <vector>

namespace stab::statistics {

// In the order given, each at most 1, as R's p.adjust(). pre: 0 <= p <= 1
std::vector<double> holm(std::span<const double> p_values);                // Holm (1979): family-wise error
std::vector<double> benjamini_hochberg(std::span<const double> p_values);  // 1995: false discovery rate
std::vector<double> hochberg(
    std::span<const double> p_values);  // 1988: family-wise, step-up; independent or positively dependent
std::vector<double> benjamini_yekutieli(std::span<const double> p_values);  // 2001: false discovery rate, any dependence
std::vector<double> bonferroni(std::span<const double> p_values);

}  // namespace stab::statistics
