// airspeed velocity's results, .asv/results/MACHINE/COMMIT-ENVIRONMENT.json of version 2: asv/results.py.
//
// Each benchmark is a row, whose fields 'result_columns' names. Its result is a list, one value for each combination of its
// parameters, the last of which runs fastest; null is a failure, NaN what was skipped. Units are in another file, so the names
// that asv demands tell times: time_NAME, timeraw_NAME and TimeNAME.
#include <algorithm>

#include "plan/metrics/collected.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

// "suite.Sorting.time_quick"
bool is_time(const std::string& name) {
  const std::string last = name.substr(name.rfind('.') + 1);
  return last.starts_with("time_") || last.starts_with("timeraw_") || last.starts_with("Time");
}

// The combination of this index. parameters: a list of values for each of them; asv calls those without a name param1, param2
Result<std::vector<Parameter>> combination(const json& parameters, size_t index, const std::string& whose) {
  std::vector<Parameter> out(parameters.size());
  for (size_t i = parameters.size(); i-- > 0;) {
    const json& values = parameters[i];
    if (!values.is_array() || values.empty()) return bad_input(whose + ": expected a list of values for each parameter");
    const json& value = values[index % values.size()];
    out[i] = {"param" + std::to_string(i + 1), value.is_string() ? value.get<std::string>() : value.dump()};
    index /= values.size();
  }
  if (index > 0) return bad_input(whose + " has more results than combinations of its parameters");
  return out;
}

// A field of a benchmark's row; null: none. Rows end before what is null.
const json* field(const json& row, const json& columns, const char* name) {
  for (size_t i = 0; i < std::min(row.size(), columns.size()); ++i)
    if (columns[i] == name) return &row[i];
  return nullptr;
}

constexpr char kNone[] = "it failed or was skipped";

struct AsvResult {
  BenchmarkName name;
  std::optional<double> seconds;  // nothing: it failed or was skipped
};

Status add_results(const std::string& name, const json& row, const json& columns, std::vector<AsvResult>& out) {
  const std::string whose = "'" + name + "'";
  if (!row.is_array()) return bad_input(whose + ": expected a list of fields; 'asv update' turns files of version 1 into such");
  const json* results = field(row, columns, "result");
  const json* parameters = field(row, columns, "params");
  const json none = json::array();
  const json& of = parameters && parameters->is_array() ? *parameters : none;
  if (!results || results->is_null()) {
    out.push_back({{name, name, {}}, {}});
    return {};
  }
  if (!results->is_array()) return lacks(whose, "result", "a list");
  for (size_t i = 0; i < results->size(); ++i) {
    const json& one = (*results)[i];
    if (!one.is_number() && !one.is_null() && one != "")
      return bad_input(whose + ", result " + std::to_string(i + 1) + " is not a number");
    STAB_TRY(std::vector<Parameter> values, combination(of, i, whose));
    out.push_back({with_parameters(name, std::move(values)), one.is_number() ? std::optional(one.get<double>()) : std::nullopt});
  }
  return {};
}

Result<std::vector<AsvResult>> results_of(std::string_view text) {
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const json* columns, list_of(root, "result_columns", "the file"));
  const json* results = member(root, "results");
  if (!results || !results->is_object()) return lacks("the file", "results", "an object");
  std::vector<AsvResult> out;
  for (const auto& [name, row] : results->items())
    if (is_time(name)) STAB_CHECK_OK(add_results(name, row, *columns, out));
  return out;
}

}  // namespace

Result<std::vector<Metric>> read_asv(std::string_view text) {
  STAB_TRY(const std::vector<AsvResult> results, results_of(text));
  Collected out;
  for (const AsvResult& one : results)
    STAB_CHECK_OK(one.seconds ? out.add(one.name.full, *one.seconds) : out.add_failed(one.name.full, kNone));
  return out.take();
}

// asv has one number for all processes of a benchmark, so the file is one process.
Result<std::vector<ProcessTime>> read_asv_processes(std::string_view text) {
  STAB_TRY(const std::vector<AsvResult> results, results_of(text));
  ProcessList out;
  for (const AsvResult& one : results)
    STAB_CHECK_OK(one.seconds ? out.add(one.name, *one.seconds, 0) : out.add_failed(one.name, kNone));
  return out.take();
}

}  // namespace stab::metrics
