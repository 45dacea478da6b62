// What the readers of JSON share: parsing within the limits, members that must be there, and the places that an error names.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/metrics/metrics.h"

namespace stab::metrics {

// NaN and Infinity, which Google Benchmark and Python write, become empty strings. An error names line and column.
Result<nlohmann::json> parse_json(std::string_view text);

// A member of an object; null: it has none.
const nlohmann::json* member(const nlohmann::json& of, const char* name);
Error lacks(const std::string& whose, const char* name, const char* expected);
// Members that must be there, and of their type.
Result<std::string> text_of(const nlohmann::json& of, const char* name, const std::string& whose);
Result<double> number_of(const nlohmann::json& of, const char* name, const std::string& whose);
Result<const nlohmann::json*> list_of(const nlohmann::json& of, const char* name, const std::string& whose);

// "benchmark 3": what has no name yet. index: from 0
std::string benchmark_at(size_t index);
Error unknown_unit(const std::string& name, const std::string& unit);

// The mean of the numbers in a list; 0 of them: nothing.
Result<std::optional<double>> mean_of(const nlohmann::json& list, const std::string& whose);

// Members of an object as parameters; nothing where there is no such object.
std::vector<Parameter> parameters_of(const nlohmann::json& one, const char* name);

}  // namespace stab::metrics
