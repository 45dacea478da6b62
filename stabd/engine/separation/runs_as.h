// Whom the programs of an experiment run as.
#pragma once

#include <optional>
#include <string>

#include "stabd/engine/separation/engine_options.h"
#include "stabd/host/launch.h"

namespace stab::engine {

// Whether the broker has rights that we don't have.
bool is_separated(const EngineOptions& options);

// Nothing: as whoever starts them, the engine or its broker. A broker that can become anybody looks up group and groups
// itself.
std::optional<host::Submitter> runs_as(const EngineOptions& options, uid_t uid, gid_t gid);

// Makes an empty directory that is ours the user's: by ourselves where we are root, else by the broker.
Status give_directory(const EngineOptions& options, const std::string& path, uid_t uid, gid_t gid);

}  // namespace stab::engine
