// t tests. Everything reduces to an estimate, its standard error and its degrees of freedom; the tests differ in
// how they get those three. Welch is the lab's default, because cells differ in variance by design.
#include "analysis/statistics/two_samples/t_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/distributions/satterthwaite.h"

namespace stab::statistics {
namespace {

Status check_counts(const Moments& first, const Moments& second, std::string_view method) {
  for (const Moments* sample : {&first, &second})
    if (sample->n < 2)
      return bad_input(std::string(method) +
                       (" needs at least 2 values in each group, got " + std::to_string(sample->n) + "; add replicates"));
  return {};
}

// The end of a one-sided interval lies that many standard errors off: from the small tail, as 1 - conf may round to 1.
double one_sided_reach(double conf, double df) {
  return conf < 0.5 ? -t_quantile_upper(conf, df) : t_quantile_upper(1 - conf, df);
}

}  // namespace

TTest t_test_of(double estimate, double standard_error, double df, double mu, Alternative alternative,
                double conf) {
  TTest test;
  test.estimate = estimate;
  test.standard_error = standard_error;
  test.df = df;
  test.statistic = (estimate - mu) / standard_error;
  switch (alternative) {
    case Alternative::kTwoSided: {
      test.p_value = t_two_sided(test.statistic, df);
      const double half = t_quantile_upper((1 - conf) / 2, df) * standard_error;
      test.conf_low = estimate - half;
      test.conf_high = estimate + half;
      break;
    }
    case Alternative::kLess:
      test.p_value = t_upper(-test.statistic, df);
      test.conf_high = estimate + one_sided_reach(conf, df) * standard_error;
      break;
    case Alternative::kGreater:
      test.p_value = t_upper(test.statistic, df);
      test.conf_low = estimate - one_sided_reach(conf, df) * standard_error;
      break;
  }
  return test;
}

Result<TTest> one_sample_t(std::span<const double> values, double mu, Alternative alternative, double conf,
                           double rounded_at) {
  STAB_CHECK_OK(check_sample(values, 2, "a t test"));
  if (constant(values)) return bad_input("the values are constant: without spread there is nothing to test against");
  STAB_CHECK_OK(check_squares(values));
  const Moments sample = moments(values);
  if (sample.sd() <= 2 * std::numeric_limits<double>::epsilon() * rounded_at)
    return bad_input("the differences are constant up to the rounding of the values they come from: without spread "
                     "there is nothing to test against");
  return t_test_of(sample.mean, sample.standard_error(), static_cast<double>(sample.n - 1), mu, alternative,
                   conf);
}

Result<TTest> paired_t(std::span<const double> first, std::span<const double> second, double mu,
                       Alternative alternative, double conf) {
  if (first.size() != second.size())
    return bad_input("pairs need both values: " + std::to_string(first.size()) + " against " +
                     std::to_string(second.size()));
  std::vector<double> difference(first.size());
  double largest = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    difference[i] = first[i] - second[i];
    largest = std::max({largest, std::fabs(first[i]), std::fabs(second[i])});
  }
  return one_sample_t(difference, mu, alternative, conf, largest);
}

Result<TTest> student_t(const Moments& first, const Moments& second, double mu, Alternative alternative,
                        double conf) {
  STAB_CHECK_OK(check_counts(first, second, "student"));
  const auto n1 = static_cast<double>(first.n), n2 = static_cast<double>(second.n);
  const double df = n1 + n2 - 2;
  const double standard_error = std::sqrt((first.m2 + second.m2) / df * (1 / n1 + 1 / n2));
  if (!(standard_error > 0)) return no_spread("values of each group");
  return t_test_of(first.mean - second.mean, standard_error, df, mu, alternative, conf);
}

Result<TTest> welch_t(const Moments& first, const Moments& second, double mu, Alternative alternative,
                      double conf) {
  const WeightedCell cells[] = {{first, 1}, {second, -1}};
  return welch_contrast(cells, mu, alternative, conf);
}

Result<TTest> welch_contrast(std::span<const WeightedCell> cells, double mu, Alternative alternative,
                             double conf) {
  double estimate = 0;
  VarianceSum variance;
  for (const WeightedCell& cell : cells) {
    if (cell.moments.n < 2)
      return bad_input("welch needs at least 2 values in each group, got " + std::to_string(cell.moments.n) +
                       "; add replicates");
    estimate += cell.coefficient * cell.moments.mean;
    variance.add(cell.coefficient * cell.coefficient * cell.moments.variance() / static_cast<double>(cell.moments.n),
                 static_cast<double>(cell.moments.n - 1));
  }
  if (!(variance.sum() > 0)) return no_spread("values of each group");
  return t_test_of(estimate, std::sqrt(variance.sum()), variance.df(), mu, alternative, conf);
}

namespace {

Result<Tost> tost_of(const Result<TTest>& test, double low, double high, double alpha) {
  if (!test) return test.error();
  if (!(low < high)) return bad_input("the equivalence bounds must be low < high");
  Tost result;
  const double conf = 1 - alpha;
  result.above_low = t_test_of(test->estimate, test->standard_error, test->df, low, Alternative::kGreater, conf);
  result.below_high = t_test_of(test->estimate, test->standard_error, test->df, high, Alternative::kLess, conf);
  result.p_value = std::max(result.above_low.p_value, result.below_high.p_value);
  result.conf_low = *result.above_low.conf_low;
  result.conf_high = *result.below_high.conf_high;
  return result;
}

}  // namespace

Result<Tost> tost(const Moments& first, const Moments& second, double low, double high, double alpha,
                  VarianceAssumption assumption) {
  const auto kTwoSided = Alternative::kTwoSided;
  if (assumption == VarianceAssumption::kEqual)
    return tost_of(student_t(first, second, 0, kTwoSided, 1 - alpha), low, high, alpha);
  return tost_of(welch_t(first, second, 0, kTwoSided, 1 - alpha), low, high, alpha);
}

Result<Tost> tost_one_sample(std::span<const double> values, double low, double high, double alpha, double rounded_at) {
  return tost_of(one_sample_t(values, 0, Alternative::kTwoSided, 1 - alpha, rounded_at), low, high, alpha);
}

}  // namespace stab::statistics
