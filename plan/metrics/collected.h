// Collected: the benchmarks of one output while it is read; repeats of a name are averaged.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/metrics/metrics.h"

namespace stab::metrics {

class Collected {
 public:
  // One measurement. Refused: a name that is empty, too long or not text, and one benchmark too many.
  Status add(std::string_view name, double seconds);
  // The benchmark says itself that it has none.
  Status add_failed(std::string_view name, std::string_view reason);
  std::vector<Metric> take() const;
  bool empty() const { return items_.empty(); }

 private:
  struct Item {
    std::string name;
    double sum = 0;
    uint64_t count = 0;
    std::string reason;
  };
  Result<Item*> item(std::string_view name);

  std::vector<Item> items_;
  std::unordered_map<std::string, size_t> at_;
};

// A benchmark's name, with what it was given.
struct BenchmarkName {
  std::string full;   // what tells it from all others of the output
  std::string plain;  // without its parameters
  std::vector<Parameter> parameters;
};
// "sort" and size 8: "sort:size=8".
BenchmarkName with_parameters(std::string plain, std::vector<Parameter> parameters);

// Times of processes, each of one benchmark, under the rules of Collected.
class ProcessList {
 public:
  // Of a process of its own.
  Status add(const BenchmarkName& name, double seconds) { return add(name, seconds, times_.size()); }
  // process: two times of one benchmark are of two processes
  Status add(const BenchmarkName& name, double seconds, size_t process, bool is_count = false);
  // Of a process of its own that has no time of it.
  Status add_failed(const BenchmarkName& name, std::string_view reason);
  std::vector<ProcessTime> take() { return std::move(times_); }

 private:
  Collected names_;  // refuses what is no name, no time, or too many
  std::vector<ProcessTime> times_;
};

// Of a tool that lists each benchmark once: two of one name are two benchmarks, and a reader must not take them for one.
Status check_apart(const std::vector<std::string>& names, const std::string& cure);

// "ns", "us", "ms", "s" and their long forms; none: not a unit of time.
std::optional<double> seconds_of_unit(std::string_view unit);

}  // namespace stab::metrics
