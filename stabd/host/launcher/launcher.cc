// stab-launcher: becomes the measured program. Everything that has to happen between fork and exec happens
// here, in a process of its own, because libuv has no pre-exec hook and because a static program of one page
// or two leaves nothing of a big engine (threads, heap, page tables) in the trial.
//
// First it moves to the trial's CPU, and to a child of the engine's that it makes itself. wait4's largest memory is that
// of all a process ever was, and the one that the engine spawned was the engine until it became a launcher: /bin/true
// would have needed 17 MB.
//
// Order (docs/explanation/how-a-run-is-measured.md has what a trial then finds): session, cgroup, its own IPC and /dev/shm,
// affinity, ASLR, huge pages, limits, groups and user with proof, working directory as that user, no_new_privs, signals; then it
// says "ready", waits for one byte on the go pipe while the engine opens counters on this pid (enable_on_exec), stamps the clock
// and execs. If the engine dies first, the pipe closes and the launcher ends without a trace.
//
// A launcher may also stay, and make one such process after the other (stay() below): to be started and to exec costs a
// trial more than all that it does. What stays has read no request, so every process begins as the first one does.
//
// It is linked without libc, whose start-up asks the processor for its caches: on a virtual machine each of those
// cpuid instructions is a trip to the hypervisor, 0.8 ms in all on the 2-core virtual machine of 2026-11-20, as long
// as /bin/true itself. So everything here is a raw system call (runtime/sys.h), and launcher_start.cc is what a compiler
// expects of a C library.
//
// The request's format is launch_block.h; the engine's side is stabd/host/launch.cc.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "runtime/become.h"
#include "runtime/sys.h"
#include "stabd/host/launcher/launch_block.h"

