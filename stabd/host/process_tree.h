// ProcessTree: all processes of one trial, those that double-forked and started sessions of their own too, and
// how to be rid of them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/host/roots.h"
#include "stabd/host/tree_bounds.h"

namespace stab::broker {
class Client;
struct Answer;
struct End;
}

namespace stab::host {

struct LaunchRequest;
struct TemporaryNames;

// What holds the tree together.
enum class TreeKind {
  kCgroup2,   // a cgroup of the unified hierarchy
  kFreezer,   // a cgroup of the v1 freezer
  kAncestry,  // no cgroup to be had: descendants of this process, which is their subreaper
};
std::string_view name(TreeKind kind);

class ProcessTree {
 public:
  // Makes an empty one, with the best means this machine gives. Also kills and removes what engines that
  // are no longer alive have left. `wanted` is for tests. `parent`: the group of the unified hierarchy to make it in,
  // instead of our own. `delegation`, which outlives it: so that it can be limited; null: it can't.
  static Result<ProcessTree> create(const Roots& roots, TreeKind wanted = TreeKind::kCgroup2,
                                    const std::string& parent = {}, Delegation* delegation = nullptr);
  // One that a broker holds. `isolated`: on the CPU that its knob cpuset has freed. `own_cpu`: where the broker works.
  // `limited`: whether limits will be wanted. `private_ipc`: what its processes leave in System V objects, POSIX queues and
  // /dev/shm is theirs alone, where that can be had. `tmp`: /tmp and /var/tmp are theirs, too, where the first is.
  static Result<ProcessTree> create_at(broker::Client& broker, bool isolated, int own_cpu, bool limited = false,
                                       bool private_ipc = false, const TemporaryNames* tmp = nullptr);
  ProcessTree(ProcessTree&& other) noexcept;
  ProcessTree& operator=(ProcessTree&&) = delete;
  ~ProcessTree();

  TreeKind kind() const { return kind_; }
  // Files that a new member writes "0" to; none where a broker holds it.
  std::vector<std::string> procs_files() const;
  // What is launched by this request is a member from its beginning, within the request's limits.
  Status admit(LaunchRequest& request);
  // The broker that holds this tree; null: this process holds it.
  broker::Client* broker() const { return broker_; }
  // Its broker's number for it; 0: we hold it.
  uint32_t number() const { return number_; }
  // Bounds for all of it together, until others are set. kUnavailable where one is wanted that can't be had.
  Status limit(const TreeLimits& limits);
  // Why there can't be one; empty: there can.
  const std::string& why_no_memory_limit() const { return why_no_memory_; }
  const std::string& why_no_process_limit() const { return why_no_processes_; }
  // Why its processes share those with the machine; empty: they don't.
  const std::string& why_ipc_is_shared() const { return why_ipc_is_shared_; }
  const std::string& why_tmp_is_shared() const { return why_tmp_is_shared_; }
  // The next one that is admitted is the first of a trial: it finds nothing there that was left before.
  void begin_trial() { begins_trial_ = true; }
  // How often they were met since the last call; where a broker holds it, Launched::end() says so.
  LimitHits take_hits();
  // Processes of ours that are no part of the trial (the helper); needed for kAncestry only.
  void spare(pid_t pid) { spared_.push_back(pid); }
  void forget_spared() { spared_.clear(); }
  // The same for one that outlives trials (the worker), from any thread.
  void keep(pid_t pid);
  void keep_no_longer(pid_t pid);

  bool empty() const;
  // Kills until it is empty. kBusy when something is still alive at the deadline. Reaps nothing: zombies don't
  // count as alive.
  Status kill_all(std::chrono::milliseconds deadline);

 private:
  ProcessTree(Roots roots, TreeKind kind, std::string directory);
  Roots roots_;
  TreeKind kind_;
  std::string directory_;  // of the cgroup; empty for kAncestry
  std::vector<pid_t> not_ours() const;  // spared or kept
  std::vector<pid_t> spared_;
  broker::Client* broker_ = nullptr;
  uint32_t number_ = 0;
  struct Kept;
  std::unique_ptr<Kept> kept_;
  std::unique_ptr<TreeBounds> bounds_;
  std::string why_no_memory_, why_no_processes_, why_ipc_is_shared_, why_tmp_is_shared_;
  bool begins_trial_ = false;
};

// Asks again until what the request names is gone. kBusy when something is still alive at the deadline.
Result<broker::Answer> end_at_broker(broker::Client& broker, const broker::End& request, std::chrono::milliseconds deadline);

// A new group for a tree of this process's below `parent`; empty: none can be made there.
std::string make_tree_group(const std::string& parent);
// Kills and removes the trees below this cgroup whose engines are no longer alive.
void remove_dead_trees(const std::string& parent);

// pidfd_open(2): -1 with errno. pre: nobody else reaps it.
int open_pidfd(pid_t pid);

// Parent of each live, non-zombie process, read from <proc>/PID/stat.
std::map<pid_t, pid_t> live_parents(const Roots& roots);
// Members of `parents` below `root`, without `spared` and what is below those.
std::vector<pid_t> descendants(const std::map<pid_t, pid_t>& parents, pid_t root, const std::vector<pid_t>& spared);
// Where the unified (or, with a controller's name, the v1) hierarchy is mounted, from <proc>/self/mounts; empty if it isn't.
std::string cgroup_mount(const Roots& roots, std::string_view controller);
// The same, joined with our own place in it, from <proc>/self/cgroup. A group that we have stepped aside to
// (stabd/host/delegation.h) is not our place: the one above it is.
inline constexpr std::string_view kAsidePrefix = "stab-aside-";
std::string own_cgroup(const Roots& roots, std::string_view controller);

}  // namespace stab::host
