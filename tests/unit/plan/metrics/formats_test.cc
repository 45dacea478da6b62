// The formats as their tools write them, and what a program may write instead.
#include "tests/unit/plan/metrics/read_text.h"

namespace stab::metrics {
namespace {

using testing::HasSubstr;

TEST(GoogleBenchmark, RepetitionsAreAveragedAndAggregatesLeftOut) {
  const auto found = read_ok("google-benchmark", R"({"context": {}, "benchmarks": [
    {"name": "BM_A/8", "run_name": "BM_A/8", "run_type": "iteration", "real_time": 10.0, "time_unit": "ns"},
    {"name": "BM_A/8", "run_name": "BM_A/8", "run_type": "iteration", "real_time": 30.0, "time_unit": "ns"},
    {"name": "BM_A/8_mean", "run_name": "BM_A/8", "run_type": "aggregate", "aggregate_name": "mean",
     "real_time": 20, "time_unit": "ns"},
    {"name": "BM_A/8_stddev", "run_name": "BM_A/8", "run_type": "aggregate", "aggregate_name": "stddev",
     "real_time": 14, "time_unit": "ns"},
    {"name": "BM_B", "run_name": "BM_B", "run_type": "iteration", "error_occurred": true, "error_message": "no\nfile"},
    {"name": "BM_C", "run_type": "iteration", "real_time": 2, "time_unit": "ms"}]})");
  ASSERT_EQ(found.size(), 3u);
  expect_seconds(found[0], "BM_A/8", 20e-9);
  EXPECT_EQ(found[1].reason, "no file");
  EXPECT_FALSE(found[1].seconds);
  expect_seconds(found[2], "BM_C", 2e-3);
}

TEST(GoogleBenchmark, AggregatesAloneGiveTheirMean) {
  const auto found = read_ok("google-benchmark", R"({"benchmarks": [
    {"name": "BM_A_mean", "run_name": "BM_A", "run_type": "aggregate", "aggregate_name": "mean",
     "real_time": 20, "time_unit": "us"},
    {"name": "BM_A_cv", "run_name": "BM_A", "run_type": "aggregate", "aggregate_name": "cv",
     "real_time": 0.1, "time_unit": "us"}]})");
  ASSERT_EQ(found.size(), 1u);
  expect_seconds(found[0], "BM_A", 20e-6);
}

// Before 1.5: neither run_type nor run_name.
TEST(GoogleBenchmark, OldAggregatesAreNoTimes) {
  const auto found = read_ok("google-benchmark", R"({"context": {}, "benchmarks": [
    {"name": "scan/repeats:3", "iterations": 10, "real_time": 10, "cpu_time": 10, "time_unit": "ns"},
    {"name": "scan/repeats:3", "iterations": 10, "real_time": 14, "cpu_time": 10, "time_unit": "ns"},
    {"name": "scan/repeats:3_mean", "iterations": 10, "real_time": 12, "cpu_time": 10, "time_unit": "ns"},
    {"name": "scan/repeats:3_median", "iterations": 10, "real_time": 12, "cpu_time": 10, "time_unit": "ns"},
    {"name": "scan/repeats:3_stddev", "iterations": 0, "real_time": 2, "cpu_time": 0, "time_unit": "ns"},
    {"name": "alone_mean", "iterations": 10, "real_time": 7, "time_unit": "ns"},
    {"name": "alone_stddev", "iterations": 0, "real_time": 1, "time_unit": "ns"},
    {"name": "running_mean", "iterations": 10, "real_time": 5, "time_unit": "ns"},
    {"name": "running_median", "iterations": 10, "real_time": 6, "time_unit": "ns"}]})");
  ASSERT_EQ(found.size(), 4u);
  expect_seconds(found[0], "scan/repeats:3", 12e-9);
  expect_seconds(found[1], "alone", 7e-9);
  expect_seconds(found[2], "running_mean", 5e-9);
  expect_seconds(found[3], "running_median", 6e-9);
}

