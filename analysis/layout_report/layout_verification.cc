// A link is one place of everything, so over random links the link is the unit, however often each has run. Runs of one binary
// are units only of a question about that binary.
#include "analysis/layout_report/layout_verification.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/report/contrasts/judged_contrast.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/families/multiplicity.h"
#include "analysis/statistics/two_samples/t_tests.h"

namespace stab::layout_report {
namespace {

constexpr uint32_t kAsLinked = 0;

// The logarithms of one build's trials; of a throughput with their sign turned, so that less is better.
struct Build {
  std::map<uint32_t, std::vector<double>> of_link;  // with code that stays
  std::vector<double> moving;
};

std::optional<size_t> factor_named(const report::Samples& samples, const std::string& name) {
  for (size_t f = 0; f < samples.factors.size(); ++f)
    if (samples.factors[f].name == name) return f;
  return std::nullopt;
}

Result<std::vector<Build>> builds_of(const report::Samples& samples, size_t file_factor) {
  std::vector<Build> out(samples.factors[file_factor].levels.size());
  const double sign = samples.responses[0].higher_is_better ? -1 : 1;
  for (const report::Trial& trial : samples.trials) {
    if (!report::answers(samples, trial) || !trial.values[0]) continue;
    if (!(*trial.values[0] > 0))
      return bad_input("response '" + samples.responses[0].name + "' has a value that is not above 0, so builds have no ratio");
    const double value = sign * std::log(*trial.values[0]);
    Build& build = out[trial.levels[file_factor]];
    if (trial.fixed_code) build.of_link[static_cast<uint32_t>(trial.layout)].push_back(value);  // layout_id of plan/design.h
    else build.moving.push_back(value);
  }
  return out;
}

std::vector<double> random_link_means(const Build& build) {
  std::vector<double> out;
  for (const auto& [link, values] : build.of_link)
    if (link != kAsLinked) out.push_back(statistics::mean(values));
  return out;
}

std::vector<double> as_linked(const Build& build) {
  const auto at = build.of_link.find(kAsLinked);
  return at == build.of_link.end() ? std::vector<double>() : at->second;
}

// Differences of simulated runs of one binary are rounding of their mean.
bool is_constant(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return std::fabs(value - values[0]) < 1e-13; });
}

BuildRatio compare(const std::vector<double>& plain, const std::vector<double>& file, const report::Samples& samples) {
  BuildRatio out;
  out.plain_count = plain.size();
  out.file_count = file.size();
  if (plain.empty() || file.empty()) {
    out.refused = "nothing was recorded";
    return out;
  }
  if (is_constant(plain) && is_constant(file)) {
    if (!samples.simulated.empty()) {
      out.is_exact = true;
      const double ratio = std::exp(file[0] - plain[0]);
      out.ratio = {ratio, ratio, ratio};
      return out;
    }
  }
  if (plain.size() < 2 || file.size() < 2) {
    out.refused = "one value on a side has no error";
    return out;
  }
  const double margin = std::log1p(samples.responses[0].margin);
  const Result<statistics::TTest> test = statistics::welch_t(statistics::moments(file), statistics::moments(plain), 0,
                                                             statistics::Alternative::kTwoSided, 1 - samples.alpha);
  if (!test) {
    out.refused = test.error().message;
    return out;
  }
  out.ratio = {std::exp(test->estimate), std::exp(*test->conf_low), std::exp(*test->conf_high)};
  out.p_value = test->p_value;
  out.p_equivalence = std::max(statistics::t_upper((margin - test->estimate) / test->standard_error, test->df),
                               statistics::t_upper((test->estimate + margin) / test->standard_error, test->df));
  return out;
}

// Pooled over links: what means of so many runs differ by, by the runs alone.
double noise_of_means(const Build& build) {
  double m2 = 0, runs = 0;
  uint64_t df = 0, links = 0;
  for (const auto& [link, values] : build.of_link) {
    if (link == kAsLinked) continue;
    const statistics::Moments of = statistics::moments(values);
    m2 += of.m2;
    df += of.n - 1;
    runs += static_cast<double>(of.n);
    ++links;
  }
  return df == 0 ? 0 : std::sqrt(m2 / static_cast<double>(df) / (runs / static_cast<double>(links)));
}

LinkSpread spread_of(const Build& plain, const Build& file, double alpha) {
  LinkSpread out;
  const std::vector<double> plain_means = random_link_means(plain), file_means = random_link_means(file);
  if (plain_means.size() < 2 || file_means.size() < 2) {
    out.refused = "a spread needs two random links on each side";
    return out;
  }
  const statistics::Moments of_plain = statistics::moments(plain_means), of_file = statistics::moments(file_means);
  out.plain_sd = of_plain.sd();
  out.file_sd = of_file.sd();
  out.plain_noise = noise_of_means(plain);
  out.file_noise = noise_of_means(file);
  if (is_constant(plain_means)) out.refused = "random links of the plain build don't differ";
  else out.ratio = ratio_of_spreads(of_file, of_plain, alpha);
  return out;
}

