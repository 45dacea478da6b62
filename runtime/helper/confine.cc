// Order: who, how much, what. The filter comes last, since it forbids the calls of the steps before it.
//
// The filter is a list of what runtime/helper calls; anything else ends the helper by SIGSYS, which the engine reports as
// a lost trial. Whoever adds a system call to the helper adds it here, and the probes that launch one say so if not.
// Arguments are looked at where a call could do more than the helper wants of it: files are opened for reading, memory is
// never executable, the one clone is the watcher's thread, kill only asks who is there.
#include "runtime/helper/confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "runtime/become.h"
#include "runtime/helper/watched_process.h"
#include "runtime/helper/thread.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// The largest program that moves has 512 MiB of text, kept twice, as much metadata, and four images of up to 1 GiB; most need
// some MiB. What doesn't fit stays where it is, and the dose says so.
constexpr rlim_t kAddressBytes = rlim_t{6} << 30;
// Three for each of kMaxKin children, one for each of Sampler::kMostArmed events, and a few of its own.
constexpr rlim_t kDescriptors = 1024;

// Offsets in seccomp_data of what a filter looks at; the low halves of arguments, whose high halves no call here uses.
constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr uint32_t kArchitecture = offsetof(seccomp_data, arch);
constexpr uint32_t argument(int index) { return offsetof(seccomp_data, args) + 8u * static_cast<uint32_t>(index); }

constexpr sock_filter load(uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
constexpr sock_filter answer(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
// Goes on behind the next `skipped` instructions where the loaded word is another.
constexpr sock_filter if_equal(uint32_t value, uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}
constexpr sock_filter if_without(uint32_t bits, uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, skipped, 0);
}

constexpr uint32_t kAlways[] = {
    SYS_futex,         SYS_clock_gettime, SYS_pread64,         SYS_read,        SYS_close,      SYS_madvise,
    SYS_ftruncate,     SYS_ppoll,         SYS_munmap,          SYS_write,       SYS_pwrite64,   SYS_getdents64,
    SYS_kcmp,          SYS_fstat,         SYS_fstatfs,         SYS_nanosleep,   SYS_getpid,     SYS_gettid,
    SYS_getrusage,     SYS_sendmsg,       SYS_recvmsg,         SYS_setsockopt,  SYS_lseek,      SYS_memfd_create,
    SYS_pidfd_open,    SYS_exit_group,    SYS_perf_event_open, SYS_exit,        SYS_restart_syscall,
    SYS_sched_setaffinity, SYS_sched_getaffinity, SYS_set_robust_list};

// Only where an argument is this value.
struct Exactly {
  uint32_t number;
  int argument;
  uint32_t value;
};
constexpr Exactly kExactly[] = {{SYS_ioctl, 1, static_cast<uint32_t>(kProcmapQuery)},
                                {SYS_ioctl, 1, PERF_EVENT_IOC_REFRESH},
                                {SYS_fcntl, 1, F_ADD_SEALS},
                                {SYS_kill, 1, 0},
                                {SYS_clone, 0, kThreadFlags}};
// Only where an argument has none of these bits.
struct Without {
  uint32_t number;
  int argument;
  uint32_t bits;
};
constexpr Without kWithout[] = {{SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC}, {SYS_mmap, 2, PROT_EXEC}};

constexpr size_t kInstructions = 5 + 2 * (sizeof kAlways / sizeof kAlways[0]) +
                                 5 * (sizeof kExactly / sizeof kExactly[0] + sizeof kWithout / sizeof kWithout[0]);

struct Filter {
  sock_filter code[kInstructions];
};

constexpr Filter make_filter() {
  Filter filter{};
  size_t at = 0;
  const auto put = [&](sock_filter instruction) { filter.code[at++] = instruction; };
  // Another architecture's calls have other numbers. x32's are in no list.
  put(load(kArchitecture));
  put(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  put(answer(SECCOMP_RET_KILL_PROCESS));
  put(load(kNumber));
  for (const uint32_t number : kAlways) {
    put(if_equal(number, 1));
    put(answer(SECCOMP_RET_ALLOW));
  }
  for (const Exactly& exactly : kExactly) {
    put(if_equal(exactly.number, 4));
    put(load(argument(exactly.argument)));
    put(if_equal(exactly.value, 1));
    put(answer(SECCOMP_RET_ALLOW));
    put(load(kNumber));
  }
  for (const Without& without : kWithout) {
    put(if_equal(without.number, 4));
    put(load(argument(without.argument)));
    put(if_without(without.bits, 1));
    put(answer(SECCOMP_RET_ALLOW));
    put(load(kNumber));
  }
  put(answer(SECCOMP_RET_KILL_PROCESS));
  return filter;
}
constexpr Filter kFilter = make_filter();

// Lowers a limit, also below what may be raised again.
bool limit(int resource, rlim_t most) {
  rlimit now{};
  if (sys::call(SYS_prlimit64, 0, resource, 0, sys::word(&now)) != 0) return false;
  const rlim_t value = now.rlim_max < most ? now.rlim_max : most;
  const rlimit lowered{value, value};
  return sys::call(SYS_prlimit64, 0, resource, sys::word(&lowered), 0) == 0;
}

// Without the slower branches that a filter brings by default: the helper keeps no secret from its program.
bool install_filter() {
  const sock_fprog program{static_cast<unsigned short>(kInstructions), const_cast<sock_filter*>(kFilter.code)};
  return sys::call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, sys::word(&program)) == 0;
}

const char* become_served(const Served& served) {
  if (sys::call(SYS_geteuid) == 0) {
    switch (sys::become(served.uid, served.gid, nullptr, 0).failed_at) {
      case sys::BecomeStep::kDone: return nullptr;
      case sys::BecomeStep::kGroups: return "can't take the group that --group names";
      case sys::BecomeStep::kUser: return "can't become the user that --user names";
      case sys::BecomeStep::kProof: return "is not rid of root after becoming the user that --user names";
    }
  }
  const bool is = sys::is_wholly(served.uid, served.gid) && !sys::has_capabilities();
  return is ? nullptr : "is not the user that --user names, and only root can become it";
}

}  // namespace

const char* confine(const Served* served) {
  if (served != nullptr)
    if (const char* failed = become_served(*served)) return failed;
  // Not even the program, which is of the same user, may look into it or change it.
  if (sys::call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return "can't shut others out of its memory";
  if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_AS, kAddressBytes) || !limit(RLIMIT_NOFILE, kDescriptors))
    return "can't lower its limits";
  if (sys::call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "can't set no_new_privs";
  if (!install_filter()) return "can't filter its system calls; the kernel must have seccomp";
  return nullptr;
}

}  // namespace stab::helper