// --benchmark_report_aggregates_only lists repetitions where there are no aggregates: of what ran once, and of what failed.
TEST(GoogleBenchmark, AggregatesAndRepetitionsOfDifferentBenchmarksAreBothRead) {
  const auto found = read_ok("google-benchmark", R"({"benchmarks": [
    {"name": "A_mean", "run_name": "A", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 20, "time_unit": "ns"},
    {"name": "A_median", "run_name": "A", "run_type": "aggregate", "aggregate_name": "median", "real_time": 9, "time_unit": "s"},
    {"name": "B", "run_name": "B", "run_type": "iteration", "real_time": 7, "time_unit": "ns"},
    {"name": "C", "run_name": "C", "run_type": "iteration", "error_occurred": true, "error_message": "no data"},
    {"name": "D_mean", "run_name": "D", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 3, "time_unit": "ns"}
    ]})");
  ASSERT_EQ(found.size(), 4u);
  expect_seconds(found[0], "A", 20e-9);
  expect_seconds(found[1], "B", 7e-9);
  EXPECT_EQ(found[2].reason, "no data");
  expect_seconds(found[3], "D", 3e-9);
}

// As 1.8 writes them: counters that are no numbers, complexities, and a benchmark that says that it does not apply.
TEST(GoogleBenchmark, WhatIsNoNumberIsNoneOfItsTimes) {
  const auto found = read_ok("google-benchmark", R"({"benchmarks": [
    {"name": "A/NaN", "run_name": "A/NaN", "run_type": "iteration", "real_time": 4.0e+00, "time_unit": "ns", "label": "Infinity",
     "hits": NaN, "rate": Infinity, "loss": -Infinity, "odd": -NaN},
    {"name": "A_BigO", "run_name": "A", "run_type": "aggregate", "aggregate_name": "BigO", "cpu_coefficient": 1.0,
     "real_coefficient": 1.0, "big_o": "N", "time_unit": "ns"},
    {"name": "A_RMS", "run_name": "A", "run_type": "aggregate", "aggregate_name": "RMS", "rms": NaN},
    {"name": "S", "run_name": "S", "run_type": "iteration", "skipped": true, "skip_message": "no AVX here"}]})");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "A/NaN", 4e-9);
  EXPECT_EQ(found[1].name, "S");
  EXPECT_EQ(found[1].reason, "no AVX here");
  EXPECT_THAT(refusal("google-benchmark", R"({"benchmarks": [{"name": "a", "real_time": NaN, "time_unit": "ns"}]})"),
              HasSubstr("'a' has no 'real_time', expected a number"));
  EXPECT_THAT(refusal("google-benchmark", "{\"a\": Infinity,\n \"b\": oops}"), HasSubstr("line 2, column 7"));
}

// hyperfine gives one --command-name to all commands of a --parameter-list.
TEST(Hyperfine, CommandsOfOneNameAreToldApartByTheirParameters) {
  constexpr char kScan[] = R"({"results": [
    {"command": "sort", "times": [1, 1], "parameters": {"size": "8"}},
    {"command": "sort", "times": [3, 3], "parameters": {"size": "64"}},
    {"command": "other", "times": [2], "parameters": {"size": "8"}}]})";
  const auto found = read_ok("hyperfine", kScan);
  ASSERT_EQ(found.size(), 3u);
  expect_seconds(found[0], "sort:size=8", 1);
  expect_seconds(found[1], "sort:size=64", 3);
  expect_seconds(found[2], "other", 2);
  const auto runs = read_processes(*format_named("hyperfine"), kScan);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ((*runs)[2], (ProcessTime{"sort:size=64", 2, 3, "sort", {{"size", "64"}}}));
}

// "make" before and after a checkout is two builds; their mean is none's.
TEST(Hyperfine, ResultsOfOneNameAreNoRepetitions) {
  constexpr char kTwo[] = R"({"results": [
    {"command": "git checkout old && make", "times": [2.0, 2.1]},
    {"command": "make", "times": [2.0, 2.1]},
    {"command": "make", "times": [2.6, 2.7]}]})";
  EXPECT_THAT(refusal("hyperfine", kTwo), HasSubstr("results 2 and 3 are both 'make', so nothing tells them apart; name each"));
  const auto runs = read_processes(*format_named("hyperfine"), kTwo);
  ASSERT_FALSE(runs.ok());
  EXPECT_THAT(runs.error().message, HasSubstr("--command-name"));
  EXPECT_THAT(refusal("hyperfine", R"({"results": [
    {"command": "sort", "times": [1, 1], "parameters": {"size": "8"}},
    {"command": "sort", "times": [3, 3], "parameters": {"size": "8"}}]})"),
              HasSubstr("results 1 and 2 are both 'sort:size=8'"));
}

