// Config: what the administrator of a daemon decides. stabd(8) is its reference.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/diagnostic.h"
#include "stabd/daemon_log.h"

namespace stab::engine {

// What one user may take. Defaults: enough for anybody, little enough that a loop in a script does no harm.
struct Quota {
  int experiments = 100;         // that wait, run or pause at the same time
  int trials = 10'000'000;       // places in the schedule of one experiment
  int priority = 0;              // the highest that may be asked for; below it is always allowed
  uint64_t disk_bytes = 0;       // of the user's builds; 0: no limit
};

// Beyond these a number is a slip of the hand. A priority is between them, for everybody.
inline constexpr int kLowestPriority = -1000, kHighestPriority = 1000;

struct Retention {
  std::chrono::nanoseconds experiments{0};  // finished ones are deleted after this time; 0: never
  std::chrono::nanoseconds builds{0};       // directories that nothing has used for this time are removed; 0: never
  uint64_t disk_bytes = 0;                  // of builds and archived binaries; the oldest go first; 0: no limit
  uint64_t free_bytes = 0;                  // with less than that left on the disk nothing is accepted
};

struct Config {
  std::string database, socket;  // empty: the default place
  std::string socket_group;      // who may connect; empty: the daemon's group
  bool root_plans = false;
  LogFormat log = LogFormat::kAuto;
  std::vector<std::string> notify;  // run when an experiment has ended; empty: nothing
  std::chrono::nanoseconds notify_timeout = std::chrono::seconds(30);
  Retention retention;
  Quota quota;                   // of users that have none of their own
  std::map<uint32_t, Quota> users;

  const Quota& quota_of(uint32_t uid) const;
};

struct ParsedConfig {
  std::optional<Config> config;  // present exactly if there are no errors
  std::vector<plan::Diagnostic> errors;
};

// Number of a user by name; nothing where there is none of that name.
using UserLookup = std::function<std::optional<uint32_t>(const std::string&)>;
std::optional<uint32_t> uid_of(const std::string& name);

ParsedConfig parse_config(std::string_view text, const std::string& path, const UserLookup& users);

// Reads a file that nobody but root and us may write: it names commands. An Error is about the file, not its text.
Result<ParsedConfig> load_config(const std::string& path);
// /etc/stab/stabd.toml for root, else $XDG_CONFIG_HOME/stab/stabd.toml or ~/.config/stab/stabd.toml; empty: no home.
std::string default_config();

// What holds, for a person.
std::string describe(const Config& config);

}  // namespace stab::engine
