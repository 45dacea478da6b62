// The companion is no member of the trial's tree: it has to outlive the program. So a program that made it do something, by what
// it writes to the area or as a debugger, would have a process that no trial's end reaches. It can start none, and be traced by
// none.
#include "runtime/causal/companion_sandbox.h"

#include <sys/prctl.h>

#include "runtime/seccomp_filter.h"

namespace stab::causal {
namespace {

// It has the area, 500 MiB of which most is never touched, and a stack.
constexpr rlim_t kMemoryBytes = rlim_t{64} << 20;

constexpr uint32_t kAlways[] = {SYS_clock_gettime, SYS_futex, SYS_ppoll,      SYS_pidfd_open, SYS_sched_getaffinity,
                                SYS_read,          SYS_close, SYS_write,      SYS_fstat,      SYS_newfstatat,
                                SYS_exit_group,    SYS_exit,  SYS_rt_sigreturn, SYS_restart_syscall};
constexpr seccomp::Exactly kExactly[] = {{SYS_ioctl, 1, 0x5401 /* TCGETS: is it a terminal? */}};
constexpr seccomp::Without kWithout[] = {{SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC}};
constexpr auto kFilter = seccomp::make_filter(kAlways, kExactly, kWithout);

}  // namespace

const char* confine() {
  if (sys::call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return "can't shut others out of its memory";
  if (!seccomp::limit(RLIMIT_CORE, 0) || !seccomp::limit(RLIMIT_DATA, kMemoryBytes)) return "can't lower its limits";
  if (sys::call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "can't set no_new_privs";
  if (!seccomp::install(kFilter)) return "can't filter its system calls; the kernel must have seccomp";
  return nullptr;
}

}  // namespace stab::causal
