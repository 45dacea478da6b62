// What makes processes without libc's fork, and what waits for them inside libc.
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/interposed.h"

// Those that are defined here.
#define STAB_CHILDREN(ONE) ONE(_Fork) ONE(clone) ONE(ptrace) ONE(system) ONE(pclose)
STAB_CHILDREN(STAB_KEPT)

namespace stab::causal {

void find_real_children() { STAB_CHILDREN(STAB_FIND) }

namespace {

// Waits for a command. It is one of ours if any process has attached meanwhile.
template <typename Call>
int wait_for_command(Call call, const void* caller) {
  if (!is_profiled()) return call();
  const uint32_t& attached = program.area->state.attached;
  const uint32_t before = __atomic_load_n(&attached, __ATOMIC_RELAXED);
  Accounting accounting(kForWorld);
  const int result = call();
  accounting.end(__atomic_load_n(&attached, __ATOMIC_RELAXED) != before ? kForOurs : kForWorld, kScriptBlockedIo, caller);
  return result;
}

struct ChildStart {
  int (*function)(void*);
  void* argument;
};

int enter_child(void* given) {
  const ChildStart start = *static_cast<const ChildStart*>(given);
  begin_child();
  return start.function(start.argument);
}

}  // namespace
}  // namespace stab::causal

// A fork without its hooks, for handlers of signals.
STAB_INTERPOSED(pid_t, _Fork, ()) {
  using namespace stab::causal;
  STAB_REAL(_Fork, pid_t (*)());
  pay_first();
  const pid_t child = real();
  if (child == 0) begin_child();
  return child;
}

// One that shares its parent's memory is a thread, or on the way to another program. One that shares its descriptors could not
// open an event of its own without the parent's seeing it.
STAB_INTERPOSED(int, clone, (int (*function)(void*), void* stack, int flags, void* argument, ...)) {
  using namespace stab::causal;
  STAB_REAL(clone, int (*)(int (*)(void*), void*, int, void*, ...));
  va_list list;
  va_start(list, argument);
  void* const parent_id = va_arg(list, void*);
  void* const storage = va_arg(list, void*);
  void* const child_id = va_arg(list, void*);
  va_end(list);
  pay_first();
  if (!is_profiled() || (flags & (CLONE_VM | CLONE_FILES)) != 0 || function == nullptr)
    return real(function, stack, flags, argument, parent_id, storage, child_id);
  ChildStart start = {function, argument};  // the child has a copy
  return real(enter_child, stack, flags, &start, parent_id, storage, child_id);
}

// Its tracer would get the signal of each sample. A child does this before it executes another program; where the whole program
// does, nothing of it can be sampled from there on.
STAB_INTERPOSED(long, ptrace, (int request, ...)) {
  using namespace stab::causal;
  STAB_REAL(ptrace, long (*)(int, ...));
  va_list list;
  va_start(list, request);
  const pid_t process = va_arg(list, pid_t);
  void* const address = va_arg(list, void*);
  void* const data = va_arg(list, void*);
  va_end(list);
  if (request == PTRACE_TRACEME && is_profiled() && stab::sys::getpid() == program.pid) {
    if (program.process == program.area->processes) degrade(*program.area, Degraded::kTraced);
    stop_sampling();
  }
  return real(request, process, address, data);
}

STAB_INTERPOSED(int, system, (const char* command)) {
  using namespace stab::causal;
  STAB_REAL(system, int (*)(const char*));
  return wait_for_command([&] { return real(command); }, __builtin_return_address(0));
}

STAB_INTERPOSED(int, pclose, (FILE * command)) {
  using namespace stab::causal;
  STAB_REAL(pclose, int (*)(FILE*));
  return wait_for_command([&] { return real(command); }, __builtin_return_address(0));
}
