// Which functions' places an explanation found, as a table with old and new places and a cure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/commands/explain/explain.h"

namespace stab::commands {

// Null: nothing is known of single functions.
const statistics::PlaceAnswer* places_of(const Explanation& all);

// Indices of functions found alone or in pairs, each once.
std::vector<size_t> found_functions(const statistics::PlaceAnswer& places);

// pre: functions were searched
std::string search_text(const Explanation& all, int width);

}  // namespace stab::commands
