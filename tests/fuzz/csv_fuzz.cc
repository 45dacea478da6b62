// Whatever text comes in as CSV: no crash, no hang; either a refusal in words or columns that hold their
// invariants and can be analysed without a NaN.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/commands/table/csv.h"
#include "analysis/statistics/diagnostics/normality.h"
#include "analysis/statistics/models/anova.h"

namespace {

using namespace stab::commands;
using namespace stab::statistics;

void demand(bool condition) {
  if (!condition) std::abort();
}

void check_message(const stab::Error& error) {
  demand(!error.text().empty());
  for (char c : error.message) demand(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const CsvText csv = CsvText::of(std::string(reinterpret_cast<const char*>(data), size), "fuzz.csv");
  const auto names = csv_header(csv);
  if (!names) {
    check_message(names.error());
    return 0;
  }
  // The first column as numbers, up to three more as levels.
  std::vector<CsvRequest> requests{{names->front(), CsvKind::kNumber}};
  for (size_t i = 1; i < names->size() && i < 4; ++i) requests.push_back({(*names)[i], CsvKind::kLevel});
  const auto columns = read_csv(csv, requests);
  if (!columns) {
    check_message(columns.error());
    return 0;
  }
  const std::vector<double>& values = columns->front().numbers;
  demand(!values.empty());
  for (double value : values) demand(std::isfinite(value));
  FactorCodes factors;
  for (size_t c = 1; c < columns->size(); ++c) {
    const CsvColumn& column = (*columns)[c];
    demand(column.codes.size() == values.size());
    for (uint32_t code : column.codes) demand(code < column.levels.size());
    if (column.levels.size() > 30) return 0;
    factors.names.push_back(column.name);
    factors.level_names.push_back(column.levels);
    factors.codes.push_back(column.codes);
  }
  if (const auto shapiro = shapiro_wilk(values)) demand(std::isfinite(shapiro->statistic) && std::isfinite(shapiro->p_value));
  if (factors.names.empty()) return 0;
  const auto rows = factorial_anova(aggregate(factors, values), crossed_terms((TermMask{1} << factors.names.size()) - 1),
                                    SumsType::kTwo);
  if (!rows) {
    check_message(rows.error());
    return 0;
  }
  for (const AnovaRow& row : *rows) demand(std::isfinite(row.sum_squares) && (!row.p_value || std::isfinite(*row.p_value)));
  return 0;
}
