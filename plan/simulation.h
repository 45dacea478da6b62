// Simulated trials: what cachegrind counts instead of what the machine does, and what a plan makes of it.
//
// The responses of such a plan are events of a model of caches and branch prediction, and one number that weighs them. They are
// no times and have no relation to seconds; the words here say so wherever they are shown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stab::plan {

enum class Simulator { kNone, kCachegrind };

// Of one cache. bytes 0: as the machine's.
// invariant: bytes is ways * line_bytes * a power of two, line_bytes a power of two of at least 16
struct CacheShape {
  uint64_t bytes = 0;
  int ways = 0;
  int line_bytes = 0;
  bool declared() const { return bytes > 0; }
  bool operator==(const CacheShape&) const = default;
};
// Whether that can be: what is wrong, or empty.
std::string why_no_cache(const CacheShape& shape);
// "32 KiB in 8 ways of 64-byte lines"
std::string words_of(const CacheShape& shape);

// The cost is instructions + each event times its weight. The defaults are those of KCachegrind's cycle estimation.
struct CostWeights {
  double miss = 10;              // of the first level, instructions and data
  double last_level_miss = 100;
  double misprediction = 10;     // of branches and of where indirect ones go
};

struct Simulation {
  Simulator simulator = Simulator::kNone;
  CacheShape i1, d1, ll;
  CostWeights weights;
  bool on() const { return simulator != Simulator::kNone; }
};

// Sums of what cachegrind counts.
struct SimulatedCounts {
  uint64_t instructions = 0;
  uint64_t i1_misses = 0, d1_misses = 0;  // of the first level's caches
  uint64_t ll_misses = 0;                 // of the last level, instructions and data
  uint64_t mispredictions = 0;
};
double cost_of(const SimulatedCounts& counts, const CostWeights& weights);

// The responses of a simulated trial, the cost first. Words of plans and of databases: do not rename.
struct SimulatedResponse {
  std::string_view name;
  std::string_view unit;
  bool multiplies;  // on the log scale unless the plan says otherwise; what may not happen at all is on the raw one
  uint64_t SimulatedCounts::*count;  // null: the cost
};
inline constexpr std::array<SimulatedResponse, 6> kSimulatedResponses = {{
    {"simulated_cost", "simulated cost", true, nullptr},
    {"simulated_instructions", "simulated events", true, &SimulatedCounts::instructions},
    {"simulated_I1_misses", "simulated events", false, &SimulatedCounts::i1_misses},
    {"simulated_D1_misses", "simulated events", false, &SimulatedCounts::d1_misses},
    {"simulated_LL_misses", "simulated events", false, &SimulatedCounts::ll_misses},
    {"simulated_mispredictions", "simulated events", false, &SimulatedCounts::mispredictions},
}};
const SimulatedResponse* simulated_response(std::string_view name);  // null: none

// "simulated cost = instructions + 10 x ..., by cachegrind with ...": for reports and plan check.
std::string words_of(const Simulation& simulation);

}  // namespace stab::plan