TEST(OtherTools, ResultsOfOneNameAreNoRepetitionsEither) {
  EXPECT_THAT(refusal("pytest-benchmark", R"({"benchmarks": [{"name": "a", "stats": {"mean": 1}},
                                                             {"name": "a", "stats": {"mean": 2}}]})"),
              HasSubstr("results 1 and 2 are both 'a'"));
  EXPECT_THAT(refusal("criterion", "test a ... bench: 1 ns/iter (+/- 0)\ntest b ... bench: 1 ns/iter (+/- 0)\n"
                                   "test a ... bench: 9 ns/iter (+/- 0)\n"),
              HasSubstr("results 1 and 3 are both 'a'"));
  constexpr char kJmh[] = R"([
    {"benchmark": "a", "mode": "avgt", "primaryMetric": {"score": 1, "scoreUnit": "ns/op", "rawData": [[1]]}},
    {"benchmark": "a", "mode": "avgt", "primaryMetric": {"score": 2, "scoreUnit": "ns/op", "rawData": [[2]]}}])";
  EXPECT_THAT(refusal("jmh", kJmh), HasSubstr("results 1 and 2 are both 'a'"));
  EXPECT_FALSE(read_processes(*format_named("jmh"), kJmh).ok());
}

TEST(Hyperfine, ACommandThatFailedHasNoValue) {
  const auto found = read_ok("hyperfine", R"({"results": [
    {"command": "sleep 0.1", "mean": 9, "times": [0.1, 0.3], "exit_codes": [0, 0]},
    {"command": "exit 1", "mean": 0.01, "times": [0.01], "exit_codes": [1]},
    {"command": "summary", "mean": 0.5}]})");
  ASSERT_EQ(found.size(), 3u);
  expect_seconds(found[0], "sleep 0.1", 0.2);
  EXPECT_THAT(found[1].reason, HasSubstr("failed"));
  expect_seconds(found[2], "summary", 0.5);
}

TEST(Criterion, MessagesBetweenOtherLines) {
  const auto found = read_ok("criterion", "   Compiling x\n{\"reason\":\"benchmark-complete\",\"id\":\"fib/20\",\"typical\":"
                                          "{\"estimate\":26.5,\"unit\":\"us\"}}\n{\"reason\":\"group-complete\"}\n");
  ASSERT_EQ(found.size(), 1u);
  expect_seconds(found[0], "fib/20", 26.5e-6);
}

// What criterion prints where nobody has cargo-criterion, and what Rust's own benchmarks print, numbers with commas and all.
TEST(Criterion, LinesOfBencher) {
  const auto found = read_ok("criterion",
                             "running 3 tests\ntest tests::it_works ... ignored\n"
                             "test sum of/1 000     ... bench:       1,234.50 ns/iter (+/- 56) = 12 MB/s\r\n"
                             "test fib/20 ... bench:       26029 us/iter (+/- 251)\n"
                             "test result: ok. 0 passed; 0 failed; 1 ignored; 2 measured\n");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "sum of/1 000", 1234.5e-9);
  expect_seconds(found[1], "fib/20", 26029e-6);
  EXPECT_THAT(refusal("criterion", "x\ntest a ... bench:\n"), HasSubstr("line 2: expected a number and a unit such as ns/iter"));
  EXPECT_THAT(refusal("criterion", "test a ... bench: 1x ns/iter\n"), HasSubstr("line 1: expected a number"));
  EXPECT_THAT(refusal("criterion", "test a ... bench: 1 cycles/iter\n"),
              HasSubstr("'a' is in 'cycles', expected a unit of time"));
  EXPECT_THAT(refusal("criterion", "test  ... bench: 1 ns/iter\n"), HasSubstr("a benchmark has no name"));
}

TEST(Jmh, RatesAreTurnedOver) {
  const auto found = read_ok("jmh", R"([
    {"benchmark": "org.A.b", "mode": "avgt", "params": {"n": "8"}, "primaryMetric": {"score": 5, "scoreUnit": "us/op"}},
    {"benchmark": "org.A.b", "mode": "thrpt", "params": {"n": "8"}, "primaryMetric": {"score": 4, "scoreUnit": "ops/ms"}}])");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "org.A.b:n=8", 5e-6);
  expect_seconds(found[1], "org.A.b:n=8 (thrpt)", 0.25e-3);
  EXPECT_THAT(refusal("jmh", R"([{"benchmark": "x", "mode": "avgt", "primaryMetric": {"score": "NaN", "scoreUnit": "us/op"}}])"),
              HasSubstr("'x' has no 'score', expected a number"));
}

