// Parameters of imported benchmarks as factors: "sort" at size 8 and 64, measured by two builds, is one question of the build,
// asked at both sizes, and one of the size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/imports/imported_times.h"

namespace stab::commands {

// One parameter that varies; levels in the order of the files, whose first is the baseline.
struct ImportedFactor {
  std::string name;
  std::vector<std::string> levels;
};

// Those of all benchmarks, where each benchmark has all of their combinations on each side; else nothing, and what parameters
// there are stays a part of the names. Parameters with one value are no factors.
std::optional<std::vector<ImportedFactor>> factors_of(const std::vector<ImportedSide>& sides);

// The report. A process is a unit: what it measured at several values of a parameter shares what disturbed it.
CommandOutput run_with_factors(const std::vector<ImportedSide>& sides, const std::vector<ImportedFactor>& factors, double margin,
                               const ReportOptions& options);

}  // namespace stab::commands
