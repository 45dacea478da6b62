// An executable is somebody's file, and its metadata decides sizes, offsets and loops here. With this filter nothing can be
// opened, so there is no path that landlock could still forbid.
#include "runtime/layout/layout_sandbox.h"

#include <sys/prctl.h>
#include <sys/sysinfo.h>

#include "runtime/seccomp_filter.h"

namespace stab::layout {
namespace {

// Addresses as the helper has, which reads the same metadata; of memory no more than half of what the machine has.
constexpr rlim_t kAddressBytes = rlim_t{6} << 30;
constexpr rlim_t kMostMemoryBytes = rlim_t{4} << 30;
constexpr rlim_t kSeconds = 300;
// What stabd/engine/results/layout_tool.cc takes, and a byte, so that it sees that there was more.
constexpr rlim_t kOutputBytes = (rlim_t{256} << 20) + 1;

// Those of allocation and printing in glibc, and reading what is open.
constexpr uint32_t kAlways[] = {SYS_pread64, SYS_write,  SYS_brk,        SYS_munmap, SYS_mremap,       SYS_madvise,
                                SYS_fstat,   SYS_futex,  SYS_exit_group, SYS_exit,   SYS_rt_sigreturn, SYS_close,
                                SYS_lseek,   SYS_newfstatat};
constexpr seccomp::Exactly kExactly[] = {{SYS_ioctl, 1, 0x5401 /* TCGETS: is standard output a terminal? */}};
constexpr seccomp::Without kWithout[] = {{SYS_mmap, 2, PROT_EXEC}};
constexpr auto kFilter = seccomp::make_filter(kAlways, kExactly, kWithout);

rlim_t memory_bytes() {
  struct sysinfo machine {};
  if (sys::call(SYS_sysinfo, sys::word(&machine)) != 0) return kMostMemoryBytes;
  const rlim_t half = machine.totalram * machine.mem_unit / 2;
  return half < kMostMemoryBytes ? half : kMostMemoryBytes;
}

}  // namespace

const char* confine() {
  if (sys::call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return "can't shut others out of its memory";
  if (!seccomp::limit(RLIMIT_CORE, 0) || !seccomp::limit(RLIMIT_AS, kAddressBytes) ||
      !seccomp::limit(RLIMIT_DATA, memory_bytes()) || !seccomp::limit(RLIMIT_CPU, kSeconds) ||
      !seccomp::limit(RLIMIT_FSIZE, kOutputBytes))
    return "can't lower its limits";
  if (sys::call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "can't set no_new_privs";
  if (!seccomp::install(kFilter)) return "can't filter its system calls; the kernel must have seccomp";
  return nullptr;
}

}  // namespace stab::layout
