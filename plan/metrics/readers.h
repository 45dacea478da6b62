// One reader for each format. They get texts within the limits of metrics.h, not empty.
#pragma once

#include "plan/metrics/metrics.h"

namespace stab::metrics {

// formats.cc: what one process has measured.
std::vector<ProcessTime> times_of_one_process(const std::vector<Metric>& metrics);

// json_formats.cc
Result<std::vector<Metric>> read_google_benchmark(std::string_view text);
Result<std::vector<ProcessTime>> read_google_benchmark_processes(std::string_view text);
Result<std::vector<Metric>> read_jmh(std::string_view text);
Result<std::vector<ProcessTime>> read_jmh_forks(std::string_view text);
Result<std::vector<Metric>> read_pytest_benchmark(std::string_view text);
// a file for each tool
Result<std::vector<Metric>> read_asv(std::string_view text);
Result<std::vector<ProcessTime>> read_asv_processes(std::string_view text);
Result<std::vector<Metric>> read_benchmark_dotnet(std::string_view text);
Result<std::vector<ProcessTime>> read_benchmark_dotnet_launches(std::string_view text);
Result<std::vector<Metric>> read_catch2(std::string_view text);
Result<std::vector<Metric>> read_criterion(std::string_view text);
Result<std::vector<Metric>> read_ctest(std::string_view text);
Result<std::vector<Metric>> read_go(std::string_view text);
Result<std::vector<Metric>> read_hyperfine(std::string_view text);
Result<std::vector<ProcessTime>> read_hyperfine_runs(std::string_view text);
Result<std::vector<Metric>> read_lnt(std::string_view text);
Result<std::vector<ProcessTime>> read_lnt_runs(std::string_view text);
Result<std::vector<Metric>> read_perf_stat(std::string_view text);
Result<std::vector<ProcessTime>> read_perf_stat_events(std::string_view text);
Result<std::vector<Metric>> read_pyperf(std::string_view text);
Result<std::vector<ProcessTime>> read_pyperf_runs(std::string_view text);
// text_formats.cc
Result<std::vector<Metric>> read_csv(std::string_view text);

}  // namespace stab::metrics
