// Launch: what a measured program is started with, and the process that results.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::engine {

// Whom the program runs as. Absent in a LaunchRequest: as the engine itself.
struct Submitter {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

struct Limit {
  int resource = 0;  // RLIMIT_*
  uint64_t soft = 0;
  uint64_t hard = 0;
};

struct LaunchRequest {
  std::string exec_path;  // absolute
  std::string directory;  // entered as the submitter
  std::vector<std::string> argv;
  std::vector<std::string> env;  // all of it: "NAME=value"
  int cpu = -1;
  bool aslr = true;
  bool thp = true;
  bool no_new_privs = true;
  std::optional<Submitter> submitter;
  std::vector<Limit> limits;
  std::vector<std::string> cgroup_procs;  // files that take "0"
};

// The block of launcher/launch_block.h. kBadInput where a string holds a 0 byte.
Result<std::string> encode(const LaunchRequest& request);

// Descriptors the program gets. -1 for helper and report: closed.
struct LaunchDescriptors {
  int in = -1, out = -1, err = -1;
  int helper = -1;
  int report = -1;
};

// The moment of the exec, and what the launcher had used by then, which wait4 counts as the program's.
struct LaunchStamp {
  std::chrono::nanoseconds raw{0};  // CLOCK_MONOTONIC_RAW
  std::chrono::nanoseconds user{0}, system{0};
  int64_t minor_faults = 0, major_faults = 0;
  int64_t voluntary_switches = 0, involuntary_switches = 0;
};

// A launcher that sets everything up and then waits for go. Killed and reaped by the destructor unless released.
class Launched {
 public:
  // Starts `launcher` and comes back as soon as it runs. The descriptors are its own from then on.
  static Result<Launched> begin(const std::string& launcher, const LaunchRequest& request,
                                const LaunchDescriptors& descriptors);
  // Waits for its "ready"; to be called once, before the rest below. An Error names the step that failed.
  Status wait_until_ready();
  // Both.
  static Result<Launched> start(const std::string& launcher, const LaunchRequest& request,
                                const LaunchDescriptors& descriptors);
  Launched(Launched&&) = default;
  Launched& operator=(Launched&&) = delete;
  ~Launched();

  // pre: ready.
  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }

  // Sends go and waits for the exec.
  Result<LaunchStamp> go();
  // The caller reaps from now on.
  void release() { pid_ = -1; }

 private:
  Launched() = default;
  Status meet();
  pid_t starter_ = -1;  // spawned by us; makes pid_ and ends. -1: waited for
  pid_t pid_ = -1;      // becomes the program. -1: not known yet, or the caller's
  UniqueFd pidfd_, go_, status_;  // status_ is open as long as this is not moved from
};

}  // namespace stab::engine
