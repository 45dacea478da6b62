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

namespace stab::host {

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
  ProcessTree(ProcessTree&& other) noexcept;
  ProcessTree& operator=(ProcessTree&&) = delete;
  ~ProcessTree();

  TreeKind kind() const { return kind_; }
  // Files that a new member writes "0" to.
  std::vector<std::string> procs_files() const;
  // Bounds for all of it together, until others are set. kUnavailable where one is wanted that can't be had.
  Status limit(const TreeLimits& limits);
  // Why there can't be one; empty: there can.
  const std::string& why_no_memory_limit() const { return why_no_memory_; }
  const std::string& why_no_process_limit() const { return why_no_processes_; }
  // How often they were met since the last call.
  LimitHits take_hits();
  // Processes of ours that are no part of the trial; needed for kAncestry only.
  void spare(pid_t pid) { spared_.push_back(pid); }
  void forget_spared() { spared_.clear(); }

  bool empty() const;
  // Kills until it is empty. kBusy when something is still alive at the deadline. Reaps nothing: zombies don't
  // count as alive.
  Status kill_all(std::chrono::milliseconds deadline);

 private:
  ProcessTree(Roots roots, TreeKind kind, std::string directory);
  Roots roots_;
  TreeKind kind_;
  std::string directory_;  // of the cgroup; empty for kAncestry
  std::vector<pid_t> spared_;
  std::unique_ptr<TreeBounds> bounds_;
  std::string why_no_memory_, why_no_processes_;
};

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
