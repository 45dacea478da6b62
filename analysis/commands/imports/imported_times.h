// What stabctl import does once the files are read: sides of a comparison that somebody else measured, judged as processes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/commands/answers/command_output.h"

namespace stab::commands {

// The mean of one benchmark in one process.
struct ImportedTime {
  std::string benchmark;
  size_t process = 0;  // of its side
  double seconds = 0;  // > 0, and 0 if it failed; of a count, the count
  std::string plain{};  // the benchmark without its parameters; empty: it has none
  std::vector<std::pair<std::string, std::string>> parameters{};
  bool is_count = false;
  std::string failure{};  // why there is no time; empty: there is one
};

struct ImportedSide {
  std::string name;
  std::vector<ImportedTime> times;
};

// Parameters that all benchmarks have, with all of their combinations on each side, are factors beside the side
// (imported_factors.h); one side is enough then. The first side is the baseline. A process is a unit: what it repeats was
// averaged. A benchmark that a side has from one process, or not at all, can't be judged, nor one that failed in any process, as
// the others may be those that had less to do: it is left out, and said so; none left is an error.
// Nothing says that the sides ran in turns, so their differences hold what the machine did meanwhile; that is said, too.
CommandOutput run_import(std::vector<ImportedSide> sides, double margin, const ReportOptions& options);

}  // namespace stab::commands
