// Suites of other languages: Rust, Go, Python, .NET, LNT's server, hyperfine's table and perf.
#include "tests/unit/plan/metrics/read_text.h"

namespace stab::metrics {
namespace {

using testing::HasSubstr;

TEST(HyperfineTable, MeansAreReadWithTheirParameters) {
  constexpr char kTable[] =
      "command,mean,stddev,median,user,system,min,max,parameter_size\n"
      "\"sort -n, 8\",0.25,0.01,0.25,0.2,0.01,0.2,0.3,8\r\n"
      "sort 64,1.5,,1.5,1.4,0.01,1.4,1.6,64\n";
  const auto found = read_ok("hyperfine", kTable);
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "sort -n, 8", 0.25);
  expect_seconds(found[1], "sort 64", 1.5);
  const auto runs = processes_ok("hyperfine", kTable);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1], (ProcessTime{"sort 64", 1, 1.5, "sort 64", {{"size", "64"}}}));
}

TEST(HyperfineTable, ACommandMayHaveSeveralLines) {
  const auto found = read_ok("hyperfine", "command,mean\n\"set -e\n\tmake\",1\nb,2\n");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "set -e  make", 1);
  expect_seconds(found[1], "b", 2);
  EXPECT_THAT(refusal("hyperfine", "command,mean\n\"a\nb\",1\nc,fast\n"), HasSubstr("line 4: the mean 'fast'"));
  EXPECT_THAT(refusal("hyperfine", "command,mean\na,1\n\"b,1\nc,2\n"), HasSubstr("line 3: a quotation mark is not closed"));
}

TEST(HyperfineTable, LongCommandsKeepTheirEnds) {
  const std::string script(300, 'x'), other = script + "\u00fc";
  const auto found = read_ok("hyperfine", "command,mean\n" + script + "1,1\n" + other + "2,2\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, std::string(100, 'x') + "..." + std::string(46, 'x') + "1");
  EXPECT_EQ(found[1].name, std::string(100, 'x') + "..." + std::string(44, 'x') + "\u00fc2");
  // A letter is never cut in two.
  std::string wide;
  for (int i = 0; i < 150; ++i) wide += "\u00fc";
  const std::string shown = wide.substr(0, 100) + "..." + wide.substr(0, 46) + "!";
  EXPECT_EQ(read_ok("hyperfine", "command,mean\n" + wide + "!,1\n")[0].name, shown);
}

TEST(HyperfineTable, WhatIsDamagedIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("hyperfine", "command,median\na,1\n"), HasSubstr("line 1: expected a heading"));
  EXPECT_THAT(refusal("hyperfine", "command,mean\na\n"), HasSubstr("line 2: 1 field, and"));
  EXPECT_THAT(refusal("hyperfine", "command,mean\na,fast\n"), HasSubstr("line 2: the mean 'fast' is not a number"));
  EXPECT_THAT(refusal("hyperfine", "command,mean\na,nan\n"), HasSubstr("no time"));
  EXPECT_THAT(refusal("hyperfine", "command,mean\na,1\na,2\n"), HasSubstr("results 1 and 2 are both 'a'"));
}

// PowerShell and spreadsheets mark what they write.
TEST(AnyFormat, MarksOfByteOrderAreNoPartOfIt) {
  constexpr char kMessage[] = R"({"reason":"benchmark-complete","id":"a","mean":{"estimate":1,"unit":"ns"}})";
  constexpr char kXml[] = "<Catch2TestRun><BenchmarkResults name='a'><mean value='1'/></BenchmarkResults></Catch2TestRun>";
  const std::pair<const char*, const char*> kTexts[] = {{"hyperfine", "command,mean\r\na,1\r\n"},
                                                        {"go", "BenchmarkA 1 1 ns/op\r\n"},
                                                        {"criterion", kMessage},
                                                        {"catch2", kXml},
                                                        {"perf-stat", "1,msec,task-clock,1,100\r\n"}};
  for (const auto& [format, text] : kTexts) {
    EXPECT_EQ(read_ok(format, std::string("\xef\xbb\xbf") + text).size(), 1u) << format;
    EXPECT_THAT(refusal(format, std::string("\xff\xfe") + text), HasSubstr("it is UTF-16, as PowerShell's '>' writes")) << format;
  }
}

