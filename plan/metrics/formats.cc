// The table of formats, and what holds for all of them.
#include <algorithm>

#include "plan/metrics/metrics.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {

const std::vector<Format>& formats() {
  static const std::vector<Format> table = {
      {"google-benchmark", "Google Benchmark's --benchmark_format=json", read_google_benchmark, read_google_benchmark_processes},
      {"hyperfine", "hyperfine's --export-json or --export-csv", read_hyperfine, read_hyperfine_runs},
      {"criterion", "cargo criterion's --message-format=json, what 'cargo bench' prints, or target/criterion", read_criterion,
       nullptr, "target/criterion", OwnPlace::kCriterion},
      {"jmh", "JMH's -rf json", read_jmh, read_jmh_forks},
      {"pytest-benchmark", "pytest's --benchmark-json, or .benchmarks", read_pytest_benchmark, nullptr, ".benchmarks",
       OwnPlace::kNewest, ".json"},
      {"lnt", "LNT's report file, format 2, or a run of its server", read_lnt, read_lnt_runs},
      {"go", "go test -bench, with or without -json", read_go},
      {"csv", "columns 'name' and 'value', and 'unit' where it isn't seconds", read_csv},
      {"pyperf", "pyperf's -o out.json", read_pyperf, read_pyperf_runs},
      {"asv", "airspeed velocity's results, version 2", read_asv, read_asv_processes, ".asv/results", OwnPlace::kNewest, ".json"},
      {"benchmark-dotnet", "BenchmarkDotNet's -e fulljson", read_benchmark_dotnet, read_benchmark_dotnet_launches,
       "BenchmarkDotNet.Artifacts/results", OwnPlace::kAll, ".json"},
      {"catch2", "Catch2's -r xml, or what it prints", read_catch2},
      {"ctest", "CTest's --output-junit, or LastTest.log", read_ctest, nullptr, "Testing/Temporary/LastTest.log"},
      {"perf-stat", "perf stat -x,", read_perf_stat, read_perf_stat_events},
  };
  return table;
}

const Format* format_named(std::string_view name) {
  const auto at = std::find_if(formats().begin(), formats().end(), [&](const Format& format) { return format.name == name; });
  return at == formats().end() ? nullptr : &*at;
}

namespace {

// What a reader sees of it. Spreadsheets and PowerShell begin UTF-8 with a mark; the '>' of older PowerShells writes UTF-16.
Result<std::string_view> text_for_reader(const Format& format, std::string_view text) {
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  if (text.size() > kMostBytes)
    return bad_input("it has more than " + std::to_string(kMostBytes) +
                     " bytes, and no more are read; write fewer benchmarks to a file");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return bad_input("it is UTF-16, as PowerShell's '>' writes; turn it into UTF-8: iconv -f UTF-16 -t UTF-8");
  if (text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return bad_input("it is empty; expected " + std::string(format.what));
  return text;
}

Error no_benchmark(const Format& format) {
  return {ErrorCode::kBadInput, "it has no benchmark; expected " + std::string(format.what), {}};
}

}  // namespace

Result<std::vector<Metric>> read(const Format& format, std::string_view given) {
  STAB_TRY(const std::string_view text, text_for_reader(format, given));
  STAB_TRY(std::vector<Metric> metrics, format.read(text));
  if (metrics.empty()) return no_benchmark(format);
  return metrics;
}

std::vector<ProcessTime> times_of_one_process(const std::vector<Metric>& metrics) {
  std::vector<ProcessTime> times;
  for (const Metric& metric : metrics) {
    times.push_back({metric.name, 0, metric.seconds.value_or(0)});
    times.back().failure = metric.reason;
  }
  return times;
}

Result<std::vector<ProcessTime>> read_processes(const Format& format, std::string_view given) {
  std::vector<ProcessTime> times;
  if (format.read_processes) {
    STAB_TRY(const std::string_view text, text_for_reader(format, given));
    STAB_TRY(times, format.read_processes(text));
    if (times.empty()) return no_benchmark(format);
  } else {
    STAB_TRY(const std::vector<Metric> metrics, read(format, given));
    times = times_of_one_process(metrics);
  }
  return times;
}

}  // namespace stab::metrics