// TimeValue.tuToString has them all.
TEST(Jmh, EveryUnitOfTime) {
  for (const auto& [unit, seconds] : std::vector<std::pair<std::string, double>>{
           {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"hr", 3600}, {"day", 86400}}) {
    const auto read_one = [&](const std::string& score_unit) {
      return read_ok("jmh", R"([{"benchmark": "b", "mode": "avgt", "primaryMetric": {"score": 2, "scoreUnit": ")" + score_unit +
                                "\"}}]");
    };
    const auto time = read_one(unit + "/op"), rate = read_one("ops/" + unit);
    ASSERT_EQ(time.size() + rate.size(), 2u) << unit;
    expect_seconds(time[0], "b", 2 * seconds);
    expect_seconds(rate[0], "b", seconds / 2);
  }
}

TEST(PytestBenchmark, MeansInSeconds) {
  const auto found = read_ok("pytest-benchmark",
                             R"({"benchmarks": [{"name": "a", "fullname": "t.py::a", "stats": {"mean": 0.25}}]})");
  ASSERT_EQ(found.size(), 1u);
  expect_seconds(found[0], "t.py::a", 0.25);
}

TEST(Go, CountsAreAveragedAndPackagesKeptApart) {
  const auto found = read_ok("go", "goos: linux\npkg: x/y\nBenchmarkA-8 \t 10\t 100 ns/op\t 3 B/op\nBenchmarkA-8 10 300 ns/op\n"
                                   "pkg: x/z\nBenchmarkA-8 10 50.5 ns/op\nBenchmarkPrints\nPASS\n");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "x/y.BenchmarkA-8", 200e-9);
  expect_seconds(found[1], "x/z.BenchmarkA-8", 50.5e-9);
}

// go test writes the name before a benchmark runs and the rest after it; -v has a line with the name alone before that.
TEST(Go, ResultsBehindWhatABenchmarkPrints) {
  const auto found = read_ok("go", "BenchmarkTalks\nBenchmarkTalks-8 \thello\nworld\n     100\t 40 ns/op\t 3 B/op\n"
                                   "BenchmarkNext-8 10 5 ns/op\n     100\t 99 ns/op\nBenchmarks took 3 ns/op\n"
                                   "BenchmarkRate-8 10 7 MB/s 20 ns/op\r\nok x 1s\n");
  ASSERT_EQ(found.size(), 3u);
  expect_seconds(found[0], "BenchmarkTalks-8", 40e-9);
  expect_seconds(found[1], "BenchmarkNext-8", 5e-9);
  expect_seconds(found[2], "BenchmarkRate-8", 20e-9);
}

TEST(Csv, UnitsAndQuotationMarks) {
  const auto found = read_ok("csv", "unit,name,value\r\nms,\"a, \"\"b\"\"\",2\r\n\r\ns,c,0\r\n");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "a, \"b\"", 2e-3);
  EXPECT_THAT(found[1].reason, HasSubstr("no logarithm"));
  EXPECT_THAT(refusal("csv", "name,value\na,fast\n"), HasSubstr("line 2: 'fast' is no number"));
  EXPECT_THAT(refusal("csv", "name,value\na\n"), HasSubstr("line 2: 1 field, and the heading has 2"));
  EXPECT_THAT(refusal("csv", "name,value,unit\na,1,MB\n"), HasSubstr("line 2: 'MB' is no unit of time"));
  EXPECT_THAT(refusal("csv", "a;b\n"), HasSubstr("columns 'name' and 'value'"));
  for (const std::string twice : {"name", "value", "unit"})
    EXPECT_THAT(refusal("csv", "name,value,unit," + twice + "\na,1,s,2\n"),
                HasSubstr("line 1: column '" + twice + "' is there twice"));
  EXPECT_THAT(refusal("csv", "name,value\na,inf\n"), HasSubstr("no time"));
  EXPECT_THAT(refusal("csv", "name,value\na,-1\n"), HasSubstr("no time"));
}