TEST(Criterion, ItsTextHasTheEstimateBetweenTheBounds) {
  const auto found = read_ok("criterion",
                             "Benchmarking fib 20: Analyzing\n"
                             "fib 20                  time:   [26.029 \u00b5s 26.251 \u00b5s 26.505 \u00b5s]\n"
                             "                        change: [-1.2% +0.1% +1.3%] (p = 0.9 > 0.05)\n"
                             "a group with a long name/of one function\n"
                             "                        time:   [1.1 ms 1.2 ms 1.3 ms]\n"
                             "                        thrpt:  [1.1 Kelem/s 1.2 Kelem/s 1.3 Kelem/s]\n"
                             "                 change:\n"
                             "                        time:   [-1.2% +0.1% +1.3%] (p = 0.9 > 0.05)\n");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "fib 20", 26.251e-6);
  expect_seconds(found[1], "a group with a long name/of one function", 1.2e-3);
  EXPECT_THAT(refusal("criterion", "fib  time:   [26.0 us 26.2 us]\n"), HasSubstr("line 1: expected three times"));
  EXPECT_THAT(refusal("criterion", "fib  time:   [1 us x us 3 us]\n"), HasSubstr("line 1: 'x' is not a number"));
  EXPECT_THAT(refusal("criterion", "fib  time:   [1 cy 2 cy 3 cy]\n"), HasSubstr("'fib' is in 'cy'"));
}

// Parts of a line are events, and packages run at the same time.
TEST(Go, EventsOfTwoPackagesAreReadApart) {
  constexpr char kEvents[] =
      "# building\n"
      R"({"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"x/a"})"
      "\n"
      R"({"Action":"output","Package":"x/a","Output":"pkg: x/a\n"})"
      "\n"
      R"({"Action":"output","Package":"x/b","Output":"pkg: x/b\n"})"
      "\n"
      R"({"Action":"output","Package":"x/a","Test":"BenchmarkSort","Output":"BenchmarkSort-8  \t"})"
      "\n"
      R"({"Action":"output","Package":"x/b","Output":"BenchmarkSort-8  \t 10\t 7.0 ns/op\n"})"
      "\n"
      R"({"Action":"output","Package":"x/a","Output":" 100\t  25.0 ns/op\t 0 B/op\n"})"
      "\n"
      R"({"Action":"pass","Package":"x/a","Elapsed":1.5})"
      "\n";
  const auto found = read_ok("go", kEvents);
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "x/a.BenchmarkSort-8", 25e-9);
  expect_seconds(found[1], "x/b.BenchmarkSort-8", 7e-9);
}

TEST(Go, DamagedEventsAreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal("go", "{\"Action\":\"start\"}\n{\"Action\":\"out"), HasSubstr("line 2: it ends at"));
  EXPECT_THAT(refusal("go", "{\"Action\":\"start\"}\n{\"Time\":1}\n"), HasSubstr("line 2 has no 'Action'"));
  EXPECT_THAT(refusal("go", "{\"Action\":\"output\"}\n"), HasSubstr("line 1 has no 'Output'"));
  EXPECT_THAT(refusal("go", R"({"Action":"output","Package":"p","Output":"BenchmarkA 1 many ns/op\n"})"),
              HasSubstr("package 'p', line 1: 'many' ns/op"));
}

