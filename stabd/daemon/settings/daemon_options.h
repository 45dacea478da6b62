// Settings: what a daemon starts with. The command line comes before the configuration, that before the defaults.
#pragma once

#include <string>

#include "base/result.h"
#include "stabd/daemon/settings/config.h"

namespace stab::daemon {

struct DaemonOptions {
  std::string database, socket, config;  // empty: not said
  std::string user, broker;
  bool allow_root = false;
};

// With database and socket as absolute paths. kBadInput carries the faults of the configuration, rendered.
Result<Config> settle_config(const DaemonOptions& options);

// Whether a daemon with these settings has its programs, its user and its places: changes nothing, and looks into no database.
Status check_places(const Config& config);

// Whether a daemon with these settings would start: changes nothing. Each prerequisite has its own message.
Status check_prerequisites(const Config& config);

// Makes the database's file if it isn't there, and has nobody but us read it: it holds what several users run, and
// the socket decides who sees what.
Status keep_private(const std::string& database);

}  // namespace stab::daemon
