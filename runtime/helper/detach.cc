#include "runtime/helper/detach.h"

#include <signal.h>

#include "runtime/sys.h"

namespace stab::helper {
namespace {

void close_range(long first, long last) {
  if (first <= last) sys::call(SYS_close_range, first, last, 0);
}

}  // namespace

void detach(int keep, int keep_too, int keep_as_well, int keep_at_last) {
  int kept[] = {keep, keep_too, keep_as_well, keep_at_last};
  long closed_to = -1;  // all below are closed, but for those to keep
  for (int round = 0; round < 4; ++round) {
    int lowest = 0x7fffffff;
    for (const int fd : kept)
      if (fd > closed_to && fd < lowest) lowest = fd;
    if (lowest == 0x7fffffff) break;
    close_range(closed_to + 1, lowest - 1);
    closed_to = lowest;
  }
  close_range(closed_to + 1, 0x7fffffff);
  sys::call(SYS_setsid);
  constexpr char kRoot[] = "/";
  sys::call(SYS_chdir, sys::word(kRoot));

  // A kernel sigaction: handler, flags, restorer, mask. What can be ignored is: a helper ends with its program,
  // and file size limits show as errors.
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } ignore{SIG_IGN, 0, nullptr, 0};
  for (int signal = 1; signal < 65; ++signal) {
    const bool fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
    ignore.handler = fault || signal == SIGTERM ? SIG_DFL : SIG_IGN;
    sys::call(SYS_rt_sigaction, signal, sys::word(&ignore), 0, 8);
  }
  unsigned long none = 0;
  sys::call(SYS_rt_sigprocmask, SIG_SETMASK, sys::word(&none), 0, 8);
}

}  // namespace stab::helper
