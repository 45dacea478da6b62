// Below which table of a plan a key stands, for what is said of one that stands elsewhere.
#pragma once

#include <string_view>

namespace stab::plan {

// "[factors]"; empty for a key of no table, of several, or of one within another.
std::string_view table_of_key(std::string_view key);

}  // namespace stab::plan
