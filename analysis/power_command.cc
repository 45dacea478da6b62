// `stabctl plan power`: how many replicates settle a question as large as the margin, from what a pilot knows of the
// spread. A contrast's standard error shrinks with the root of the replicates; degrees of freedom are large enough
// at the sizes in question for the normal approximation.
#include <algorithm>
#include <cmath>

#include "analysis/commands.h"
#include "analysis/distributions.h"
#include "analysis/finding.h"
#include "analysis/report.h"

namespace stab::analysis {
namespace {

// Replicates at which `standard_error`, had at n, fits z times into the margin.
uint64_t needed(const Contrast& contrast, double margin, double z) {
  const double ratio = z * contrast.standard_error / margin;
  return std::max<uint64_t>(2, static_cast<uint64_t>(std::ceil(static_cast<double>(contrast.n) * ratio * ratio)));
}

}  // namespace

CommandOutput run_power(const Samples& pilot, const PowerOptions& options) {
  if (!(options.power > 0 && options.power < 1)) return refused(bad_input("the power must lie between 0 and 1"));
  Samples samples = pilot;
  if (options.margin && !samples.responses.empty()) samples.responses[0].margin = *options.margin;
  const Result<Report> report = analyse(samples);
  if (!report) return refused(report.error());
  const Response& primary = report->responses[0];
  const double margin = primary.scale == Scale::kLog ? std::log1p(primary.margin) : primary.margin;
  if (!(margin > 0)) return refused(bad_input("the plan declares no margin; say margin = \"1%\", or --margin"));
  const double z_change = normal_quantile(1 - report->alpha / 2) + normal_quantile(options.power);
  const double z_same = normal_quantile(1 - report->alpha) + normal_quantile((1 + options.power) / 2);
  std::vector<Finding> rows;
  uint64_t most = 0;
  for (const Contrast& contrast : report->contrasts) {
    if (contrast.response != primary.name || contrast.workload.empty() || !contrast.refused.empty()) continue;
    Finding row;
    const uint64_t change = needed(contrast, margin, z_change), same = needed(contrast, margin, z_same);
    row.add(report->workload_word, contrast.workload).add("factor", contrast.factor);
    row.add("contrast", contrast.level + " / " + contrast.baseline).add_count("pilot_n", contrast.n);
    row.add("standard_error", contrast.standard_error);
    row.add_count("replicates_for_change", change).add_count("replicates_for_equivalence", same);
    most = std::max({most, change, same});
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return refused(bad_input("the pilot holds no contrast with an error of its own; give it replicates"));
  Finding finding;
  finding.add("response", primary.name).add("margin", primary.margin).add("alpha", report->alpha);
  finding.add("power", options.power).add_count("replicates", most);
  finding.add("contrasts", std::move(rows));
  return {options.json ? finding.json() : finding.text(options.width), "", 0};
}

}  // namespace stab::analysis
