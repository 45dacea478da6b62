// Launch: what a measured program is started with, and the process that results.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/host/launcher_pipes.h"
#include "stabd/host/tree_bounds.h"

namespace stab::host {

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

// A limit of that much, or of what a limit of our own leaves: nobody but root may give a child more.
Limit limit_within_ours(int resource, uint64_t most);

// What a file is known by, short of its content.
struct FileIdentity {
  uint64_t inode = 0, bytes = 0;
  int64_t modified_ns = 0;
};

struct LaunchRequest {
  std::string exec_path;  // absolute
  std::string program_path;  // the file that must_be is of; empty: exec_path
  std::optional<FileIdentity> must_be;  // of program_path, or it is not started: kCorrupt
  std::string directory;  // entered as the submitter
  std::vector<std::string> argv;
  std::vector<std::string> env;  // all of it: "NAME=value"
  int cpu = -1;
  std::chrono::nanoseconds slice{0};  // of CPU time at a time, where others want the CPU, too; 0: what the kernel gives
  bool aslr = true;
  bool thp = true;
  bool no_new_privs = true;
  std::optional<Submitter> submitter;
  std::vector<Limit> limits;
  std::vector<std::string> cgroup_procs;  // files that take "0"
  bool reset_oom_score = false;  // to 0, where whoever starts it has another
  bool private_ipc = false;      // of its tree; the descriptors are its namespaces
};

// The block of launcher/launch_block.h. kBadInput where a string holds a 0 byte.
Result<std::string> encode(const LaunchRequest& request);
// Its two parts: what a broker decides, without the strings but for cgroup_procs, and the command, which is data to it and
// has this many strings besides arguments and environment.
inline constexpr size_t kCommandStrings = 4;
Result<std::string> encode_terms(const LaunchRequest& request, uint32_t argc, uint32_t envc);
Result<std::string> encode_command(const LaunchRequest& request);

// Descriptors the program gets. -1 for helper and report: closed. ipc and mounts are entered and closed.
struct LaunchDescriptors {
  int in = -1, out = -1, err = -1;
  int helper = -1;
  int report = -1;
  int ipc = -1, mounts = -1;
};

// How a process ended, and what it used.
struct ProcessUsage {
  int status = 0;  // of wait4
  rusage usage{};
  LimitHits hits;  // of its tree, since what ran there before
};

class Starter;

// A launcher that sets everything up and then waits for go. Killed and reaped by the destructor unless it was released.
class Launched {
 public:
  // Starts `launcher` and comes back as soon as it runs. The descriptors are its own from then on.
  static Result<Launched> begin(const std::string& launcher, const LaunchRequest& request,
                                const LaunchDescriptors& descriptors);
  // Waits for its "ready"; to be called once, before the rest below. An Error names the step that failed.
  Status wait_until_ready();
  // The same for a block that is encoded already; comes back once it is known who becomes the program. `starter`: who
  // makes it, instead of a launcher that is started for it; kUnavailable where that one is dead, or dies of it.
  static Result<Launched> begin_encoded(const std::string& launcher, const std::string& block,
                                        const LaunchDescriptors& descriptors, Starter* starter = nullptr);
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
  // Kills what still lives of it, and reaps it; once.
  Result<ProcessUsage> end();
  // The caller ends and reaps from now on, and whoever takes the pipes speaks to it.
  void release() { pid_ = -1; }
  LauncherPipes take_pipes() { return std::move(pipes_); }

 private:
  Launched() = default;
  static Result<Launched> spawn(const std::string& launcher, const std::string& block, const LaunchDescriptors& descriptors,
                                Starter* starter);
  Status learn_pid();
  pid_t starter_ = -1;  // spawned by us; makes pid_ and ends. -1: waited for
  pid_t pid_ = -1;      // becomes the program. -1: not known yet, or the caller's
  UniqueFd pidfd_;
  LauncherPipes pipes_;  // its status is open as long as this is not moved from
};

}  // namespace stab::host