TEST(Pyperf, ARunIsAProcessAndCalibrationIsNone) {
  constexpr char kFile[] = R"({"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": [
    {"metadata": {"name": "json_dumps"}, "runs": [{"warmups": [[1, 0.5]]}, {"values": [0.010, 0.012]}, {"values": [0.020]}]},
    {"metadata": {"name": "memory", "unit": "byte"}, "runs": [{"values": [4096]}]}]})";
  const auto runs = processes_ok("pyperf", kFile);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_NEAR(runs[0].seconds, 0.011, 1e-12);
  EXPECT_NE(runs[0].process, runs[1].process);
  const auto found = read_ok("pyperf", kFile);
  ASSERT_EQ(found.size(), 1u);
  expect_seconds(found[0], "json_dumps", 0.0155);
  // One benchmark: what its runs share stands in the file's metadata.
  expect_seconds(read_ok("pyperf", R"({"metadata": {"name": "one"}, "benchmarks": [{"runs": [{"values": [2]}]}]})")[0], "one", 2);
  EXPECT_EQ(read_ok("pyperf", R"({"metadata": {"name": "one"}, "benchmarks": [{"runs": [{}]}]})")[0].reason, "it has no values");
}

TEST(Pyperf, WhatIsDamagedIsRefused) {
  EXPECT_THAT(refusal("pyperf", R"({"benchmarks": [{"runs": []}]})"), HasSubstr("benchmark 1's metadata has no 'name'"));
  EXPECT_THAT(refusal("pyperf", R"({"metadata": {"name": "a"}, "benchmarks": [{"runs": [{"values": ["1"]}]}]})"),
              HasSubstr("'a', run 1: a measurement is no number"));
  EXPECT_THAT(refusal("pyperf", R"({"metadata": {"name": "a"}, "benchmarks": [{"runs": [{"values": [-0.5, 2]}]}]})"),
              HasSubstr("'a', run 1: a measurement is -0.5, which is below 0"));
  EXPECT_THAT(refusal("pyperf", R"({"metadata": {"name": "a"}, "benchmarks": [{"runs": [{"values": [1e999]}]}]})"),
              HasSubstr("larger than a double"));
  EXPECT_THAT(refusal("pyperf", R"({"metadata": {"name": "a"}, "benchmarks": [{"runs": [{"values": [NaN]}]}]})"),
              HasSubstr("a measurement is no number"));
  EXPECT_THAT(refusal("pyperf", R"({"metadata": {"name": "a"}, "benchmarks": [{"runs")"), HasSubstr("was it cut off?"));
  EXPECT_THAT(refusal("pyperf", R"({"metadata": {"name": "a"}, "benchmarks": [{"runs": []}, {"runs": []}]})"),
              HasSubstr("are both 'a'"));
}

TEST(Asv, CombinationsOfParametersAreApartAndTheLastRunsFastest) {
  constexpr char kFile[] = R"({"version": 2, "result_columns": ["result", "params", "version"], "results": {
    "suite.Sort.time_it": [[1e-3, 2e-3, null, NaN], [["'a'", "'b'"], ["8", "64"]], "1"],
    "suite.time_plain": [[5e-6], []],
    "suite.time_failed": [null, [["1"]]],
    "suite.track_size": [[77], []]}})";
  const auto found = read_ok("asv", kFile);
  ASSERT_EQ(found.size(), 6u);
  expect_seconds(found[0], "suite.Sort.time_it:param1='a':param2=8", 1e-3);
  expect_seconds(found[1], "suite.Sort.time_it:param1='a':param2=64", 2e-3);
  EXPECT_EQ(found[2].reason, "it failed or was skipped");
  EXPECT_EQ(found[3].reason, "it failed or was skipped");
  EXPECT_EQ(found[4].name, "suite.time_failed");
  expect_seconds(found[5], "suite.time_plain", 5e-6);
  const auto times = processes_ok("asv", kFile);
  ASSERT_EQ(times.size(), 6u);
  EXPECT_EQ(times[1].plain, "suite.Sort.time_it");
  EXPECT_EQ(times[1].parameters, (std::vector<Parameter>{{"param1", "'a'"}, {"param2", "64"}}));
  EXPECT_EQ(times[0].process, times[5].process);
  for (const size_t without : {2, 3, 4}) EXPECT_EQ(times[without].failure, "it failed or was skipped");
}

