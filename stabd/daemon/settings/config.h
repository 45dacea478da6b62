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
#include "plan/toml/diagnostic.h"
#include "stabd/daemon/settings/daemon_log.h"
#include "stabd/engine/machine/trial_limits.h"

namespace stab::daemon {

// What one user may take. Defaults: enough for anybody, little enough that a loop in a script does no harm.
struct Quota {
  int experiments = 100;         // that wait, run or pause at the same time
  int trials = 1'000'000;        // places in the schedule of one experiment: at a second each 11 days
  int priority = 0;              // the highest that may be asked for; below it is always allowed
  uint64_t disk_bytes = 0;       // of the user's builds; 0: no limit
  int stored_experiments = 1000; // in the database, those that are over included
  int all_trials = 10'000'000;   // of all of these
  uint64_t stored_bytes = uint64_t{4} << 30;  // of the database: plans, trials, outcomes, logs; 0: no limit
  std::chrono::nanoseconds wall_time{0};      // that one experiment may have the machine; 0: no limit
};

// A group by the name that the configuration has for it; none: nobody.
struct Group {
  std::string name;
  std::optional<uint32_t> gid;
};

// Root and the daemon's own user may do everything.
struct Policy {
  Group submitters;  // may submit; none: whoever may connect
  Group knobs;       // whose plans may turn what everybody on the machine feels
  Group operators;   // see and change others' experiments
};

struct Connections {
  int all = 256;      // of all users; each costs a descriptor and a few kilobytes
  int of_user = 16;
  // Only root and the daemon's user get the last ones, so that nobody locks out who can do something about it.
  static constexpr int kReserved = 16;
};

// Beyond these a number is a slip of the hand. A priority is between them, for everybody.
inline constexpr int kLowestPriority = -1000, kHighestPriority = 1000;

struct Retention {
  std::chrono::nanoseconds experiments{0};  // finished ones are deleted after this time; 0: never
  std::chrono::nanoseconds builds{0};       // directories that nothing has used for this time are removed; 0: never
  uint64_t disk_bytes = 0;                  // of builds and archived binaries; the oldest go first; 0: no limit
  uint64_t free_bytes = 0;                  // with less than that left on the disk nothing is accepted
};

// Of all processes of one trial, or one command around it, together.
struct ConfiguredLimits {
  std::optional<uint64_t> memory_bytes;  // none: nine tenths of the machine's; 0: no limit
  std::optional<int> processes;          // none: 4096; 0: no limit
  // The longest that a plan may give one trial or build. Nobody else's runs meanwhile: a day is more than any has that is
  // waited for.
  std::chrono::nanoseconds timeout = std::chrono::hours(24);  // 0: no limit
};

// What browsers get while trials follow each other. Do not reorder: the words of the configuration.
enum class DuringTrials {
  kLive,   // all, at once
  kQuiet,  // what they ask and what they are told waits until between two trials (stabd/daemon/requests/trial_gap.h)
  kOff,    // nothing but the page's own files
};
std::string_view name(DuringTrials during_trials);

struct Config {
  std::string database, socket;  // empty: the default place
  std::string socket_group;      // who may connect; empty: the daemon's group
  bool web = true;               // HTTP on a socket beside it
  DuringTrials during_trials = DuringTrials::kLive;
  std::string user;              // whom a daemon that was started as root goes on as
  std::string broker;            // socket of a broker that a service manager keeps; empty: we start our own
  bool root_plans = false;
  LogFormat log = LogFormat::kAuto;
  std::vector<std::string> notify;  // run when an experiment has ended; empty: nothing
  std::chrono::nanoseconds notify_timeout = std::chrono::seconds(30);
  Retention retention;
  ConfiguredLimits limits;
  Policy policy;
  Connections connections;
  Quota quota;                   // of users that have none of their own
  std::map<uint32_t, Quota> users;

  const Quota& quota_of(uint32_t uid) const;
};

struct ParsedConfig {
  std::optional<Config> config;  // present exactly if there are no errors
  std::vector<toml::Diagnostic> errors;
};

// Number of a user by name; nothing where there is none of that name.
using UserLookup = std::function<std::optional<uint32_t>(const std::string&)>;
std::optional<uint32_t> uid_of(const std::string& name);

// The same of a group.
using GroupLookup = std::function<std::optional<uint32_t>(const std::string&)>;
std::optional<uint32_t> gid_of(const std::string& name);

ParsedConfig parse_config(std::string_view text, const std::string& path, const UserLookup& users,
                          const GroupLookup& groups = gid_of);

// Reads a file that nobody but root and us may write: it names commands. An Error is about the file, not its text.
Result<ParsedConfig> load_config(const std::string& path);
// /etc/stab/stabd.toml for root, else $XDG_CONFIG_HOME/stab/stabd.toml or ~/.config/stab/stabd.toml; empty: no home.
std::string default_config();

// With the defaults of this machine.
engine::LabLimits lab_limits(const ConfiguredLimits& limits, const host::Roots& roots);

// What holds, for a person.
std::string describe(const Config& config);

}  // namespace stab::daemon
