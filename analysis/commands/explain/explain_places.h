// Which functions' places an explanation found, as a table with old and new places, and how to keep the fast ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// Null: nothing is known of single functions.
const statistics::PlaceAnswer* places_of(const Explanation& all);

// Indices of functions found alone or in pairs, each once.
std::vector<size_t> found_functions(const statistics::PlaceAnswer& places);

// How many bytes behind the first address the second one lies, modulo 4096.
uint64_t pair_distance(uint64_t first, uint64_t second);

// pre: functions were searched
std::string search_text(const Explanation& all, int width);

}  // namespace stab::commands