TEST(Asv, WhatIsDamagedIsRefused) {
  EXPECT_THAT(refusal("asv", R"({"results": {}})"), HasSubstr("no 'result_columns'"));
  EXPECT_THAT(refusal("asv", R"({"result_columns": [], "results": []})"), HasSubstr("no 'results'"));
  EXPECT_THAT(refusal("asv", R"({"result_columns": ["result"], "results": {"time_a": 1.5}})"), HasSubstr("asv update"));
  EXPECT_THAT(refusal("asv", R"({"result_columns": ["result", "params"], "results": {"time_a": [[1, 2, 3], [["1", "2"]]]}})"),
              HasSubstr("more results than combinations"));
  EXPECT_THAT(refusal("asv", R"({"result_columns": ["result", "params"], "results": {"time_a": [[1], [[]]]}})"),
              HasSubstr("a list of values for each parameter"));
  EXPECT_THAT(refusal("asv", R"({"result_columns": ["result"], "results": {"time_a": [["1"]]}})"), HasSubstr("is not a number"));
}

TEST(BenchmarkDotNet, ALaunchIsAProcess) {
  constexpr char kFile[] = R"({"Title": "x", "Benchmarks": [
    {"DisplayInfo": "Sort.Quick: Job(LaunchCount=2) [N=8]", "Namespace": "My", "Type": "Sort", "Method": "Quick",
     "Parameters": "N=8",
     "Statistics": {"Mean": 150.0}, "Measurements": [
      {"IterationMode": "Overhead", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 1, "Nanoseconds": 9999},
      {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 10, "Nanoseconds": 1000},
      {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 2, "Operations": 10, "Nanoseconds": 2000}]},
    {"DisplayInfo": "Sort.Quick: Job [N=64]", "Namespace": "My", "Type": "Sort", "Method": "Quick", "Parameters": "N=64",
     "Statistics": null}]})";
  const auto found = read_ok("benchmark-dotnet", kFile);
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "My.Sort.Quick:N=8", 150e-9);
  EXPECT_THAT(found[1].reason, HasSubstr("it failed"));
  const auto failed = processes_ok("benchmark-dotnet", kFile);
  ASSERT_EQ(failed.size(), 3u);
  EXPECT_THAT(failed[2].failure, HasSubstr("it has no 'Statistics'"));
  std::string good(kFile);
  good.replace(good.find("null"), 4, R"({"Mean": 7})");
  const auto times = processes_ok("benchmark-dotnet", good);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_NEAR(times[0].seconds, 100e-9, 1e-15);
  EXPECT_NEAR(times[1].seconds, 200e-9, 1e-15);
  EXPECT_EQ(times[1].parameters, (std::vector<Parameter>{{"N", "8"}}));
}

TEST(BenchmarkDotNet, TwoJobsOfOneMethodAreToldApart) {
  const auto found = read_ok("benchmark-dotnet", R"({"Benchmarks": [
    {"DisplayInfo": "A.B: net6", "Type": "A", "Method": "B", "Statistics": {"Mean": 1}},
    {"DisplayInfo": "A.B: net8", "Type": "A", "Method": "B", "Statistics": {"Mean": 2}}]})");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[1], "A.B:job=net8", 2e-9);
  EXPECT_THAT(refusal("benchmark-dotnet", R"({"Benchmarks": [{"Type": "A"}]})"), HasSubstr("benchmark 1 has no 'Method'"));
  EXPECT_THAT(refusal("benchmark-dotnet", R"({"Benchmarks": [{"Type": "A", "Method": "B", "Statistics": {"Mean": "1"}}]})"),
              HasSubstr("has no 'Mean', expected a number"));
  EXPECT_THAT(refusal("benchmark-dotnet", R"([1])"), HasSubstr("no 'Benchmarks'"));
}

