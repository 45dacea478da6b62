// OwnProcess: a process that runs one of our own programs for an engine: a worker, a deputy, a companion, a reader of files.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "stabd/engine/separation/tree_at_broker.h"
#include "stabd/host/launch.h"

namespace stab::engine {

class OwnProcess {
 public:
  virtual ~OwnProcess() = default;  // ends it unless it was
  virtual pid_t pid() const = 0;
  virtual int pidfd() const = 0;
  // Kills it, and has it reaped; once. kBusy when it still lives at the deadline.
  virtual Result<host::ProcessUsage> end(std::chrono::milliseconds deadline) = 0;
};

// Starts one and waits for its exec.
using StartProcess = std::function<Result<std::unique_ptr<OwnProcess>>(const host::LaunchRequest& program,
                                                                       const host::LaunchDescriptors& descriptors)>;
// In no trial's tree. `broker` outlives what it starts.
StartProcess started_by(broker::Client& broker);
// As a member of a tree of trials, within these limits; it ends with all of the tree. `tree` outlives it.
StartProcess started_in(TreeAtBroker& tree, const host::TreeLimits& limits);
// By this process: as itself, where there is no engine, or as a broker starts nothing as the daemon's own user; or, where it is
// root, as anybody. One that can't be ended is left to itself.
StartProcess started_here(const std::string& launcher);

}  // namespace stab::engine
