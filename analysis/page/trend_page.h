// The trend of a series as a page: one file without a script, light or dark as the reader's system is.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/contrasts/trend.h"
#include "analysis/statistics/looks/between_sessions.h"

namespace stab::page {

// What one session of a logbook has found of one question: an A/A control, or a gate of a stream.
struct LoggedFinding {
  std::string day, machine;
  std::string workload, response;
  statistics::SessionDifference found;  // of logarithms, above 0 where the head is worse
  // Of a gate alone, of its pair of commits by all gates of it: the logarithm of the evidence, and whether it was called worse.
  std::string stream, base, head;
  double log_e = 0;
  bool called = false;
};

// What is told beside the trend itself.
struct TrendPage {
  std::string series;
  std::vector<std::string> left_out;           // of the series, and why
  std::string command;                         // makes the page again
  std::vector<LoggedFinding> controls, gates;  // of a logbook, in the order in which they came; empty: none was named
};

std::string render_trend(const report::Trend& trend, const TrendPage& about);

}  // namespace stab::page