// As spreadsheets write them where commas are decimal signs.
TEST(Csv, SemicolonsTabsAndDecimalCommas) {
  for (const std::string between : {";", "\t"}) {
    const auto found = read_ok("csv", "name" + between + "value" + between + "unit\n\"a, b\"" + between + "1,5" + between +
                                          "ms\nb" + between + "1234" + between + "ms\n" + between + between + "\n");
    ASSERT_EQ(found.size(), 2u);
    expect_seconds(found[0], "a, b", 1.5e-3);
    expect_seconds(found[1], "b", 1.234);
  }
  expect_seconds(read_ok("csv", "name;value\na;1.5\n")[0], "a", 1.5);
  expect_seconds(read_ok("csv", "name;value\na;12,345\na;0,655\n")[0], "a", 6.5);
  EXPECT_THAT(refusal("csv", "name;value\na;12,345\n"),
              HasSubstr("line 2 has '12,345', whose comma may be a decimal sign or separate thousands"));
  EXPECT_THAT(refusal("csv", "name;value\na;1,5\nb;2.5\n"), HasSubstr("line 2 has '1,5', and line 3 has '2.5'"));
  expect_seconds(read_ok("csv", "name;value;\"of, what\"\na;1,5e3;x\n")[0], "a", 1500);
  EXPECT_THAT(refusal("csv", "name;value\na;1,234,567\n"), HasSubstr("line 2: '1,234,567' is no number"));
}

TEST(Csv, PointsThatMaySeparateThousandsAreAskedAbout) {
  EXPECT_THAT(refusal("csv", "name;value;unit\na;998;us\nb;1.002;us\n"),
              HasSubstr("line 3 has '1.002', and line 2 has '998': the point may be a decimal sign or separate thousands"));
  expect_seconds(read_ok("csv", "name;value\na;998\nb;1.002\nc;1.5\n")[1], "b", 1.002);
  expect_seconds(read_ok("csv", "name,value\na,998\nb,1.002\n")[1], "b", 1.002);
}

// As people type tables, with a blank behind each comma.
TEST(Csv, BlanksAroundFields) {
  expect_seconds(read_ok("csv", "name, value, unit\na, 1.5, ms\n")[0], "a", 0.0015);
  expect_seconds(read_ok("csv", "name ;value ;unit \na;1,5 ;s \n")[0], "a", 1.5);
  EXPECT_THAT(refusal("csv", "name, value, value \na,1,2\n"), HasSubstr("column 'value' is there twice"));
  EXPECT_THAT(refusal("csv", "Name,Value\na,1\n"), HasSubstr("or tabs between them, and it is 'Name,Value'"));
}

TEST(Csv, WhatHasNoValueIsNamed) {
  for (const std::string nothing : {"", "NA", "#N/A", "null"}) {
    const auto found = read_ok("csv", "name,value\na," + nothing + "\nb,2\n");
    ASSERT_EQ(found.size(), 2u) << nothing;
    EXPECT_EQ(found[0].reason, "it has no value") << nothing;
    expect_seconds(found[1], "b", 2);
  }
}

TEST(Csv, ByteOrderMarksAndMicroSigns) {
  const auto found = read_ok("csv", "\xef\xbb\xbfname,value,unit\r\na,1,\u00b5s\r\nb,2,\u03bcs\r\n");
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "a", 1e-6);
  expect_seconds(found[1], "b", 2e-6);
}

TEST(Hostile, EveryFormatRefusesWhatIsEmptyOrElse) {
  for (const Format& format : formats()) {
    EXPECT_THAT(refusal(format.name, " \n"), HasSubstr("it is empty; expected")) << format.name;
    EXPECT_NE(refusal(format.name, "hello"), "") << format.name;
    EXPECT_NE(refusal(format.name, std::string("\0\xff\x80", 3)), "") << format.name;
  }
}

std::string processes_refusal(std::string_view format, std::string_view text) {
  const auto found = read_processes(*format_named(format), text);
  EXPECT_FALSE(found.ok());
  return found ? "" : found.error().message;
}

TEST(Processes, EachRunOfHyperfineIsOne) {
  const auto found = processes_ok("hyperfine", R"({"results": [
    {"command": "old", "mean": 9, "times": [0.5, 0.25], "exit_codes": [0, 0]},
    {"command": "new", "times": [0.125]}]})");
  EXPECT_EQ(found, (std::vector<ProcessTime>{{"old", 0, 0.5}, {"old", 1, 0.25}, {"new", 2, 0.125}}));
}

