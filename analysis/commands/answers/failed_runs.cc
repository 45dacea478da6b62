#include "analysis/commands/answers/failed_runs.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/text/text_table.h"

namespace stab::commands {
namespace {

double log_ways(uint64_t n, uint64_t k) { return statistics::log_choose(static_cast<double>(n), static_cast<double>(k)); }

std::string some_of(uint64_t failed, uint64_t runs) {
  return (failed == 0 ? "none" : std::to_string(failed)) + " of " + std::to_string(runs);
}

}  // namespace

double p_of_failures(const FailedRuns& runs) {
  const uint64_t failed = runs.base_failed + runs.head_failed, all = runs.base_runs + runs.head_runs;
  double p = 0;
  for (uint64_t head = runs.head_failed; head <= std::min(failed, runs.head_runs); ++head)
    if (failed - head <= runs.base_runs)
      p += std::exp(log_ways(runs.head_runs, head) + log_ways(runs.base_runs, failed - head) - log_ways(all, failed));
  return std::min(p, 1.0);
}

report::Worse worse_by_failures(const FailedRuns& runs, double alpha, size_t workloads) {
  if (runs.head_failed == 0) return report::Worse::kNo;
  if (p_of_failures(runs) * static_cast<double>(workloads) <= alpha) return report::Worse::kYes;
  return runs.base_failed == 0 ? report::Worse::kUnsure : report::Worse::kNo;
}

report::Worse worse_by_failures(const FailedByWorkload& all, double alpha) {
  report::Worse worst = report::Worse::kNo;
  for (const auto& [workload, runs] : all) {
    const report::Worse one = worse_by_failures(runs, alpha, all.size());
    if (one == report::Worse::kYes) return one;
    if (one == report::Worse::kUnsure) worst = one;
  }
  return worst;
}

std::string failures_text(const std::string& workload, const FailedRuns& runs) {
  if (runs.head_failed == 0 && runs.base_failed == 0) return {};
  return workload + ": " + some_of(runs.head_failed, runs.head_runs) + " runs of HEAD failed" +
         (runs.example.empty() ? "" : " (" + runs.example + ")") + ", and " + some_of(runs.base_failed, runs.base_runs) +
         " of BASE (p " + text::p_text(p_of_failures(runs)) + ")";
}

void write_failures(const FailedByWorkload& all, double alpha, text::JsonWriter& json) {
  const char* words[] = {"not worse", "worse", "unsure"};
  json.begin_array("failed_runs");
  for (const auto& [workload, runs] : all) {
    if (runs.head_failed == 0 && runs.base_failed == 0) continue;
    json.begin_object().value("workload", workload).value("base_failed", runs.base_failed).value("base_runs", runs.base_runs);
    json.value("head_failed", runs.head_failed).value("head_runs", runs.head_runs).value("example", runs.example);
    json.value("p_value", p_of_failures(runs));
    json.value("answer", words[static_cast<int>(worse_by_failures(runs, alpha, all.size()))]).end();
  }
  json.end();
}

}  // namespace stab::commands
