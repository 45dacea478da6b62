// stab-launcher: becomes the measured program. Everything that has to happen between fork and exec happens
// here, in a process of its own, because libuv has no pre-exec hook and because a static program of one page
// or two leaves nothing of a big engine (threads, heap, page tables) in the trial.
//
// Order (DESIGN 6): session, cgroup, affinity, ASLR, huge pages, limits, groups and user with proof, working
// directory as that user, no_new_privs, signals; then it says "ready", waits for one byte on the go pipe while
// the engine opens counters on this pid (enable_on_exec), stamps the clock and execs. If the engine dies
// first, the pipe closes and the launcher ends without a trace.
//
// The request's format is launch_block.h; the engine's side is stabd/launch.cc.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stabd/launcher/launch_block.h"

namespace {

using stab::launch::BlockReader;
using stab::launch::LaunchHeader;
using stab::launch::LaunchLimit;
using stab::launch::LaunchReport;
using stab::launch::Step;

struct Request {
  LaunchHeader header;
  gid_t* groups;
  LaunchLimit* limits;
  const char* exec_path;
  const char* directory;
  const char** cgroups;
  char** argv;  // ends with null, as does envp
  char** envp;
};

void tell(const LaunchReport& report) {
  // A pipe takes a record whole or not at all; if the engine is gone, nobody is left to tell.
  if (write(stab::launch::kStatusFd, &report, sizeof report) != sizeof report) _exit(127);
}

[[noreturn]] void fail(Step step, int error_number) {
  LaunchReport report{};
  report.kind = LaunchReport::kFailed;
  report.step = static_cast<uint32_t>(step);
  report.error_number = error_number;
  tell(report);
  _exit(127);
}

void check(Step step, bool ok) {
  if (!ok) fail(step, errno);
}

// Reads all of kConfigFd. The memory is never freed: exec does it.
char* read_block(size_t& bytes) {
  struct stat info;
  check(Step::kReadConfig, fstat(stab::launch::kConfigFd, &info) == 0);
  bytes = static_cast<size_t>(info.st_size);
  char* block = static_cast<char*>(malloc(bytes + 1));
  check(Step::kReadConfig, block != nullptr);
  check(Step::kReadConfig, pread(stab::launch::kConfigFd, block, bytes, 0) == static_cast<ssize_t>(bytes));
  return block;
}

template <typename T>
T* array_of(size_t count) {
  T* array = static_cast<T*>(calloc(count + 1, sizeof(T)));
  check(Step::kReadConfig, array != nullptr);
  return array;
}

bool take_strings(BlockReader& reader, uint32_t count, const char** out) {
  for (uint32_t i = 0; i < count; ++i)
    if (!reader.take_string(out[i])) return false;
  return true;
}

bool parse(BlockReader reader, Request& request) {
  LaunchHeader& header = request.header;
  if (!reader.take(&header, sizeof header)) return false;
  if (memcmp(header.magic, stab::launch::kMagic, sizeof header.magic) != 0) return false;
  if (header.version != stab::launch::kVersion) return false;
  request.groups = array_of<gid_t>(header.group_count);
  if (!reader.take(request.groups, header.group_count * sizeof(gid_t))) return false;
  request.limits = array_of<LaunchLimit>(header.limit_count);
  if (!reader.take(request.limits, header.limit_count * sizeof(LaunchLimit))) return false;
  if (!reader.take_string(request.exec_path) || !reader.take_string(request.directory)) return false;
  request.cgroups = array_of<const char*>(header.cgroup_count);
  request.argv = array_of<char*>(header.argc);
  request.envp = array_of<char*>(header.envc);
  return take_strings(reader, header.cgroup_count, request.cgroups) &&
         take_strings(reader, header.argc, const_cast<const char**>(request.argv)) &&
         take_strings(reader, header.envc, const_cast<const char**>(request.envp)) && reader.at_end();
}

void join_cgroups(const Request& request) {
  for (uint32_t i = 0; i < request.header.cgroup_count; ++i) {
    const int fd = open(request.cgroups[i], O_WRONLY | O_CLOEXEC);
    check(Step::kCgroup, fd >= 0);
    check(Step::kCgroup, write(fd, "0", 1) == 1);
    close(fd);
  }
}

void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  check(Step::kAffinity, sched_setaffinity(0, sizeof set, &set) == 0);
}

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return true;
  return (data[0].permitted | data[0].effective | data[0].inheritable | data[1].permitted | data[1].effective |
          data[1].inheritable) != 0;
}

