// The runs of one command that was timed, as plain numbers, and hyperfine's file of several such.
#pragma once

#include <string>
#include <vector>

namespace stab::commands {

// invariant: user, system and exit_codes have as many as times
struct TimedRuns {
  std::string command;
  std::vector<double> times;  // seconds, by the clock that judges, in the order in which they ran
  std::vector<double> user, system;
  std::vector<int> exit_codes;
};

struct RunSummary {
  size_t n = 0;
  double mean = 0, sd = 0, median = 0, least = 0, most = 0, user = 0, system = 0;  // sd 0: one run
};
// pre: at least one run
RunSummary summary_of(const TimedRuns& runs);

// What `hyperfine --export-json` writes; a command without a run is left out.
std::string hyperfine_json(const std::vector<TimedRuns>& commands);

}  // namespace stab::commands
