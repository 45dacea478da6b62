// BenchmarkDotNet's JSON, full or brief: src/BenchmarkDotNet/Exporters/Json. Times are nanoseconds for one operation. A launch is
// a process; only the full file lists what each launch has measured.
#include <map>

#include "plan/metrics/collected.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

constexpr char kFailed[] = "it has no 'Statistics': it failed";

// "N=1000&Kind=fast"
std::vector<Parameter> parameters_in(std::string text) {
  std::vector<Parameter> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string one = text.substr(0, end);
    text.erase(0, std::min(end + 1, text.size()));
    const size_t equals = one.find('=');
    if (equals != std::string::npos) out.push_back({one.substr(0, equals), one.substr(equals + 1)});
  }
  return out;
}

// "Sorting.Quick: ShortRun(LaunchCount=3) [N=1000]": "ShortRun(LaunchCount=3)".
std::string job_of(const std::string& display) {
  const size_t colon = display.find(": ");
  if (colon == std::string::npos) return "";
  const std::string rest = display.substr(colon + 2);
  return rest.substr(0, rest.rfind(" ["));
}

struct DotNetResult {
  BenchmarkName name;
  const json* one = nullptr;
};

// They point into the root. Jobs are told apart by their names where several measure one method.
Result<std::vector<DotNetResult>> results_of(const json& root) {
  STAB_TRY(const json* list, list_of(root, "Benchmarks", "the file"));
  std::vector<DotNetResult> results;
  std::map<std::string, size_t> times;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& one = (*list)[i];
    STAB_TRY(const std::string type, text_of(one, "Type", benchmark_at(i)));
    STAB_TRY(const std::string method, text_of(one, "Method", benchmark_at(i)));
    const json* space = member(one, "Namespace");
    const json* parameters = member(one, "Parameters");
    std::string name = space && space->is_string() && *space != "" ? space->get<std::string>() + "." : "";
    name += type + "." + method;
    results.push_back({with_parameters(std::move(name), parameters && parameters->is_string() ? parameters_in(*parameters)
                                                                                              : std::vector<Parameter>()),
                       &one});
    ++times[results.back().name.full];
  }
  std::vector<std::string> names;
  for (DotNetResult& result : results) {
    const json* display = member(*result.one, "DisplayInfo");
    if (times[result.name.full] > 1 && display && display->is_string()) {
      std::vector<Parameter> parameters = std::move(result.name.parameters);
      parameters.insert(parameters.begin(), {"job", job_of(*display)});
      result.name = with_parameters(std::move(result.name.plain), std::move(parameters));
    }
    names.push_back(result.name.full);
  }
  STAB_CHECK_OK(check_apart(names, "write a file for each run of BenchmarkDotNet"));
  return results;
}

// The seconds of its launches; nothing: the file doesn't list them.
Result<std::vector<double>> launches_of(const json& one, const std::string& whose) {
  struct Sum {
    double nanoseconds = 0, operations = 0;
  };
  std::map<double, Sum> launches;
  const json* measurements = member(one, "Measurements");
  if (!measurements || !measurements->is_array()) return std::vector<double>();
  for (const json& measured : *measurements) {
    const json* mode = member(measured, "IterationMode");
    const json* stage = member(measured, "IterationStage");
    if (!mode || !stage || *mode != "Workload" || *stage != "Result") continue;  // warmups, overheads, pilots
    STAB_TRY(const double launch, number_of(measured, "LaunchIndex", whose + "'s measurement"));
    STAB_TRY(const double nanoseconds, number_of(measured, "Nanoseconds", whose + "'s measurement"));
    STAB_TRY(const double operations, number_of(measured, "Operations", whose + "'s measurement"));
    launches[launch].nanoseconds += nanoseconds;
    launches[launch].operations += operations;
  }
  std::vector<double> out;
  for (const auto& [launch, sum] : launches) {
    if (!(sum.operations > 0)) return bad_input(whose + " has a launch without operations");
    out.push_back(sum.nanoseconds / sum.operations * 1e-9);
  }
  return out;
}

// Nothing: the benchmark failed.
Result<std::optional<double>> mean_seconds(const json& one, const std::string& whose) {
  const json* statistics = member(one, "Statistics");
  if (!statistics || statistics->is_null()) return std::optional<double>();
  STAB_TRY(const double mean, number_of(*statistics, "Mean", whose + "'s Statistics"));
  return std::optional<double>(mean * 1e-9);
}

}  // namespace

Result<std::vector<Metric>> read_benchmark_dotnet(std::string_view text) {
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const std::vector<DotNetResult> results, results_of(root));
  Collected out;
  for (const DotNetResult& one : results) {
    STAB_TRY(const std::optional<double> seconds, mean_seconds(*one.one, "'" + one.name.full + "'"));
    STAB_CHECK_OK(seconds ? out.add(one.name.full, *seconds)
                          : out.add_failed(one.name.full, kFailed));
  }
  return out.take();
}

Result<std::vector<ProcessTime>> read_benchmark_dotnet_launches(std::string_view text) {
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const std::vector<DotNetResult> results, results_of(root));
  ProcessList out;
  for (const DotNetResult& one : results) {
    const std::string whose = "'" + one.name.full + "'";
    STAB_TRY(const std::vector<double> launches, launches_of(*one.one, whose));
    for (const double seconds : launches) STAB_CHECK_OK(out.add(one.name, seconds));
    if (!launches.empty()) continue;
    STAB_TRY(const std::optional<double> mean, mean_seconds(*one.one, whose));
    STAB_CHECK_OK(mean ? out.add(one.name, *mean) : out.add_failed(one.name, kFailed));
  }
  return out.take();
}

}  // namespace stab::metrics
