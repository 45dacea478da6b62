// What the interposed calls stand before, and the program's own wishes for SIGTRAP.
#pragma once

#include <signal.h>

namespace stab::causal {

// The next definition of a name of libc's. Never nullptr for a name of calls.inc that the program could have called.
void* find_real(const char* name);

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before);

// With no mask.
inline struct sigaction action_of(sighandler_t handler, int flags = 0) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

// SIGTRAP as the program believes it to be.
struct sigaction own_trap_action();
void set_own_trap_action(const struct sigaction& action);
// In a forked child: whoever was changing it is not here.
void forget_trap_change();

}  // namespace stab::causal