namespace {

using stab::launch::BlockReader;
using stab::launch::LaunchHeader;
using stab::launch::LaunchLimit;
using stab::launch::LaunchReport;
using stab::launch::Step;
using stab::sys::call;
using stab::sys::word;

struct Request {
  LaunchHeader header;
  gid_t* groups;
  LaunchLimit* limits;
  const char* exec_path;
  const char* program_path;
  const char* must_be;
  const char* directory;
  const char** cgroups;
  char** argv;  // ends with null, as does envp
  char** envp;
};

void tell(const LaunchReport& report) {
  // A pipe takes a record whole or not at all; if the engine is gone, nobody is left to tell.
  if (stab::sys::write(stab::launch::kStatusFd, &report, sizeof report) != sizeof report) stab::sys::exit_process(127);
}

LaunchReport failure(Step step, long error_number) {
  LaunchReport report{};
  report.kind = LaunchReport::kFailed;
  report.step = static_cast<uint32_t>(step);
  report.error_number = static_cast<int32_t>(error_number);
  return report;
}

[[noreturn]] void fail(Step step, long error_number) {
  tell(failure(step, error_number));
  stab::sys::exit_process(127);
}

// What a system call returned: 0 or more, or minus the error's number.
long check(Step step, long result) {
  if (result < 0) fail(step, -result);
  return result;
}

// A brother, not a child: the engine waits for it.
long make_brother() { return call(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0); }

void say_who() {
  LaunchReport moved{};
  moved.kind = LaunchReport::kMoved;
  moved.pid = stab::sys::getpid();
  tell(moved);
}

// Whoever is stopped by a signal when both the engine and the broker are killed would stay so for ever: it sees no end of a
// pipe. So it dies with the process that started it, or, where that has several threads, with the thread. The kernel forgets
// this with each fork and each change of user. It tells nobody whose parent is gone already, who has another one by then.
void die_with(long parent) {
  check(Step::kSignals, call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
  if (call(SYS_getppid) != parent) stab::sys::exit_process(127);
}

// From here on `check` and `fail` speak for the brother.
void move_on(long parent) {
  if (check(Step::kMove, make_brother()) != 0) stab::sys::exit_process(0);
  die_with(parent);
  say_who();
}

// Descriptors of one order, which lie below every number that they are put at.
struct Ordered {
  int fds[stab::launch::kMostOrderFds];
  int count;
  uint32_t flags;
};

// Waits for the next one. Whoever orders is gone, or is no engine of ours: false.
bool next_order(Ordered& ordered) {
  stab::launch::Order order{};
  alignas(cmsghdr) char beside[CMSG_SPACE(sizeof ordered.fds)];
  iovec part{&order, sizeof order};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = beside;
  message.msg_controllen = sizeof beside;
  long got = 0;
  do {
    got = call(SYS_recvmsg, stab::launch::kOrdersFd, word(&message), MSG_CMSG_CLOEXEC);
  } while (got == -EINTR);
  if (got != sizeof order || order.version != stab::launch::kVersion || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
    return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return false;
  ordered.count = stab::launch::kOrderFds + ((order.flags & stab::launch::kOrderHelper) != 0) +
                  ((order.flags & stab::launch::kOrderReport) != 0) + ((order.flags & stab::launch::kOrderIpc) != 0) * 2;
  ordered.flags = order.flags;
  if (header->cmsg_len != CMSG_LEN(static_cast<size_t>(ordered.count) * sizeof(int))) return false;
  memcpy(ordered.fds, CMSG_DATA(header), static_cast<size_t>(ordered.count) * sizeof(int));
  for (int i = 0; i < ordered.count; ++i)
    if (ordered.fds[i] <= 2 || ordered.fds[i] >= stab::launch::kConfigFd) return false;
  return true;
}

constexpr int kAt[stab::launch::kOrderFds] = {0, 1, 2, stab::launch::kConfigFd, stab::launch::kGoFd, stab::launch::kStatusFd};
constexpr int kStatusPlace = 5;
static_assert(kAt[kStatusPlace] == stab::launch::kStatusFd);

// Puts them where a launcher is born with them.
void put(const Ordered& ordered) {
  for (int i = 0; i < stab::launch::kOrderFds; ++i) stab::sys::duplicate_at(ordered.fds[i], kAt[i]);
  int next = stab::launch::kOrderFds;
  if (ordered.flags & stab::launch::kOrderHelper) stab::sys::duplicate_at(ordered.fds[next++], stab::launch::kHelperFd);
  if (ordered.flags & stab::launch::kOrderReport) stab::sys::duplicate_at(ordered.fds[next++], stab::launch::kReportFd);
  if (!(ordered.flags & stab::launch::kOrderIpc)) return;
  stab::sys::duplicate_at(ordered.fds[next++], stab::launch::kIpcFd);
  stab::sys::duplicate_at(ordered.fds[next++], stab::launch::kMountsFd);
}

void close_all(const Ordered& ordered) {
  for (int i = 0; i < ordered.count; ++i) stab::sys::close(ordered.fds[i]);
}

// A program starts with default dispositions and an empty mask, whatever the engine had: signals 32 and 33, which
// libc keeps to itself, may be ignored too.
void reset_signals() {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } action = {SIG_DFL, 0, nullptr, 0};
  for (int signal = 1; signal <= 64; ++signal)  // refused for SIGKILL and SIGSTOP
    call(SYS_rt_sigaction, signal, word(&action), 0, sizeof action.mask);
  const unsigned long none = 0;
  check(Step::kSignals, call(SYS_rt_sigprocmask, SIG_SETMASK, word(&none), 0, sizeof none));
}

// Comes back in each process that it makes, which holds what it was ordered with and nothing of the others.
void stay(long parent) {
  // What a terminal tells its programs is not meant for it.
  call(SYS_setsid);
  reset_signals();  // for all that it makes
  die_with(parent);
  call(SYS_close_range, 3, stab::launch::kOrdersFd - 1, 0);
  Ordered ordered{};
  while (next_order(ordered)) {
    const long made = make_brother();
    if (made == 0) {
      put(ordered);
      close_all(ordered);
      stab::sys::close(stab::launch::kOrdersFd);
      die_with(parent);
      say_who();
      return;
    }
    if (made < 0) {
      const LaunchReport report = failure(Step::kMove, -made);
      (void)stab::sys::write(ordered.fds[kStatusPlace], &report, sizeof report);
    }
    close_all(ordered);
  }
  stab::sys::exit_process(0);
}

// The request, and room behind it for the arrays that point into it. Never freed: exec does it.
struct Memory {
  char* block;
  size_t bytes;
  char* room;
  char* end;
};

Memory read_block() {
  struct stat info;
  check(Step::kReadConfig, call(SYS_fstat, stab::launch::kConfigFd, word(&info)));
  const size_t bytes = static_cast<size_t>(info.st_size);
  // A string takes at least 5 bytes of the block and 8 of the arrays, the rest no more than in the block.
  const size_t all = 3 * bytes + 4096;
  void* at = stab::sys::map(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!stab::sys::is_address(at)) fail(Step::kReadConfig, -stab::sys::error_of(at));
  char* block = static_cast<char*>(at);
  const long got = check(Step::kReadConfig, stab::sys::pread_full(stab::launch::kConfigFd, block, bytes, 0));
  if (static_cast<size_t>(got) != bytes) fail(Step::kReadConfig, EBADMSG);
  return {block, bytes, block + (bytes + 15) / 16 * 16, block + all};
}

// Zeroed, one more than asked for.
template <typename T>
T* array_of(Memory& memory, size_t count) {
  if (count >= static_cast<size_t>(memory.end - memory.room) / sizeof(T)) fail(Step::kReadConfig, EBADMSG);
  T* array = reinterpret_cast<T*>(memory.room);
  memory.room += (sizeof(T) * (count + 1) + 15) / 16 * 16;
  return array;
}

bool take_strings(BlockReader& reader, uint32_t count, const char** out) {
  for (uint32_t i = 0; i < count; ++i)
    if (!reader.take_string(out[i])) return false;
  return true;
}

bool parse(Memory memory, Request& request) {
  BlockReader reader(memory.block, memory.bytes);
  LaunchHeader& header = request.header;
  if (!reader.take(&header, sizeof header)) return false;
  if (memcmp(header.magic, stab::launch::kMagic, sizeof header.magic) != 0) return false;
  if (header.version != stab::launch::kVersion) return false;
  request.groups = array_of<gid_t>(memory, header.group_count);
  if (!reader.take(request.groups, header.group_count * sizeof(gid_t))) return false;
  request.limits = array_of<LaunchLimit>(memory, header.limit_count);
  if (!reader.take(request.limits, header.limit_count * sizeof(LaunchLimit))) return false;
  request.cgroups = array_of<const char*>(memory, header.cgroup_count);
  request.argv = array_of<char*>(memory, header.argc);
  request.envp = array_of<char*>(memory, header.envc);
  return take_strings(reader, header.cgroup_count, request.cgroups) && reader.take_string(request.exec_path) &&
         reader.take_string(request.program_path) && reader.take_string(request.must_be) &&
         reader.take_string(request.directory) &&
         take_strings(reader, header.argc, const_cast<const char**>(request.argv)) &&
         take_strings(reader, header.envc, const_cast<const char**>(request.envp)) && reader.at_end();
}

void join_cgroups(const Request& request) {
  for (uint32_t i = 0; i < request.header.cgroup_count; ++i) {
    const int fd = static_cast<int>(check(Step::kCgroup, stab::sys::open(request.cgroups[i], O_WRONLY)));
    check(Step::kCgroup, stab::sys::write(fd, "0", 1));
    stab::sys::close(fd);
  }
}

// As root still: the descriptors are namespaces, and paths mean what they did but for /dev/shm.
void enter_private_ipc() {
  check(Step::kIpc, call(SYS_setns, stab::launch::kIpcFd, CLONE_NEWIPC));
  check(Step::kIpc, call(SYS_setns, stab::launch::kMountsFd, CLONE_NEWNS));
}

// Of two processes that the kernel may kill for memory, it is to take the program.
void reset_oom_score() {
  const int fd = static_cast<int>(check(Step::kOomScore, stab::sys::open("/proc/self/oom_score_adj", O_WRONLY)));
  check(Step::kOomScore, stab::sys::write(fd, "0", 1));
  stab::sys::close(fd);
}

// 0, or minus the error's number.
long pin(int cpu) {
  if (cpu < 0) return 0;
  cpu_set_t set{};
  CPU_SET(static_cast<size_t>(cpu), &set);
  return call(SYS_sched_setaffinity, 0, sizeof set, word(&set));
}

// The program is scheduled as any other, whatever brought us here sooner (stabd/host/launch.cc). Before "ready": on a busy CPU a
// process that steps back waits for its turn, and after go that would be the trial's time.
void step_back() {
  const sched_param none{0};
  if (call(SYS_sched_getscheduler, 0) == SCHED_FIFO)
    check(Step::kAffinity, call(SYS_sched_setscheduler, 0, SCHED_OTHER, word(&none)));
}

// sched_setattr(2): of an ordinary task `runtime` is the length of its slices since Linux 6.12; older kernels take it and do as
// they always did (stabd/engine/machine/time_slices.h says which). Its niceness stays as it is.
struct SchedulingAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t niceness;
  uint32_t priority;
  uint64_t runtime_ns, deadline_ns, period_ns;
};

void ask_for_slices(uint64_t slice_ns) {
  if (slice_ns == 0) return;
  SchedulingAttributes attributes{};
  check(Step::kSlice, call(SYS_sched_getattr, 0, word(&attributes), sizeof attributes, 0));
  attributes.size = sizeof attributes;
  attributes.runtime_ns = slice_ns;
  check(Step::kSlice, call(SYS_sched_setattr, 0, word(&attributes), 0));
}

// Where it fails the engine is told the step (runtime/become.h).
void drop_privileges(const Request& request) {
  const LaunchHeader& header = request.header;
  const stab::sys::Became became = stab::sys::become(header.uid, header.gid, request.groups, header.group_count);
  switch (became.failed_at) {
    case stab::sys::BecomeStep::kDone: return;
    case stab::sys::BecomeStep::kGroups: fail(Step::kGroups, became.error_number);
    case stab::sys::BecomeStep::kUser: fail(Step::kUser, became.error_number);
    case stab::sys::BecomeStep::kProof: fail(Step::kProof, became.error_number);
  }
}

// As its user, who may have no way to it or have put another there since it was hashed.
void check_program(const Request& request) {
  if (request.must_be[0] == 0) return;
  struct stat info;
  const long failed = call(SYS_newfstatat, AT_FDCWD, word(request.program_path), word(&info), 0);
  if (failed < 0) fail(Step::kSameFile, -failed);
  const int64_t modified_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  const stab::launch::Identity found = stab::launch::identity_of(info.st_ino, static_cast<uint64_t>(info.st_size), modified_ns);
  for (size_t i = 0; i < sizeof found.text; ++i)
    if (request.must_be[i] != found.text[i]) fail(Step::kSameFile, 0);
}

// Whatever else the engine may have inherited from whoever started it.
void close_the_rest() {
  call(SYS_close_range, 3, stab::launch::kConfigFd, 0);
  call(SYS_close_range, stab::launch::kReportFd + 1, ~0u, 0);
}

void wait_for_go() {
  char byte = 0;
  long got = 0;
  do {
    got = stab::sys::read(stab::launch::kGoFd, &byte, 1);
  } while (got == -EINTR);
  if (got != 1) stab::sys::exit_process(127);  // the engine is gone, or has changed its mind
}

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000u + static_cast<uint64_t>(time.tv_usec);
}

