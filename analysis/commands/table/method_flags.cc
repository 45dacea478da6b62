// Flags in, typed values out; every refusal quotes what was written.
#include "analysis/commands/table/method_flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/commands/table/csv.h"
#include "base/split.h"
#include "base/wording.h"

namespace stab::commands {
namespace {

Result<double> parse(std::string_view name, std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const char* start = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [stop, error] = std::from_chars(start, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value))
    return bad_input("--" + std::string(name) + " takes a number, got '" + std::string(text) + "'");
  return value;
}

}  // namespace

Result<Arguments> Arguments::parse(const std::vector<std::string>& args, const std::vector<std::string>& switches) {
  Arguments result;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with("--") || args[i].size() == 2) {
      result.positional_.push_back(args[i]);
      continue;
    }
    std::string name = args[i].substr(2), value;
    const size_t equals = name.find('=');
    if (equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (std::find(switches.begin(), switches.end(), name) == switches.end()) {
      if (i + 1 == args.size() || args[i + 1].starts_with("--")) return bad_input("--" + name + " needs a value");
      value = args[++i];
    }
    if (!result.flags_.emplace(name, value).second) return bad_input("--" + name + " is given twice");
  }
  return result;
}

bool Arguments::has(std::string_view name) const { return flags_.find(name) != flags_.end(); }

Status Arguments::only(const std::vector<std::string>& allowed) const {
  for (const auto& [name, value] : flags_) {
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    const std::string hint = did_you_mean(name, allowed);
    std::string list;
    for (const std::string& flag : allowed) list += (list.empty() ? "--" : " --") + flag;
    return bad_input("unknown flag --" + name + "; " + (hint.empty() ? "it takes " + list : hint));
  }
  return {};
}

std::string Arguments::text(std::string_view name, const std::string& fallback) const {
  const auto found = flags_.find(name);
  return found == flags_.end() ? fallback : found->second;
}

std::vector<std::string> Arguments::list(std::string_view name) const {
  const std::string listed = text(name);
  if (listed.empty()) return {};
  const std::vector<std::string_view> parts = split(listed, ',');
  return {parts.begin(), parts.end()};
}

Result<std::optional<double>> Arguments::number(std::string_view name) const {
  if (!has(name)) return std::optional<double>();
  STAB_TRY(const double value, commands::parse(name, text(name)));
  return std::optional<double>(value);
}

Result<double> Arguments::number(std::string_view name, double fallback) const {
  if (!has(name)) return fallback;
  return commands::parse(name, text(name));
}

Result<std::vector<double>> Arguments::numbers(std::string_view name, std::vector<double> fallback) const {
  if (!has(name)) return fallback;
  std::vector<double> values;
  for (const std::string& part : list(name)) {
    STAB_TRY(const double value, commands::parse(name, part));
    values.push_back(value);
  }
  return values;
}

Result<uint64_t> Arguments::count(std::string_view name, uint64_t fallback, uint64_t least) const {
  if (!has(name)) return fallback;
  STAB_TRY(const double value, commands::parse(name, text(name)));
  if (value != std::floor(value) || value < static_cast<double>(least) || value > 1e15)
    return bad_input("--" + std::string(name) + " takes a whole number from " + std::to_string(least) + ", got '" +
                     text(name) + "'");
  return static_cast<uint64_t>(value);
}

}  // namespace stab::commands
