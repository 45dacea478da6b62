// Metrics: what benchmark programs say that they measured, read from what they wrote.
//
// A trial is one process in one layout, and each benchmark of its output is one value of that trial: what a program
// repeats within the process is averaged here, because repeats of a layout are no replicates. All values are seconds for
// one operation; rates are turned over.
//
// What is read was written by a measured program, which may write anything: each text has a limit, so have the depth of
// what is nested, the number of benchmarks and the length of a name, and what doesn't fit is refused in words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::metrics {

// A suite of some thousand benchmarks that lists each iteration stays below.
inline constexpr size_t kMostBytes = size_t{32} << 20;
inline constexpr size_t kMostBenchmarks = 2000;
inline constexpr size_t kMostNameBytes = 200;
// The most that one output may hold where each measurement is a process of its own.
inline constexpr size_t kMostProcesses = 100'000;
// Real files have less than ten.
inline constexpr int kMostDepth = 64;

// invariant: exactly one of seconds (finite, > 0) and reason
struct Metric {
  std::string name;
  std::optional<double> seconds;
  std::string reason;  // why there is no value: the benchmark's own error, or a time of 0
  bool operator==(const Metric&) const = default;
};

// What a benchmark was given, where its output says so in words of its own: a size, an option.
struct Parameter {
  std::string name, value;
  bool operator==(const Parameter&) const = default;
};

// What one process measured of one benchmark, where an output holds several processes.
// invariant: seconds finite, > 0; 0 if there is a failure
struct ProcessTime {
  std::string benchmark;
  size_t process = 0;  // of the output, from 0; no process is of two outputs
  double seconds = 0;  // the mean of what it repeated; of a count, the count
  std::string plain{};  // the benchmark without its parameters; empty: it has none
  std::vector<Parameter> parameters{};
  bool is_count = false;
  std::string failure{};  // why there is no time; empty: there is one
  bool operator==(const ProcessTime&) const = default;
};

// What a tool's own place is: own_place.cc reads it.
enum class OwnPlace {
  kFile,
  kNewest,     // a folder; the newest file counts: each run adds one
  kAll,        // a folder; all files count: a run writes several
  kCriterion,  // criterion's tree of folders
};

// One reader of the table of formats.cc.
struct Format {
  std::string_view name;  // in a plan
  std::string_view what;  // for people
  Result<std::vector<Metric>> (*read)(std::string_view text);
  // For tools that start a process for each measurement or for a few of them. null: all of an output comes from one process.
  Result<std::vector<ProcessTime>> (*read_processes)(std::string_view text) = nullptr;
  // Where the tool leaves its results by itself, below the directory that it ran in. Empty: nowhere
  std::string_view own_place{};
  OwnPlace own_kind = OwnPlace::kFile;
  std::string_view own_suffix{};  // of the files that count, in a folder
};
const std::vector<Format>& formats();
const Format* format_named(std::string_view name);  // null: none

// In the order of the text, each name once. An error says where in the text, and what was expected.
Result<std::vector<Metric>> read(const Format& format, std::string_view text);
// The same output, process by process. A benchmark that failed or was skipped has its reason. A command of hyperfine that failed
// is an error, as each command is a side.
Result<std::vector<ProcessTime>> read_processes(const Format& format, std::string_view text);

// The same of the place where a tool leaves its results: path is that place, as Format::own_kind says. An error names the file.
Result<std::vector<Metric>> read_own_place(const Format& format, const std::string& path);
Result<std::vector<ProcessTime>> read_own_processes(const Format& format, const std::string& path);

}  // namespace stab::metrics