uint64_t raw_clock_ns() {
  timespec now{};
  call(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, word(&now));
  return stab::sys::ns_of(now);
}

// The clock is read last: what follows it is one write and the exec.
LaunchReport started() {
  LaunchReport report{};
  report.kind = LaunchReport::kStarted;
  rusage used{};
  call(SYS_getrusage, RUSAGE_SELF, word(&used));
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

extern "C" [[noreturn]] void launcher_main() {
  // A brother's parent is its own.
  const long parent = call(SYS_getppid);
  const bool stays = call(SYS_fcntl, stab::launch::kOrdersFd, F_GETFD) >= 0;
  if (stays) stay(parent);
  Request request{};
  if (!parse(read_block(), request)) fail(Step::kReadConfig, EBADMSG);
  const LaunchHeader& header = request.header;
  // Out of the engine's way at once: what follows happens beside it. Refused where the cgroup has to come first.
  pin(header.cpu);
  if (!stays) move_on(parent);

  if (call(SYS_setsid) < 0 && call(SYS_getsid, 0) != stab::sys::getpid()) fail(Step::kSession, EPERM);
  join_cgroups(request);
  if (header.flags & stab::launch::kPrivateIpc) enter_private_ipc();
  check(Step::kAffinity, pin(header.cpu));
  if (header.flags & stab::launch::kNoAslr) check(Step::kAslr, call(SYS_personality, ADDR_NO_RANDOMIZE));
  if (header.flags & stab::launch::kNoThp) check(Step::kThp, call(SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0));
  for (uint32_t i = 0; i < header.limit_count; ++i) {
    const rlimit limit{request.limits[i].soft, request.limits[i].hard};
    check(Step::kLimits, call(SYS_prlimit64, 0, request.limits[i].resource, word(&limit), 0));
  }
  if (header.flags & stab::launch::kResetOomScore) reset_oom_score();
  if (header.flags & stab::launch::kDropPrivileges) drop_privileges(request);
  check(Step::kDirectory, call(SYS_chdir, word(request.directory)));
  check_program(request);
  if (header.flags & stab::launch::kNoNewPrivs) check(Step::kLockPrivileges, call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  call(SYS_umask, 022);
  if (!stays) reset_signals();
  // As the user, too.
  die_with(parent);
  close_the_rest();
  call(SYS_fcntl, stab::launch::kStatusFd, F_SETFD, FD_CLOEXEC);
  call(SYS_fcntl, stab::launch::kGoFd, F_SETFD, FD_CLOEXEC);

  step_back();
  ask_for_slices(header.slice_ns);
  LaunchReport ready{};
  ready.kind = LaunchReport::kReady;
  tell(ready);
  wait_for_go();
  tell(started());
  fail(Step::kExec, -call(SYS_execve, word(request.exec_path), word(request.argv), word(request.envp)));
}