struct OverFiles {
  std::vector<double> change, equivalence;  // p by file, after Holm over the files
};

OverFiles over_files(const std::vector<VerifiedFile>& files, BuildRatio VerifiedFile::* ratio) {
  OverFiles out;
  for (const VerifiedFile& file : files) {
    out.change.push_back((file.*ratio).p_value);
    out.equivalence.push_back((file.*ratio).p_equivalence);
  }
  return {statistics::holm(out.change), statistics::holm(out.equivalence)};
}

// Over the files, as verdicts are: whether any of them is said to vanish or to remain wrongly.
void judge_moving(const report::Samples& samples, std::vector<VerifiedFile>& files) {
  const OverFiles p = over_files(files, &VerifiedFile::moving);
  const double margin = samples.responses[0].margin;
  for (size_t i = 0; i < files.size(); ++i) {
    const BuildRatio& moving = files[i].moving;
    if (samples.incomplete || !moving.refused.empty()) continue;
    if (moving.is_exact)
      files[i].vanishes = std::fabs(moving.ratio.estimate - 1) <= margin ? Vanishes::kYes : Vanishes::kNo;
    else if (p.equivalence[i] <= samples.alpha) files[i].vanishes = Vanishes::kYes;
    else if (p.change[i] <= samples.alpha) files[i].vanishes = Vanishes::kNo;
  }
}

void judge(const report::Samples& samples, std::vector<VerifiedFile>& files) {
  const OverFiles p = over_files(files, &VerifiedFile::links);
  const double margin = std::log1p(samples.responses[0].margin);
  for (size_t i = 0; i < files.size(); ++i) {
    VerifiedFile& file = files[i];
    file.p_holm = p.change[i];
    file.p_equivalence_holm = p.equivalence[i];
    if (samples.incomplete || !file.links.refused.empty()) continue;
    if (file.links.is_exact) {
      file.verdict =
          std::fabs(std::log(file.links.ratio.estimate)) <= margin ? report::Verdict::kEquivalent : report::Verdict::kChanged;
      continue;
    }
    file.verdict = report::verdict_of(std::log(file.links.ratio.low), std::log(file.links.ratio.high), margin,
                              file.p_equivalence_holm <= samples.alpha, file.p_holm <= samples.alpha);
  }
}

}  // namespace

report::Interval ratio_of_spreads(const statistics::Moments& file, const statistics::Moments& plain, double alpha) {
  const double ratio = file.variance() / plain.variance();
  const double df_file = static_cast<double>(file.n - 1), df_plain = static_cast<double>(plain.n - 1);
  return {std::sqrt(ratio), std::sqrt(ratio / statistics::f_quantile_upper(alpha / 2, df_file, df_plain)),
          std::sqrt(ratio * statistics::f_quantile_upper(alpha / 2, df_plain, df_file))};
}

Result<LayoutVerificationReport> verify_layouts(const report::Samples& samples, const std::string& file_factor) {
  const std::optional<size_t> factor = factor_named(samples, file_factor), code = factor_named(samples, "code");
  if (!factor || !code || samples.factors[*factor].levels.size() < 2 || samples.factors[*code].levels.size() != 2 ||
      samples.workloads.size() != 1)
    return bad_input("experiment '" + samples.experiment +
                     "' verifies no layout file; 'stabctl layout verify' makes one that does");
  STAB_TRY(const std::vector<Build> builds, builds_of(samples, *factor));
  LayoutVerificationReport out;
  out.experiment = samples.experiment;
  out.workload = samples.workloads[0];
  out.response = samples.responses[0].name;
  out.moving_code = samples.factors[*code].levels[1];
  out.alpha = samples.alpha;
  out.margin = samples.responses[0].margin;
  out.simulated = !samples.simulated.empty();
  out.incomplete = samples.incomplete;
  const Build& plain = builds[0];
  for (size_t level = 1; level < builds.size(); ++level) {
    VerifiedFile file;
    file.name = samples.factors[*factor].levels[level];
    file.links = compare(random_link_means(plain), random_link_means(builds[level]), samples);
    file.as_linked = compare(as_linked(plain), as_linked(builds[level]), samples);
    file.moving = compare(plain.moving, builds[level].moving, samples);
    file.spread = spread_of(plain, builds[level], samples.alpha);
    out.files.push_back(std::move(file));
  }
  judge(samples, out.files);
  judge_moving(samples, out.files);
  return out;
}

}  // namespace stab::layout_report
