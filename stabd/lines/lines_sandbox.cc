// Debug information is read by a large library that was not written for strangers' files. What a file could make of it here is a
// process that reads what its user may read anyway: the filter lets it open for reading alone, so there is nothing left that
// landlock would forbid but names, and those a binary and its debug files choose themselves.
#include "stabd/lines/lines_sandbox.h"

#include <sys/prctl.h>
#include <sys/sysinfo.h>

#include "runtime/seccomp_filter.h"
#include "stabd/lines/wire/lines_wire.h"

namespace stab::lines {
namespace {

#ifndef STAB_SANITIZED  // which reserves terabytes, and looks into /proc
// Addresses: a module and its debug file are mapped whole, and have up to 8 GiB each. Memory of its own: half of the machine's.
constexpr rlim_t kAddressBytes = rlim_t{20} << 30;
constexpr rlim_t kMostMemoryBytes = rlim_t{8} << 30;

constexpr uint32_t kAlways[] = {SYS_read,       SYS_pread64,  SYS_write,        SYS_close,         SYS_lseek,     SYS_fstat,
#if defined(__x86_64__)  // others have the same by a folder's descriptor alone
                                SYS_stat,       SYS_readlink, SYS_access,
#else
                                SYS_readlinkat, SYS_faccessat,
#endif
                                SYS_newfstatat, SYS_brk,      SYS_munmap,       SYS_mremap,        SYS_madvise,   SYS_futex,
                                SYS_exit_group, SYS_exit,     SYS_rt_sigreturn, SYS_clock_gettime, SYS_getrandom, SYS_getcwd,
                                SYS_getpid,     SYS_gettid,   SYS_statx,        SYS_rt_sigprocmask};
constexpr seccomp::Exactly kExactly[] = {{SYS_ioctl, 1, 0x5401 /* TCGETS: is it a terminal? */}};
// Memory may become less accessible: that is how the allocator makes an arena.
constexpr seccomp::Without kWithout[] = {
    {SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC}, {SYS_mmap, 2, PROT_EXEC}, {SYS_mprotect, 2, PROT_EXEC}};
constexpr auto kFilter = seccomp::make_filter(kAlways, kExactly, kWithout);

rlim_t memory_bytes() {
  struct sysinfo machine {};
  if (::sysinfo(&machine) != 0) return kMostMemoryBytes;
  const rlim_t half = machine.totalram * machine.mem_unit / 2;
  return half < kMostMemoryBytes ? half : kMostMemoryBytes;
}
#endif
constexpr rlim_t kSeconds = 300;

}  // namespace

const char* confine() {
  if (sys::call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return "can't shut others out of its memory";
  bool is_limited = seccomp::limit(RLIMIT_CORE, 0) && seccomp::limit(RLIMIT_CPU, kSeconds) &&
                    seccomp::limit(RLIMIT_FSIZE, kMostAnswerBytes + 1);
#ifndef STAB_SANITIZED
  is_limited = is_limited && seccomp::limit(RLIMIT_AS, kAddressBytes) && seccomp::limit(RLIMIT_DATA, memory_bytes());
#endif
  if (!is_limited) return "can't lower its limits";
  if (sys::call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "can't set no_new_privs";
#ifndef STAB_SANITIZED
  if (!seccomp::install(kFilter)) return "can't filter its system calls; the kernel must have seccomp";
#endif
  return nullptr;
}

}  // namespace stab::lines
