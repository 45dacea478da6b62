// Arguments: the flags of stats and analyze, whose set depends on the method.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::commands {

// "--name value", "--name=value" and "--switch"; the rest are positional.
class Arguments {
 public:
  // switches: names that take no value. Refuses a flag without its value, and one given twice.
  static Result<Arguments> parse(const std::vector<std::string>& args, const std::vector<std::string>& switches);

  const std::vector<std::string>& positional() const { return positional_; }
  bool has(std::string_view name) const;
  // Refuses any flag that is not in `allowed` (without dashes), with "did you mean".
  Status only(const std::vector<std::string>& allowed) const;

  std::string text(std::string_view name, const std::string& fallback = {}) const;
  // Comma separated; empty when not given.
  std::vector<std::string> list(std::string_view name) const;
  Result<std::optional<double>> number(std::string_view name) const;
  Result<double> number(std::string_view name, double fallback) const;
  Result<std::vector<double>> numbers(std::string_view name, std::vector<double> fallback) const;
  // A whole number >= least.
  Result<uint64_t> count(std::string_view name, uint64_t fallback, uint64_t least) const;

 private:
  std::vector<std::string> positional_;
  std::map<std::string, std::string, std::less<>> flags_;
};

}  // namespace stab::commands