TEST(Processes, EachForkOfJmhIsOneWhateverItRepeats) {
  const auto found = processes_ok("jmh", R"([{"benchmark": "a.B", "mode": "avgt", "primaryMetric":
    {"score": 3, "scoreUnit": "s/op", "rawData": [[1, 3], [4, 4]]}}])");
  EXPECT_EQ(found, (std::vector<ProcessTime>{{"a.B", 0, 2}, {"a.B", 1, 4}}));
  // A rate is averaged as a rate: 2 and 6 operations a second are 4.
  const auto rates = processes_ok("jmh", R"([{"benchmark": "a.B", "mode": "thrpt", "primaryMetric":
    {"score": 4, "scoreUnit": "ops/s", "rawData": [[2, 6]]}}])");
  EXPECT_EQ(rates, (std::vector<ProcessTime>{{"a.B (thrpt)", 0, 0.25}}));
}

// Mode "sample" lists times with the number of calls that took them: by fork, then by iteration.
TEST(Processes, ForksOfSampledTimesAreMeansOverTheirCalls) {
  const auto result = [](const std::string& forks) {
    return R"([{"benchmark": "a.B", "mode": "sample", "primaryMetric":
      {"score": 3, "scoreUnit": "s/op", "rawDataHistogram": )" + forks + "}}]";
  };
  EXPECT_EQ(processes_ok("jmh", result("[[[[1, 2], [4, 1]], [[6, 1]]], [[[5, 3]]]]")),
            (std::vector<ProcessTime>{{"a.B (sample)", 0, 3}, {"a.B (sample)", 1, 5}}));
  EXPECT_THAT(processes_refusal("jmh", result("[[]]")), HasSubstr("fork 1 has no iteration"));
  EXPECT_THAT(processes_refusal("jmh", result("[[[[1]]]]")), HasSubstr("expected [time, number of calls]"));
  EXPECT_THAT(processes_refusal("jmh", result("[[[1, 2]]]")), HasSubstr("expected [time, number of calls]"));
  EXPECT_THAT(processes_refusal("jmh", result("[[7]]")), HasSubstr("a list of times for each iteration"));
}

TEST(Processes, EachSampleOfLntIsOne) {
  constexpr char kReport[] = R"({"format_version": "2", "machine": {}, "run": {}, "tests": [
    {"name": "a", "execution_time": [1, 3], "compile_time": 9}, {"name": "b", "execution_time": 5},
    {"name": "c", "mem_bytes": [7]}]})";
  EXPECT_EQ(processes_ok("lnt", kReport), (std::vector<ProcessTime>{{"a", 0, 1}, {"a", 1, 3}, {"b", 2, 5}}));
  const auto means = read_ok("lnt", kReport);
  ASSERT_EQ(means.size(), 2u);
  expect_seconds(means[0], "a", 2);
  EXPECT_THAT(refusal("lnt", R"({"Machine": {}, "Run": {}, "Tests": []})"), HasSubstr("format 1 is not read"));
  EXPECT_THAT(refusal("lnt", R"({"format_version": "2", "tests": [{"name": "a", "execution_time": ["x"]}]})"),
              HasSubstr("'a': an 'execution_time' is no number"));
}

TEST(Processes, GoogleBenchmarkIsOneUnlessItSaysThatItsRepetitionsWere) {
  const std::string rows = R"("benchmarks": [
    {"name": "a", "run_type": "iteration", "real_time": 1, "time_unit": "s"},
    {"name": "a", "run_type": "iteration", "real_time": 3, "time_unit": "s"}]})";
  EXPECT_EQ(processes_ok("google-benchmark", "{" + rows), (std::vector<ProcessTime>{{"a", 0, 2}}));
  EXPECT_EQ(processes_ok("google-benchmark", R"({"context": {"stab_repetition": "process"}, )" + rows),
            (std::vector<ProcessTime>{{"a", 0, 1}, {"a", 1, 3}}));
}

TEST(Processes, OtherOutputsAreOfOneProcess) {
  const auto found = processes_ok("csv", "name,value\na,1\na,3\nb,5\n");
  EXPECT_EQ(found, (std::vector<ProcessTime>{{"a", 0, 2}, {"b", 0, 5}}));
}

