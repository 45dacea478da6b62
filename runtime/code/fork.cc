// A forked child goes on in its parent's images: they are shared mappings. Instead of copying what it needs,
// which would cost each fork a memfd, a copy and a remap, the child puts its pid into the control block; the
// helper serves the whole family, looks at its threads, too, before it reuses an image, and drops the child when
// it ends or execs. A fork costs one atomic and, in the child, getpid, and one prctl where Yama asks for it.
//
// Between the fork and the child's entry the helper must not reuse anything: forks_pending says so. Fork hooks
// run also for daemon() and forkpty(), not for vfork and posix_spawn, whose child uses its parent's memory and is
// seen in its parent's blocked thread.
#include "runtime/code/fork.h"

#include <errno.h>
#include <sys/prctl.h>

#include "runtime/code/kin.h"
#include "runtime/control.h"
#include "runtime/progress/points.h"
#include "runtime/sys.h"

extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* dso);

namespace stab::code {
namespace {

// A failed fork runs the parent's hook like a successful one; only errno tells. Ours are the first hooks
// registered: prepare runs last, parent first, so nothing of the program runs between.
thread_local int errno_before __attribute__((tls_model("initial-exec")));

// Only then, since a program's seccomp filter may mind.
bool children_permit = false;

void before_fork() {
  errno_before = errno;
  errno = 0;
  __atomic_fetch_add(&control().forks_pending, 1, __ATOMIC_SEQ_CST);
}

void after_fork_in_parent() {
  if (errno == 0) {
    errno = errno_before;
    return;
  }
  __atomic_fetch_sub(&control().forks_pending, 1, __ATOMIC_SEQ_CST);
}

void after_fork_in_child() {
  errno = errno_before;
  progress::leave_row_to_parent();
  Control& block = control();
  if (children_permit) sys::call(SYS_prctl, PR_SET_PTRACER, block.helper_pid, 0, 0, 0);
  enter_kin(block, sys::getpid());
  __atomic_fetch_add(&block.kin_count, 1u, __ATOMIC_SEQ_CST);
  __atomic_fetch_sub(&block.forks_pending, 1, __ATOMIC_SEQ_CST);
}

}  // namespace

void ask_of_children(bool permission) { children_permit = permission; }

void follow_forks() { __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, nullptr); }

}  // namespace stab::code
