// Windows of virtual speedup as CSV, a row each: what `stabctl stats causal` reads. docs/reference/stats.md has the columns.
#pragma once

#include "analysis/causal_report/causal_data.h"
#include "analysis/commands/table/csv.h"
#include "base/result.h"

namespace stab::commands {

// Refuses, beside what read_csv() does: a missing column, a word that isn't one of ours, a count that isn't whole, a row that
// contradicts another of its trial, more than 100000 lines x points.
Result<causal_report::CausalData> causal_data_of(const CsvText& csv);

}  // namespace stab::commands
