// LaunchedAtBroker: a program that the broker has started for this engine, and is the parent of.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/separation/tree_at_broker.h"
#include "stabd/host/helper_process.h"
#include "stabd/host/launch.h"

namespace stab::engine {

// What a program is launched with beside the program itself. cgroup_procs, reset_oom_score, private_ipc, gid and groups are the
// broker's to choose.
struct LaunchOrder {
  host::LaunchRequest program;
  TreeAtBroker* tree = nullptr;            // that it is a member of from its beginning; null: of none, spared when one is ended
  host::TreeLimits limits_of_tree;         // of all in it together, from then on
  std::optional<host::HelperTask> helper;  // one is started with it; absent: none
};

// A launcher that sets everything up and then waits for go. Ended by the destructor unless it was before.
class LaunchedAtBroker {
 public:
  // Comes back as soon as it runs. The descriptors are its own from then on.
  static Result<LaunchedAtBroker> begin(broker::Client& broker, const LaunchOrder& order,
                                        const host::LaunchDescriptors& descriptors);
  // The same, and waits until it is ready.
  static Result<LaunchedAtBroker> start(broker::Client& broker, const LaunchOrder& order,
                                        const host::LaunchDescriptors& descriptors);
  LaunchedAtBroker(LaunchedAtBroker&& other) noexcept;
  LaunchedAtBroker& operator=(LaunchedAtBroker&&) = delete;
  ~LaunchedAtBroker();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }

  // To be called once, before what follows. An Error names the step that failed.
  Status wait_until_ready() { return pipes_.wait_until_ready(); }
  // Sends go and waits for the exec; or both steps of it, for programs that begin together.
  Result<host::LaunchStamp> go();
  Status send_go() { return pipes_.send_go(); }
  Result<host::LaunchStamp> wait_for_exec() { return pipes_.wait_for_exec(); }
  // Kills what still lives of it and of `tree` (null: of it alone), and has it reaped; once. kBusy when something is still alive
  // at the deadline.
  Result<host::ProcessUsage> end(TreeAtBroker* tree, std::chrono::milliseconds deadline);
  // Leaves it to the broker, which ends it with itself.
  void release() { pid_ = -1; }
  // Of the helper that was ordered with it; once. 0 without one.
  pid_t helper_pid() const { return helper_pid_; }
  UniqueFd take_helper_report() { return std::move(helper_report_); }

 private:
  explicit LaunchedAtBroker(broker::Client& broker) : broker_(&broker) {}
  broker::Client* broker_;
  pid_t pid_ = -1;  // -1: ended, or moved from
  UniqueFd pidfd_;
  host::LauncherPipes pipes_;
  pid_t helper_pid_ = 0;
  UniqueFd helper_report_;  // taken: whoever did ends the helper
};

}  // namespace stab::engine
