// LNT: the report that it submits, and what its server gives back.
//
// A report: docs, "Importing Data": each test with the list of its times. A server's answer to /runs/ID or /samples?runid=ID:
// lnt/server/ui/api.py: an object for each sample, with null where it has no time, and 'generated_by'.
#include "plan/metrics/collected.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

using nlohmann::json;

constexpr char kFailed[] = "its 'execution_status' says that it failed";

// A status that is 0, or not given, is good.
bool failed(const json& sample) {
  const json* status = member(sample, "execution_status");
  return status && status->is_number() && *status != 0;
}

// What each test took, each time that it ran. Tests without a time have other metrics alone.
// use(name, seconds, failed)
template <typename Use>
Status for_each_lnt_time(std::string_view text, const Use& use) {
  STAB_TRY(const json root, parse_json(text));
  const bool exported = member(root, "generated_by") != nullptr;
  const json* version = member(root, "format_version");
  if (!exported && (!version || !version->is_string() || *version != "2"))
    return bad_input("it has no 'format_version', expected \"2\"; format 1 is not read");
  const char* const key = exported && member(root, "samples") ? "samples" : "tests";
  STAB_TRY(const json* list, list_of(root, key, "the file"));
  for (size_t i = 0; i < list->size(); ++i) {
    STAB_TRY(const std::string name, text_of((*list)[i], "name", benchmark_at(i)));
    const json* times = member((*list)[i], "execution_time");
    if (!times || times->is_null()) continue;
    const json one = times->is_array() ? *times : json::array({*times});
    for (const json& time : one) {
      if (!time.is_number()) return bad_input("'" + name + "': an 'execution_time' is no number");
      STAB_CHECK_OK(use(name, time.get<double>(), failed((*list)[i])));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Metric>> read_lnt(std::string_view text) {
  Collected out;
  STAB_CHECK_OK(for_each_lnt_time(text, [&](const std::string& name, double seconds, bool has_failed) {
    return has_failed ? out.add_failed(name, kFailed) : out.add(name, seconds);
  }));
  return out.take();
}

// A sample is a run of the test's executable.
Result<std::vector<ProcessTime>> read_lnt_runs(std::string_view text) {
  ProcessList out;
  STAB_CHECK_OK(for_each_lnt_time(text, [&](const std::string& name, double seconds, bool has_failed) -> Status {
    const BenchmarkName of{name, name, {}};
    return has_failed ? out.add_failed(of, kFailed) : out.add(of, seconds);
  }));
  return out.take();
}

}  // namespace stab::metrics
