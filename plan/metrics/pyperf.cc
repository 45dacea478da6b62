// pyperf's JSON: docs/api.rst and pyperf/_bench.py. A run is a process; those that calibrate have warmups alone. What runs and
// benchmarks share stands once, in the metadata of what holds them.
#include "plan/metrics/collected.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

// Of the benchmark, else of the file.
std::string metadata_of(const json& benchmark, const json& root, const char* name) {
  for (const json* of : {&benchmark, &root}) {
    const json* metadata = member(*of, "metadata");
    const json* found = metadata ? member(*metadata, name) : nullptr;
    if (found && found->is_string()) return found->get<std::string>();
  }
  return "";
}

// use(name, means of the processes that have values)
template <typename Use>
Status for_each_benchmark(std::string_view text, const Use& use) {
  STAB_TRY(const json root, parse_json(text));
  STAB_TRY(const json* benchmarks, list_of(root, "benchmarks", "the file"));
  std::vector<std::string> names;
  for (size_t i = 0; i < benchmarks->size(); ++i) {
    const json& one = (*benchmarks)[i];
    const std::string name = metadata_of(one, root, "name");
    if (name.empty()) return lacks(benchmark_at(i) + "'s metadata", "name", "a string");
    const std::string unit = metadata_of(one, root, "unit");
    names.push_back(name);
    if (!unit.empty() && unit != "second") continue;  // bytes and counts
    STAB_TRY(const json* runs, list_of(one, "runs", "'" + name + "'"));
    std::vector<double> means;
    for (size_t run = 0; run < runs->size(); ++run) {
      const json* values = member((*runs)[run], "values");
      if (!values) continue;
      const std::string which = "'" + name + "', run " + std::to_string(run + 1);
      if (!values->is_array()) return bad_input(which + ": expected a list of 'values'");
      STAB_TRY(const std::optional<double> mean, mean_of(*values, which));
      if (mean) means.push_back(*mean);
    }
    STAB_CHECK_OK(use(name, means));
  }
  return check_apart(names, "write a file for each run of pyperf");
}

}  // namespace

Result<std::vector<Metric>> read_pyperf(std::string_view text) {
  Collected out;
  STAB_CHECK_OK(for_each_benchmark(text, [&](const std::string& name, const std::vector<double>& means) -> Status {
    if (means.empty()) return out.add_failed(name, "it has no values");
    for (const double mean : means) STAB_CHECK_OK(out.add(name, mean));
    return {};
  }));
  return out.take();
}

Result<std::vector<ProcessTime>> read_pyperf_runs(std::string_view text) {
  ProcessList out;
  STAB_CHECK_OK(for_each_benchmark(text, [&](const std::string& name, const std::vector<double>& means) -> Status {
    if (means.empty()) return bad_input("'" + name + "' has no values");
    for (const double mean : means) STAB_CHECK_OK(out.add({name, name, {}}, mean));
    return {};
  }));
  return out.take();
}

}  // namespace stab::metrics