TEST(LntServer, ASampleIsAProcessAndNullIsNoTime) {
  constexpr char kRun[] = R"({"generated_by": "LNT Server v0.4", "run": {"id": 7}, "machine": {}, "tests": [
    {"id": 1, "run_id": 7, "name": "a.exec", "execution_time": 1.5, "compile_time": 3.0},
    {"id": 2, "run_id": 7, "name": "a.exec", "execution_time": 2.5},
    {"id": 3, "run_id": 7, "name": "b.exec", "execution_time": null}]})";
  const auto found = read_ok("lnt", kRun);
  ASSERT_EQ(found.size(), 1u);
  expect_seconds(found[0], "a.exec", 2.0);
  EXPECT_EQ(processes_ok("lnt", kRun).size(), 2u);
  const auto samples = read_ok("lnt", R"({"generated_by": "x", "samples": [{"name": "c", "execution_time": 4},
                                          {"name": "d", "execution_time": 4, "execution_status": 1}]})");
  ASSERT_EQ(samples.size(), 2u);
  expect_seconds(samples[0], "c", 4);
  EXPECT_THAT(samples[1].reason, HasSubstr("failed"));
  EXPECT_THAT(refusal("lnt", R"({"generated_by": "x", "tests": [{"name": "a", "execution_time": "1"}]})"),
              HasSubstr("an 'execution_time' is no number"));
  EXPECT_THAT(refusal("lnt", R"({"generated_by": "x"})"), HasSubstr("no 'tests'"));
}

TEST(PerfStat, TimesAreSecondsAndCountsAreCounts) {
  constexpr char kOne[] =
      "# started on Wed\n\n1.12,msec,task-clock,1123914,100.00,0.065,CPUs utilized\n"
      "74,,page-faults,1123914,100.00,65.841,K/sec\n,,,,,3.1,stalled cycles\n"
      "<not supported>,,cycles,0,100.00,,\n17370127,ns,duration_time,17370127,100.00,,\n";
  const auto found = read_ok("perf-stat", kOne);
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "task-clock", 1.12e-3);
  expect_seconds(found[1], "duration_time", 17370127e-9);
  const auto events = processes_ok("perf-stat", kOne);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1], (ProcessTime{"page-faults", 0, 74, "", {}, true}));
}

TEST(PerfStat, AppendedRunsAreProcessesOfTheirOwn) {
  const auto events =
      processes_ok("perf-stat", "# started on A\n2;msec;task-clock;1;100\n# started on B\n4;msec;task-clock;1;100\n");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].process, 1u);
  expect_seconds(read_ok("perf-stat", "2;msec;task-clock;1;100\n# started on B\n4;msec;task-clock;1;100\n")[0], "task-clock",
                 3e-3);
}

// Where commas are decimal signs, perf writes them so whatever -x says.
TEST(PerfStat, DecimalCommasAreReadOrRefused) {
  const auto found = read_ok("perf-stat", "1000,50;msec;task-clock;1;100,00;0,9;CPUs utilized\n2,5;msec;user_time;1;100,00\n");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "task-clock", 1.0005);
  expect_seconds(found[1], "user_time", 2.5e-3);
  EXPECT_THAT(refusal("perf-stat", "1000,50,msec,task-clock,1,100,00\n"), HasSubstr("-x ';' where commas are decimal signs"));
  EXPECT_THAT(refusal("perf-stat", "1,000;2,5;msec;task-clock;1;100\n"), HasSubstr("leave -I out"));
  EXPECT_EQ(processes_ok("perf-stat", "74,,page-faults,1,100\n")[0].seconds, 74);
}

TEST(PerfStat, PartsOfAMeasurementAreRefusedWithTheCure) {
  EXPECT_THAT(refusal("perf-stat", "1.000,2.5,msec,task-clock,1,100\n"), HasSubstr("leave -I out"));
  EXPECT_THAT(refusal("perf-stat", R"({"counter-value": "1", "unit": "msec", "event": "task-clock"})"),
              HasSubstr("leave -j out"));
  EXPECT_THAT(refusal("perf-stat", "CPU0,2.5,msec,task-clock,1,100\n"), HasSubstr("leave -A"));
  EXPECT_THAT(refusal("perf-stat", "5,,cycles,1,100\n"), HasSubstr("it has no time"));
  EXPECT_THAT(refusal("perf-stat", "5,ns\n"), HasSubstr("line 1: expected value, unit and event"));
  EXPECT_THAT(refusal("perf-stat", "5,ns,a\n6,ns,a\n"), HasSubstr("line 2: event 'a' is there twice"));
}

}  // namespace
}  // namespace stab::metrics
