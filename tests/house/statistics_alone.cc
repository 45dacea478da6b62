// The statistics by themselves: no report, no store. Student's own example, sleep's first group against its second.
#include <cmath>
#include <cstdio>
#include <vector>

#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/t_tests.h"

int main() {
  using namespace stab::statistics;
  const std::vector<double> first = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const auto test = welch_t(moments(first), moments(second), 0, Alternative::kTwoSided, 0.95);
  if (!test) return std::puts(test.error().message.c_str()), 1;
  std::printf("t = %.5f, df = %.3f, p = %.5f\n", test->statistic, test->df, test->p_value);
  return std::fabs(test->p_value - 0.07939) < 1e-5 ? 0 : 1;  // R: t.test(extra ~ group, sleep)
}
