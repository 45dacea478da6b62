// What a simulated trial's numbers are called, how they make a cost, and how a cache is said.
#include "plan/simulation.h"

#include <algorithm>

#include "base/number_text.h"

namespace stab::plan {
namespace {

bool is_power_of_two(uint64_t number) { return number > 0 && (number & (number - 1)) == 0; }

std::string size_words(uint64_t bytes) {
  if (bytes % (1u << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes % (1u << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " bytes";
}

}  // namespace

std::string why_no_cache(const CacheShape& shape) {
  if (shape.line_bytes < 16 || !is_power_of_two(static_cast<uint64_t>(shape.line_bytes)))
    return "lines of " + std::to_string(shape.line_bytes) + " bytes; cachegrind takes a power of two of at least 16";
  if (shape.ways < 1) return "no way; 1 is a direct-mapped cache";
  const uint64_t set = static_cast<uint64_t>(shape.ways) * static_cast<uint64_t>(shape.line_bytes);
  if (shape.bytes % set != 0 || !is_power_of_two(shape.bytes / set))
    return size_words(shape.bytes) + " are no power of two of sets of " + std::to_string(shape.ways) + " x " +
           std::to_string(shape.line_bytes) + " bytes, which cachegrind needs";
  return {};
}

std::string words_of(const CacheShape& shape) {
  if (!shape.declared()) return "as this machine's";
  return size_words(shape.bytes) + " in " + std::to_string(shape.ways) + (shape.ways == 1 ? " way" : " ways") + " of " +
         std::to_string(shape.line_bytes) + "-byte lines";
}

double cost_of(const SimulatedCounts& counts, const CostWeights& weights) {
  return static_cast<double>(counts.instructions) +
         weights.miss * static_cast<double>(counts.i1_misses + counts.d1_misses) +
         weights.last_level_miss * static_cast<double>(counts.ll_misses) +
         weights.misprediction * static_cast<double>(counts.mispredictions);
}

const SimulatedResponse* simulated_response(std::string_view name) {
  const auto* at = std::find_if(kSimulatedResponses.begin(), kSimulatedResponses.end(),
                                [&](const SimulatedResponse& response) { return response.name == name; });
  return at == kSimulatedResponses.end() ? nullptr : at;
}

std::string words_of(const Simulation& simulation) {
  const CostWeights& weights = simulation.weights;
  return "simulated cost = instructions + " + number_text(weights.miss) + " x first-level misses + " +
         number_text(weights.last_level_miss) + " x last-level misses + " + number_text(weights.misprediction) +
         " x mispredictions, by cachegrind with I1 " + words_of(simulation.i1) + ", D1 " + words_of(simulation.d1) +
         ", LL " + words_of(simulation.ll);
}

}  // namespace stab::plan