// Becomes the user and proves that there is no way back: real, effective and saved ids are the user's, no
// capability is left in any set, and asking for root again is refused.
void drop_privileges(const Request& request) {
  const LaunchHeader& header = request.header;
  check(Step::kGroups, setgroups(header.group_count, request.groups) == 0);
  check(Step::kGroups, setresgid(header.gid, header.gid, header.gid) == 0);
  check(Step::kUser, setresuid(header.uid, header.uid, header.uid) == 0);
  uid_t uids[3];
  gid_t gids[3];
  check(Step::kProof, getresuid(&uids[0], &uids[1], &uids[2]) == 0);
  check(Step::kProof, getresgid(&gids[0], &gids[1], &gids[2]) == 0);
  for (int i = 0; i < 3; ++i)
    if (uids[i] != header.uid || gids[i] != header.gid) fail(Step::kProof, 0);
  if (header.uid == 0) return;
  if (has_capabilities()) fail(Step::kProof, 0);
  if (setresuid(0, 0, 0) == 0 || setuid(0) == 0 || seteuid(0) == 0) fail(Step::kProof, 0);
}

// A program starts with default dispositions and an empty mask, whatever the engine had. By system call, since
// libc keeps signals 32 and 33 to itself and they may be ignored too.
void reset_signals() {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } action = {SIG_DFL, 0, nullptr, 0};
  for (int signal = 1; signal <= 64; ++signal)  // refused for SIGKILL and SIGSTOP
    syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
  sigset_t none;
  sigemptyset(&none);
  check(Step::kSignals, sigprocmask(SIG_SETMASK, &none, nullptr) == 0);
}

// Whatever else the engine may have inherited from whoever started it.
void close_the_rest() {
  close_range(3, stab::launch::kConfigFd, 0);
  close_range(stab::launch::kReportFd + 1, ~0u, 0);
}

void wait_for_go() {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(stab::launch::kGoFd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(127);  // the engine is gone, or has changed its mind
}

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000u + static_cast<uint64_t>(time.tv_usec);
}

uint64_t raw_clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// The clock is read last: what follows it is one write and the exec.
LaunchReport started() {
  LaunchReport report{};
  report.kind = LaunchReport::kStarted;
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  report.user_us = microseconds(used.ru_utime);
  report.system_us = microseconds(used.ru_stime);
  report.minor_faults = static_cast<uint64_t>(used.ru_minflt);
  report.major_faults = static_cast<uint64_t>(used.ru_majflt);
  report.voluntary_switches = static_cast<uint64_t>(used.ru_nvcsw);
  report.involuntary_switches = static_cast<uint64_t>(used.ru_nivcsw);
  report.raw_ns = raw_clock_ns();
  return report;
}

}  // namespace

int main() {
  size_t bytes = 0;
  const char* block = read_block(bytes);
  Request request{};
  if (!parse(BlockReader(block, bytes), request)) fail(Step::kReadConfig, EBADMSG);
  const LaunchHeader& header = request.header;

  check(Step::kSession, setsid() >= 0 || getsid(0) == getpid());
  join_cgroups(request);
  pin(header.cpu);
  if (header.flags & stab::launch::kNoAslr) check(Step::kAslr, personality(ADDR_NO_RANDOMIZE) >= 0);
  if (header.flags & stab::launch::kNoThp) check(Step::kThp, prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0);
  for (uint32_t i = 0; i < header.limit_count; ++i) {
    const rlimit limit{request.limits[i].soft, request.limits[i].hard};
    check(Step::kLimits, setrlimit(static_cast<__rlimit_resource>(request.limits[i].resource), &limit) == 0);
  }
  if (header.flags & stab::launch::kDropPrivileges) drop_privileges(request);
  check(Step::kDirectory, chdir(request.directory) == 0);
  if (header.flags & stab::launch::kNoNewPrivs) check(Step::kLockPrivileges, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  umask(022);
  reset_signals();
  // Dies with the engine's thread. After the change of user, which clears it.
  check(Step::kSignals, prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0);
  close_the_rest();
  fcntl(stab::launch::kStatusFd, F_SETFD, FD_CLOEXEC);
  fcntl(stab::launch::kGoFd, F_SETFD, FD_CLOEXEC);

  LaunchReport ready{};
  ready.kind = LaunchReport::kReady;
  tell(ready);
  wait_for_go();
  tell(started());
  execve(request.exec_path, request.argv, request.envp);
  fail(Step::kExec, errno);
}
