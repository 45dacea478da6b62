// What the interposed calls stand before, and the program's own wishes for SIGTRAP.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <string.h>

namespace stab::causal {

// The next definition of a name of libc's. Never nullptr for a name of calls.inc that the program could have called.
void* find_real(const char* name);

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before);

// As the kernel has it.
inline uint64_t word_of(const sigset_t& set) {
  uint64_t word = 0;
  memcpy(&word, &set, sizeof word);
  return word;
}

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

// A thread begins: SIGTRAP may be blocked by whoever started it, or its creator believes so. Then the thread only believes so.
void unblock_trap(bool believed);
// Whether the program believes that the calling thread blocks SIGTRAP, if the kernel has it block `mask`. Not where the mask is
// another one since it said so: a handler's end, or a jump, has put back an older one.
bool believes_trap_blocked(uint64_t mask);
// A SIGTRAP of the program's own that comes meanwhile is kept until the thread blocks it no more.
void keep_trap(const siginfo_t& info);
// The one that is kept, for a call that waits for a signal of `set`; info may be nullptr. False: there is none, or it isn't
// waited for.
bool take_kept_trap(const sigset_t* set, siginfo_t* info);

}  // namespace stab::causal
