// Order: who, how much, what. The filter comes last, since it forbids the calls of the steps before it.
//
// The filter is a list of what runtime/helper calls; anything else ends the helper by SIGSYS, which the engine reports as
// a lost trial. Whoever adds a system call to the helper adds it here, and the probes that launch one say so if not.
// Arguments are looked at where a call could do more than the helper wants of it: files are opened for reading, memory is
// never executable, the one clone is the watcher's thread, kill only asks who is there.
#include "runtime/helper/confine.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "runtime/become.h"
#include "runtime/helper/watched_process.h"
#include "runtime/helper/thread.h"
#include "runtime/seccomp_filter.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// The largest program that moves has 512 MiB of text, kept twice, as much metadata, and four images of up to 1 GiB; most need
// some MiB. What doesn't fit stays where it is, and the dose says so.
constexpr rlim_t kAddressBytes = rlim_t{6} << 30;
// Three for each of kMaxKin children, one for each of Sampler::kMostArmed events, and a few of its own.
constexpr rlim_t kDescriptors = 1024;

constexpr uint32_t kAlways[] = {
    SYS_futex,         SYS_clock_gettime, SYS_pread64,         SYS_read,        SYS_close,      SYS_madvise,
    SYS_ftruncate,     SYS_ppoll,         SYS_munmap,          SYS_write,       SYS_pwrite64,   SYS_getdents64,
    SYS_kcmp,          SYS_fstat,         SYS_fstatfs,         SYS_nanosleep,   SYS_getpid,     SYS_gettid,
    SYS_getrusage,     SYS_sendmsg,       SYS_recvmsg,         SYS_setsockopt,  SYS_lseek,      SYS_memfd_create,
    SYS_pidfd_open,    SYS_exit_group,    SYS_perf_event_open, SYS_exit,        SYS_restart_syscall,
    SYS_sched_setaffinity, SYS_sched_getaffinity, SYS_set_robust_list};

constexpr seccomp::Exactly kExactly[] = {{SYS_ioctl, 1, static_cast<uint32_t>(kProcmapQuery)},
                                         {SYS_ioctl, 1, PERF_EVENT_IOC_REFRESH},
                                         {SYS_fcntl, 1, F_ADD_SEALS},
                                         {SYS_kill, 1, 0},
                                         {SYS_clone, 0, kThreadFlags}};
constexpr seccomp::Without kWithout[] = {{SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC}, {SYS_mmap, 2, PROT_EXEC}};
constexpr auto kFilter = seccomp::make_filter(kAlways, kExactly, kWithout);

// Root without a capability, as in a container that has dropped all of them, is a user like any other: it can become nobody else,
// and serves its own programs as it is.
const char* become_served(const Served& served) {
  if (sys::call(SYS_geteuid) == 0 && sys::has_capabilities()) {
    switch (sys::become(served.uid, served.gid, nullptr, 0).failed_at) {
      case sys::BecomeStep::kDone: return nullptr;
      case sys::BecomeStep::kGroups: return "can't take the group that --group names";
      case sys::BecomeStep::kUser: return "can't become the user that --user names";
      case sys::BecomeStep::kProof: return "is not rid of root after becoming the user that --user names";
    }
  }
  const bool is = sys::is_wholly(served.uid, served.gid) && !sys::has_capabilities();
  return is ? nullptr : "is not the user that --user names, and has no right to become it";
}

}  // namespace

const char* confine(const Served* served, long parent) {
  if (served != nullptr)
    if (const char* failed = become_served(*served)) return failed;
  // After the change of user, which the kernel forgets it with.
  if (parent >= 0 && sys::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return "can't end with its parent";
  if (parent >= 0 && sys::call(SYS_getppid) != parent) return "the process that started it has ended";
  // Not even the program, which is of the same user, may look into it or change it.
  if (sys::call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return "can't shut others out of its memory";
  if (!seccomp::limit(RLIMIT_CORE, 0) || !seccomp::limit(RLIMIT_AS, kAddressBytes) ||
      !seccomp::limit(RLIMIT_NOFILE, kDescriptors))
    return "can't lower its limits";
  if (sys::call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "can't set no_new_privs";
  if (!seccomp::install(kFilter)) return "can't filter its system calls; the kernel must have seccomp";
  return nullptr;
}

}  // namespace stab::helper
