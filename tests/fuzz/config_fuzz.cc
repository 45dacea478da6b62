// Whatever text comes in as a daemon's configuration: no crash, no hang, and either a configuration within its
// bounds or faults that have places and drive no terminal.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stabd/daemon/settings/config.h"

namespace {

using namespace stab;
using namespace stab::daemon;

void demand(bool condition) {
  if (!condition) std::abort();
}

bool is_within_bounds(const Quota& quota) {
  return quota.experiments >= 0 && quota.trials >= 0 && quota.priority >= kLowestPriority && quota.priority <= kHighestPriority;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto users = [](const std::string& name) {
    return name.size() % 2 == 0 ? std::optional<uint32_t>(static_cast<uint32_t>(name.size())) : std::nullopt;
  };
  const ParsedConfig parsed = parse_config(text, "fuzz.toml", users);
  demand(parsed.config.has_value() == parsed.errors.empty());
  for (const toml::Diagnostic& fault : parsed.errors) {
    demand(!fault.message.empty());
    for (char c : toml::render(fault)) demand(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
  }
  if (!parsed.config) return 0;
  const Config& config = *parsed.config;
  demand(is_within_bounds(config.quota));
  for (const auto& [uid, quota] : config.users) demand(is_within_bounds(quota));
  demand(config.notify.empty() || config.notify[0][0] == '/');
  demand(config.database.empty() || config.database[0] == '/');
  demand(config.notify_timeout.count() > 0);
  demand(config.retention.experiments.count() >= 0 && config.retention.builds.count() >= 0);
  demand(!describe(config).empty());
  return 0;
}
