// The pure part of `stabctl trend`: a series of experiments in, a table of its levels out.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/answers/command_output.h"
#include "analysis/report/contrasts/trend.h"
#include "base/result.h"

namespace stab::commands {

struct TrendOptions {
  std::string series;
  report::TrendRequest request;
  std::vector<std::string> left_out;  // of the series, before any analysis
  bool json = false;
  bool full = false;  // each workload's table, not the first alone
  int width = 100;
  bool colour = false;
};

// What lies between the sessions of a line, and whether its intervals allow for it.
std::string between_sessions_text(const report::Trend& trend, const report::TrendLine& line);

// That its experiments contradict each other more than their errors explain; empty: they don't.
std::string contradiction_text(const report::TrendLine& line);

// kBadInput: there is no trend, and why.
Result<report::Trend> made_trend(const std::vector<report::SeriesPart>& parts, const TrendOptions& options);
// Exit code 0 whatever has changed.
CommandOutput trend_output(const report::Trend& trend, const TrendOptions& options);
// What is left out before the analysis and by it.
std::vector<std::string> all_left_out(const report::Trend& trend, const TrendOptions& options);

// All at once. Exit code 2: there is no trend, and why.
CommandOutput run_trend(const std::vector<report::SeriesPart>& parts, const TrendOptions& options);

}  // namespace stab::commands
