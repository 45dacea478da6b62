// Collected: the benchmarks of one output while it is read; repeats of a name are averaged.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
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

// "ns", "us", "ms", "s" and their long forms; none: not a unit of time.
std::optional<double> seconds_of_unit(std::string_view unit);

}  // namespace stab::metrics
