// The engine's side of the launcher: lays out the request, spawns stab-launcher with its descriptors at their
// fixed numbers, and reads its answers. What happens between spawn and exec is in launcher/launcher.cc.
//
// posix_spawn, not fork: glibc's uses CLONE_VM | CLONE_VFORK, so that a large engine is not copied for each
// trial. All our descriptors are close-on-exec; what the launcher gets is listed here. The process that is spawned makes
// the one that becomes the program, our child as well, and ends (launcher.cc says why).
#include "stabd/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stabd/launcher/launch_block.h"

namespace stab::engine {
namespace {

using launch::LaunchHeader;
using launch::LaunchLimit;
using launch::LaunchReport;

// A launcher that is not ready by then hangs in a system call (a frozen cgroup, a dead network directory).
constexpr int kReadyMs = 10'000;
// Descriptors are moved out of the launcher's range before they are put at their numbers.
constexpr int kAboveLauncher = 200;

void append(std::string& block, const void* data, size_t bytes) {
  block.append(static_cast<const char*>(data), bytes);
}

bool append_string(std::string& block, const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  const uint32_t length = static_cast<uint32_t>(text.size());
  append(block, &length, sizeof length);
  block.append(text).push_back('\0');
  return true;
}

Result<UniqueFd> config_file(const std::string& block) {
  UniqueFd fd(::memfd_create("stab-launch", MFD_CLOEXEC));
  if (!fd) return system_error("memfd_create", errno);
  if (::write(fd.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size()))
    return system_error("write the launch request", errno);
  return fd;
}

Result<std::pair<UniqueFd, UniqueFd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2", errno);
  return std::pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

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
  const posix_spawn_file_actions_t* finish() {
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, launch::kReportFd + 1);
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

Error launcher_error(const LaunchReport& report) {
  const char* step =
      report.step < static_cast<uint32_t>(launch::Step::kCount) ? launch::kStepWords[report.step] : "unknown step";
  if (report.error_number != 0) return system_error(std::string("launcher: ") + step, report.error_number);
  return Error{ErrorCode::kDenied, std::string("launcher: ") + step + ": not so", {}};
}

LaunchStamp stamp_of(const LaunchReport& report) {
  LaunchStamp stamp;
  stamp.raw = std::chrono::nanoseconds(report.raw_ns);
  stamp.user = std::chrono::microseconds(report.user_us);
  stamp.system = std::chrono::microseconds(report.system_us);
  stamp.minor_faults = static_cast<int64_t>(report.minor_faults);
  stamp.major_faults = static_cast<int64_t>(report.major_faults);
  stamp.voluntary_switches = static_cast<int64_t>(report.voluntary_switches);
  stamp.involuntary_switches = static_cast<int64_t>(report.involuntary_switches);
  return stamp;
}

// POLLIN: until there is something to read; 0: until the other end is closed. False after kReadyMs.
bool wait_for(int fd, short events) {
  pollfd waiting{fd, events, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, kReadyMs);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// Without waiting. False: the other end was closed before.
bool next_report(int fd, LaunchReport& report) {
  return ::read(fd, &report, sizeof report) == static_cast<ssize_t>(sizeof report);
}

// The next report, which must be of this kind.
Result<LaunchReport> wait_for_report(int fd, LaunchReport::Kind kind) {
  if (!wait_for(fd, POLLIN)) return Error{ErrorCode::kSystem, "launcher: not ready after 10 s", {}};
  LaunchReport report{};
  if (!next_report(fd, report)) return Error{ErrorCode::kSystem, "launcher: ended before it was ready", {}};
  if (report.kind != kind) return launcher_error(report);
  return report;
}

}  // namespace

Result<std::string> encode(const LaunchRequest& request) {
  LaunchHeader header{};
  std::memcpy(header.magic, launch::kMagic, sizeof header.magic);
  header.version = launch::kVersion;
  header.flags = (request.aslr ? 0 : launch::kNoAslr) | (request.thp ? 0 : launch::kNoThp) |
                 (request.no_new_privs ? launch::kNoNewPrivs : 0) |
                 (request.submitter ? launch::kDropPrivileges : 0);
  header.cpu = request.cpu;
  if (request.submitter) {
    header.uid = request.submitter->uid;
    header.gid = request.submitter->gid;
    header.group_count = static_cast<uint32_t>(request.submitter->groups.size());
  }
  header.limit_count = static_cast<uint32_t>(request.limits.size());
  header.cgroup_count = static_cast<uint32_t>(request.cgroup_procs.size());
  header.argc = static_cast<uint32_t>(request.argv.size());
  header.envc = static_cast<uint32_t>(request.env.size());

  std::string block;
  append(block, &header, sizeof header);
  if (request.submitter)
    for (const uint32_t group : request.submitter->groups) append(block, &group, sizeof group);
  for (const Limit& limit : request.limits) {
    const LaunchLimit stored{static_cast<uint32_t>(limit.resource), 0, limit.soft, limit.hard};
    append(block, &stored, sizeof stored);
  }
  bool clean = append_string(block, request.exec_path) && append_string(block, request.directory);
  for (const auto* list : {&request.cgroup_procs, &request.argv, &request.env})
    for (const std::string& text : *list) clean = clean && append_string(block, text);
  if (!clean) return bad_input("a zero byte in the command, its environment or a path");
  return block;
}

Result<Launched> Launched::begin(const std::string& launcher, const LaunchRequest& request,
                                 const LaunchDescriptors& descriptors) {
  STAB_TRY(const std::string block, encode(request));
  STAB_TRY(UniqueFd config, config_file(block));
  STAB_TRY(auto go, make_pipe());
  STAB_TRY(auto status, make_pipe());

  SpawnFiles files;
  const std::pair<int, int> moves[] = {
      {descriptors.in, 0},          {descriptors.out, 1},
      {descriptors.err, 2},         {config.get(), launch::kConfigFd},
      {go.first.get(), launch::kGoFd}, {status.second.get(), launch::kStatusFd},
      {descriptors.helper, launch::kHelperFd}, {descriptors.report, launch::kReportFd}};
  for (const auto& [source, target] : moves) STAB_CHECK_OK(files.put(source, target));

  char name[] = "stab-launcher";
  char* argv[] = {name, nullptr};
  char* envp[] = {nullptr};
  pid_t pid = -1;
  const SpawnPriority priority;
  const int failed = ::posix_spawn(&pid, launcher.c_str(), files.finish(), priority.get(), argv, envp);
  if (failed != 0) return system_error("start '" + launcher + "'", failed);

  Launched launched;
  launched.starter_ = pid;
  launched.go_ = std::move(go.second);
  launched.status_ = std::move(status.first);
  return launched;
}

// Learns who becomes the program. It is our child and not waited for, so its number stays its own.
Status Launched::meet() {
  STAB_TRY(const LaunchReport moved, wait_for_report(status_.get(), LaunchReport::kMoved));
  pid_ = moved.pid;
  ::waitpid(std::exchange(starter_, -1), nullptr, 0);
  // glibc 2.36 declares pidfd_open without extern "C".
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) return system_error("pidfd_open", errno);
  return {};
}

Status Launched::wait_until_ready() {
  STAB_CHECK_OK(meet());
  STAB_TRY(const LaunchReport ready, wait_for_report(status_.get(), LaunchReport::kReady));
  (void)ready;
  return {};
}

Result<Launched> Launched::start(const std::string& launcher, const LaunchRequest& request,
                                 const LaunchDescriptors& descriptors) {
  STAB_TRY(Launched launched, begin(launcher, request, descriptors));
  STAB_CHECK_OK(launched.wait_until_ready());
  return launched;
}

Launched::~Launched() {
  if (!status_) return;
  if (starter_ > 0) (void)meet();
  for (const pid_t pid : {starter_, pid_}) {
    if (pid <= 0) continue;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

Result<LaunchStamp> Launched::go() {
  if (::write(go_.get(), "g", 1) != 1) return system_error("send go to the launcher", errno);
  // The descriptor closes with the exec, or with the launcher. Only then is the answer read: one wake-up less while
  // the program starts.
  if (!wait_for(status_.get(), 0)) return Error{ErrorCode::kSystem, "launcher: has not started the program after 10 s", {}};
  LaunchReport report{};
  if (!next_report(status_.get(), report))
    return Error{ErrorCode::kSystem, "launcher: ended instead of starting the program", {}};
  if (report.kind == LaunchReport::kFailed) return launcher_error(report);
  const LaunchStamp stamp = stamp_of(report);
  // A second record says why there was no exec.
  if (next_report(status_.get(), report)) return launcher_error(report);
  return stamp;
}

}  // namespace stab::engine
