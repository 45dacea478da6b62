// On each machine a contrast is what it is in an experiment of one machine (contrasts.cc), with its own standard error and
// degrees of freedom: machines differ in their spread, and variances are never pooled. From these:
//
//   these machines         the mean of the machines' estimates; error sqrt(sum se^2) / M, Satterthwaite's df
//   machines like these    a t test on one number a machine, M - 1 df
//   do they differ         Welch's F (Welch 1951, Biometrika 38, 330, eq. 28 with w = 1 / se^2)
//   between machines       variance of the estimates less the mean of se^2: in a balanced design the ANOVA estimate, which is
//                          REML's where it is above 0 (Searle, Casella, McCulloch 1992, 3.6)
#include "analysis/report/contrasts/machines.h"

#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::report {
namespace {

struct Part {
  double estimate = 0, variance = 0, df = 0;  // on the response's scale; the variance is that of the estimate
};

using Key = std::tuple<std::string, std::string, std::string, std::string>;  // response, workload, factor, level

Samples of_machine(const Samples& samples, uint32_t machine) {
  Samples part = samples;
  part.machines.clear();
  std::erase_if(part.trials, [&](const Trial& trial) { return trial.machine != machine; });
  return part;
}
void add_heterogeneity(MachineContrast& out, const std::vector<Part>& parts, const statistics::Moments& estimates) {
  const auto machines = static_cast<double>(parts.size());
  double weights = 0, mean = 0, squares = 0, uneven = 0, within = 0;
  for (const Part& part : parts) {
    weights += 1 / part.variance;
    mean += part.estimate / part.variance;
    within += part.variance / machines;
  }
  mean /= weights;
  for (const Part& part : parts) {
    squares += (part.estimate - mean) * (part.estimate - mean) / part.variance;
    const double rest = 1 - 1 / part.variance / weights;
    uneven += rest * rest / part.df;
  }
  out.f_df1 = machines - 1;
  out.f_df2 = (machines * machines - 1) / (3 * uneven);
  out.f = squares / (machines - 1) / (1 + 2 * (machines - 2) / (machines * machines - 1) * uneven);
  out.f_p = statistics::f_upper(out.f, out.f_df1, out.f_df2);
  out.between = estimates.variance() - within;
}

// pre: each part's variance is above 0
void put_together(MachineContrast& out, const std::vector<Part>& parts, double alpha) {
  const auto machines = static_cast<double>(parts.size());
  std::vector<double> estimates;
  double variance = 0, of_variance = 0;
  for (const Part& part : parts) {
    estimates.push_back(part.estimate);
    variance += part.variance;
    of_variance += part.variance * part.variance / part.df;
  }
  const statistics::Moments moments_of = statistics::moments(estimates);
  const statistics::TTest these =
      statistics::t_test_of(moments_of.mean, std::sqrt(variance) / machines, variance * variance / of_variance, 0,
                            statistics::Alternative::kTwoSided, 1 - alpha);
  out.these = to_people(out.scale, these);
  out.these_standard_error = these.standard_error;
  out.these_df = these.df;
  out.these_p = these.p_value;
  const statistics::TTest like = statistics::t_test_of(moments_of.mean, moments_of.sd() / std::sqrt(machines), machines - 1, 0,
                                                       statistics::Alternative::kTwoSided, 1 - alpha);
  out.like_these = to_people(out.scale, like);
  out.like_standard_error = like.standard_error;
  out.like_df = like.df;
  out.like_p = like.p_value;
  add_heterogeneity(out, parts, moments_of);
  for (const double number : {out.these.low, out.these.high, out.like_these.low, out.like_these.high, out.like_p, out.f, out.f_p})
    if (!std::isfinite(number)) out.refused = "its interval is beyond what a double holds; rescale the response";
}

}  // namespace

std::vector<MachineContrast> machine_contrasts_of(const Samples& samples) {
  std::vector<MachineContrast> out;
  if (samples.machines.size() < 2) return out;
  std::map<Key, size_t> at;
  std::map<Key, std::vector<Part>> parts;
  for (uint32_t machine = 0; machine < samples.machines.size(); ++machine) {
    const Samples of = of_machine(samples, machine);
    UnitsByResponse units(of.responses.size());
    for (size_t r = 0; r < of.responses.size(); ++r)
      for (uint32_t w = 0; w < of.workloads.size(); ++w) units[r].push_back(units_of(of, w, r));
    const auto levels = levels_of(of);
    if (!levels) continue;
    for (const Contrast& contrast : contrasts_of(of, units, {*levels})) {
      if (contrast.population == Population::kLikeThese) continue;
      const Key key{contrast.response, contrast.workload, contrast.factor, contrast.level};
      const auto [place, fresh] = at.try_emplace(key, out.size());
      if (fresh) {
        MachineContrast made;
        made.response = contrast.response;
        made.workload = contrast.workload;
        made.factor = contrast.factor;
        made.level = contrast.level;
        made.baseline = contrast.baseline;
        made.scale = contrast.scale;
        out.push_back(std::move(made));
      }
      MachineContrast& whole = out[place->second];
      const std::string& name = samples.machines[machine];
      if (!contrast.refused.empty()) {
        if (whole.refused.empty()) whole.refused = name + ": " + contrast.refused;
        continue;
      }
      const double estimate = on_scale(contrast.scale, contrast.interval.estimate);
      const double variance = contrast.standard_error * contrast.standard_error;
      if (!(variance > 0) && whole.refused.empty()) whole.refused = name + ": its blocks don't vary";
      whole.machines.push_back({name, contrast.interval, contrast.n});
      parts[key].push_back({estimate, variance, contrast.df});
    }
  }
  for (MachineContrast& contrast : out) {
    const Key key{contrast.response, contrast.workload, contrast.factor, contrast.level};
    if (contrast.refused.empty() && contrast.machines.size() != samples.machines.size())
      contrast.refused = "not all machines have the cells that it compares";
    if (contrast.refused.empty()) put_together(contrast, parts[key], samples.alpha);
  }
  return out;
}

}  // namespace stab::report
