// posix_spawn, not fork: glibc's uses CLONE_VM | CLONE_VFORK, so that a large engine is not copied for each
// trial. All our descriptors are close-on-exec; what the launcher gets is listed here.
#include "stabd/host/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "stabd/host/launcher/launch_block.h"

namespace stab::host {
namespace {

// Descriptors are moved out of the launcher's range before they are put at their numbers.
constexpr int kAboveLauncher = 200;

// The file actions of one spawn; owns copies of the sources that would collide with a target.
class SpawnFiles {
 public:
  SpawnFiles() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnFiles() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnFiles(const SpawnFiles&) = delete;
  SpawnFiles& operator=(const SpawnFiles&) = delete;

  Status put(int source, int target) {
    if (source < 0) return {};
    if (source != target && source < kAboveLauncher && (source >= launch::kConfigFd || source <= 2)) {
      UniqueFd moved(::fcntl(source, F_DUPFD_CLOEXEC, kAboveLauncher));
      if (!moved) return system_error("dup a descriptor for the launcher", errno);
      source = moved.get();
      moved_.push_back(std::move(moved));
    }
    ::posix_spawn_file_actions_adddup2(&actions_, source, target);
    return {};
  }
  const posix_spawn_file_actions_t* finish(int last) {
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, last + 1);
    return &actions_;
  }

 private:
  posix_spawn_file_actions_t actions_;
  std::vector<UniqueFd> moved_;
};

// An engine that is in front of everything else starts launchers that are, too: on a busy housekeeping CPU they would
// wait for a time slice of 4 ms before they get to the trial's. They step back last, before they say "ready":
// what a user can make slow on the way (a directory on a network) sleeps and takes no time from anybody.
class SpawnPriority {
 public:
  SpawnPriority() {
    ::posix_spawnattr_init(&attributes_);
    sched_param priority{};
    if ((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_FIFO || ::sched_getparam(0, &priority) != 0) return;
    ::posix_spawnattr_setschedpolicy(&attributes_, SCHED_FIFO);
    ::posix_spawnattr_setschedparam(&attributes_, &priority);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSCHEDULER);
  }
  ~SpawnPriority() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnPriority(const SpawnPriority&) = delete;
  SpawnPriority& operator=(const SpawnPriority&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

Result<pid_t> spawn(const std::string& launcher, const posix_spawn_file_actions_t* files) {
  char name[] = "stab-launcher";
  char* argv[] = {name, nullptr};
  char* envp[] = {nullptr};
  pid_t pid = -1;
  const SpawnPriority priority;
  const int failed = ::posix_spawn(&pid, launcher.c_str(), files, priority.get(), argv, envp);
  if (failed != 0) return system_error("start '" + launcher + "'", failed);
  return pid;
}

}  // namespace

Result<pid_t> spawn_launcher(const std::string& launcher, const LauncherDescriptors& descriptors) {
  SpawnFiles files;
  const std::pair<int, int> moves[] = {
      {descriptors.in, 0},          {descriptors.out, 1},
      {descriptors.err, 2},         {descriptors.config, launch::kConfigFd},
      {descriptors.go, launch::kGoFd}, {descriptors.status, launch::kStatusFd},
      {descriptors.helper, launch::kHelperFd}, {descriptors.report, launch::kReportFd},
      {descriptors.ipc, launch::kIpcFd},       {descriptors.mounts, launch::kMountsFd}};
  for (const auto& [source, target] : moves) STAB_CHECK_OK(files.put(source, target));
  return spawn(launcher, files.finish(launch::kMountsFd));
}

Result<pid_t> spawn_starter(const std::string& launcher, int orders) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return system_error("open '/dev/null'", errno);
  SpawnFiles files;
  for (const int target : {0, 1, 2}) STAB_CHECK_OK(files.put(null.get(), target));
  STAB_CHECK_OK(files.put(orders, launch::kOrdersFd));
  return spawn(launcher, files.finish(launch::kOrdersFd));
}

}  // namespace stab::host