TEST(Processes, WhatNobodyCanMeasureAgainIsRefused) {
  EXPECT_THAT(processes_refusal("hyperfine", R"({"results": [{"command": "x", "times": [1, 2], "exit_codes": [0, 1]}]})"),
              HasSubstr("'x', run 2: the command failed"));
  EXPECT_THAT(processes_refusal("hyperfine", R"({"results": [{"command": "x", "mean": 1}]})"), HasSubstr("'x' has no 'times'"));
  EXPECT_THAT(processes_refusal("hyperfine", R"({"results": [{"command": "x", "times": [0]}]})"), HasSubstr("no logarithm"));
  EXPECT_THAT(processes_refusal("hyperfine", R"({"results": [{"command": "x", "times": []}, {"command": "y", "times": [1]}]})"),
              HasSubstr("'x' has no run in its 'times'"));
  EXPECT_THAT(processes_refusal("hyperfine", R"({"results": []})"), HasSubstr("no benchmark"));
  EXPECT_THAT(processes_refusal("jmh", R"([{"benchmark": "a", "mode": "avgt", "primaryMetric":
    {"score": 1, "scoreUnit": "s/op", "rawData": [[]]}}])"), HasSubstr("fork 1 has no iteration"));
  EXPECT_THAT(processes_refusal("hyperfine", ""), HasSubstr("it is empty"));
}

TEST(Processes, WhatFailedHasItsReason) {
  const auto of_csv = processes_ok("csv", "name,value\na,0\nb,1\n");
  ASSERT_EQ(of_csv.size(), 2u);
  EXPECT_THAT(of_csv[0].failure, HasSubstr("its time is 0"));
  EXPECT_EQ(of_csv[1], (ProcessTime{"b", 0, 1}));
  const auto of_lnt = processes_ok("lnt", R"({"format_version": "2", "tests": [
    {"name": "a", "execution_time": [1]}, {"name": "b", "execution_time": [1], "execution_status": 1}]})");
  ASSERT_EQ(of_lnt.size(), 2u);
  EXPECT_EQ(of_lnt[0].failure, "");
  EXPECT_THAT(of_lnt[1].failure, HasSubstr("says that it failed"));
}

TEST(Hostile, PlacesOfWhatIsCutOrBroken) {
  EXPECT_THAT(refusal("hyperfine", "{\"results\": [\n  {\"command\": "), HasSubstr("it ends at line 2, column 15"));
  EXPECT_THAT(refusal("hyperfine", "{\"results\":\n oops}"), HasSubstr("line 2, column 2"));
  EXPECT_THAT(refusal("hyperfine", "{\"results\": [{\"command\": \"a\", \"mean\": 1e999}]}"), HasSubstr("larger than a double"));
  EXPECT_THAT(refusal("google-benchmark", "[]"), HasSubstr("the file has no 'benchmarks', expected a list"));
  EXPECT_THAT(refusal("google-benchmark", R"({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "parsec"}]})"),
              HasSubstr("'a' is in 'parsec'"));
  const std::string long_unit =
      R"({"benchmarks": [{"name": "a", "real_time": 1, "time_unit": ")" + std::string(100'000, 'x') + "\"}]}";
  EXPECT_LT(refusal("google-benchmark", long_unit).size(), 200u);
}

TEST(Hostile, LimitsHold) {
  EXPECT_THAT(refusal("jmh", std::string(100'000, '[')), HasSubstr("nested deeper than 64"));
  std::string many = "name,value\n";
  for (size_t i = 0; i < kMostBenchmarks; ++i) many += "b" + std::to_string(i) + ",1\n";
  EXPECT_EQ(read_ok("csv", many).size(), kMostBenchmarks);
  EXPECT_THAT(refusal("csv", many + "one,1\n"), HasSubstr("more than 2000 benchmarks"));
  EXPECT_THAT(refusal("csv", "name,value\n" + std::string(kMostNameBytes + 1, 'x') + ",1\n"),
              HasSubstr("has 201 bytes, at most 200"));
  EXPECT_THAT(refusal("csv", "name,value\nred\x1b[31m,1\n"), HasSubstr("control characters"));
  EXPECT_THAT(refusal("csv", std::string(kMostBytes + 1, 'x')), HasSubstr("more than 33554432 bytes, and no more are read"));
}

}  // namespace
}  // namespace stab::metrics
