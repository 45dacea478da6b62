// Signals as the program believes them to be.
//
// SIGTRAP is the profile's: its action stays ours, it is in no mask, and each thread has a stack for its handler. What the
// program says about SIGTRAP and about stacks for handlers is remembered here, and is what it reads when it asks. A SIGTRAP of
// its own that comes to a thread which believes to block it is kept until it doesn't, or waits for it.
//
// A handler may jump out of a wait or a pause of ours, which then never ends by itself: every jump of libc's comes by here.
#include <signal.h>
#include <string.h>

#include "runtime/arch/arch.h"
#include "runtime/causal/attach.h"
#include "runtime/causal/interposed.h"
#include "runtime/causal/real.h"

// Those that are defined here.
#define STAB_SIGNALS(ONE)                                                                                              \
  ONE(sigaction) ONE(signal) ONE(__sysv_signal) ONE(sigset) ONE(sigprocmask) ONE(pthread_sigmask) ONE(sigpending)         \
  ONE(sigaltstack) ONE(longjmp) ONE(_longjmp) ONE(siglongjmp) ONE(__longjmp_chk)
STAB_SIGNALS(STAB_KEPT)

namespace stab::causal {

void find_real_signals() { STAB_SIGNALS(STAB_FIND) }

namespace {

constexpr uint64_t bit_of(int signal) { return uint64_t{1} << (signal - 1); }
constexpr uint64_t kTrap = bit_of(SIGTRAP);

struct sigaction own_action;
uint32_t own_action_lock = 0;

// Signals whose handlers block SIGTRAP, as the program has said.
uint64_t blocks_trap_in_handler = 0;

// The SIGTRAP that a thread keeps, where self.keeps_trap.
__thread siginfo_t kept_trap __attribute__((tls_model("initial-exec")));

// A child of vfork has its parent's memory and handlers of its own.
bool is_own_process() { return sys::getpid() == program.pid; }

uint64_t mask_of_thread() {
  uint64_t mask = 0;
  sys::call(SYS_rt_sigprocmask, SIG_BLOCK, 0, sys::word(&mask), sizeof mask);
  return mask;
}

// Comes at once, or where the kernel has SIGTRAP blocked, as in its handler, after that.
void hand_over_kept() {
  if (!self.keeps_trap) return;
  self.keeps_trap = false;
  sys::call(SYS_rt_tgsigqueueinfo, sys::getpid(), sys::gettid(), SIGTRAP, sys::word(&kept_trap));
}

void believe(bool blocks) {
  self.blocks_trap = blocks;
  if (blocks) self.mask_with_trap = mask_of_thread();
  else hand_over_kept();
}

}  // namespace

bool believes_trap_blocked(uint64_t mask) { return self.blocks_trap && (self.mask_with_trap & ~mask & ~kTrap) == 0; }

void keep_trap(const siginfo_t& info) {
  if (self.keeps_trap) return;  // one of each signal waits, not more
  kept_trap = info;
  self.keeps_trap = true;
}

bool take_kept_trap(const sigset_t* set, siginfo_t* info) {
  if (!is_profiled() || !self.keeps_trap || set == nullptr || (word_of(*set) & kTrap) == 0) return false;
  self.keeps_trap = false;
  if (info != nullptr) *info = kept_trap;
  return true;
}

void unblock_trap(bool believed) {
  uint64_t before = 0;
  sys::call(SYS_rt_sigprocmask, SIG_UNBLOCK, sys::word(&kTrap), sys::word(&before), sizeof before);
  if (believed || (before & kTrap) != 0) believe(true);
}

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  STAB_REAL(sigaction, int (*)(int, const struct sigaction*, struct sigaction*));
  return real(signal, action, before);
}
struct sigaction own_trap_action() { return own_action; }
void set_own_trap_action(const struct sigaction& action) {
  // Read by handlers. Whoever changes it at the same time waits; a handler that changed it, too, would wait for what it
  // interrupts.
  const uint64_t all = ~uint64_t{0};
  uint64_t before = 0;
  sys::call(SYS_rt_sigprocmask, SIG_BLOCK, sys::word(&all), sys::word(&before), sizeof all);
  while (__atomic_exchange_n(&own_action_lock, 1u, __ATOMIC_ACQUIRE) != 0) {
  }
  own_action = action;
  __atomic_store_n(&own_action_lock, 0u, __ATOMIC_RELEASE);
  sys::call(SYS_rt_sigprocmask, SIG_SETMASK, sys::word(&before), 0, sizeof before);
}
void forget_trap_change() { __atomic_store_n(&own_action_lock, 0u, __ATOMIC_RELEASE); }

namespace {

bool is_ours(int signal) { return is_profiled() && signal == SIGTRAP && is_own_process(); }

struct sigaction change_trap(const struct sigaction* wanted) {
  const struct sigaction before = own_trap_action();
  if (wanted == nullptr) return before;
  set_own_trap_action(*wanted);
  if (wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN) degrade(*program.area, Degraded::kSharedTrap);
  return before;
}

sighandler_t change_trap(sighandler_t handler, int flags) {
  const struct sigaction wanted = action_of(handler, flags);
  return change_trap(&wanted).sa_handler;
}

// Whether the mask of `signal`'s action has SIGTRAP from now on, to the program's mind.
void remember_mask(int signal, bool has_trap) {
  const uint64_t bit = bit_of(signal);
  if (((look(blocks_trap_in_handler) & bit) != 0) == has_trap || !is_own_process()) return;
  if (has_trap) __atomic_fetch_or(&blocks_trap_in_handler, bit, __ATOMIC_RELAXED);
  else __atomic_fetch_and(&blocks_trap_in_handler, ~bit, __ATOMIC_RELAXED);
}

int sigaction_for(int signal, const struct sigaction* action, struct sigaction* before) {
  if (is_ours(signal)) {
    const struct sigaction now = change_trap(action);
    if (before != nullptr) *before = now;
    return 0;
  }
  if (!is_profiled() || signal == SIGTRAP || signal < 1 || signal >= NSIG) return real_sigaction(signal, action, before);
  const bool had_trap = (look(blocks_trap_in_handler) & bit_of(signal)) != 0;
  const bool has_trap = action != nullptr && (word_of(action->sa_mask) & kTrap) != 0;
  struct sigaction changed{};
  if (action != nullptr) {
    changed = *action;
    // A sample in a handler is one of the handler; but the stack that a program gives its handlers may have no room for one.
    if ((action->sa_flags & SA_ONSTACK) != 0) sigaddset(&changed.sa_mask, SIGTRAP);
    else sigdelset(&changed.sa_mask, SIGTRAP);
  }
  const int result = real_sigaction(signal, action == nullptr ? nullptr : &changed, before);
  if (result != 0) return result;
  if (action != nullptr) remember_mask(signal, has_trap);
  if (before != nullptr && had_trap) sigaddset(&before->sa_mask, SIGTRAP);
  if (before != nullptr && !had_trap) sigdelset(&before->sa_mask, SIGTRAP);
  return result;
}

// Of a function whose handlers block nothing but their own signal.
sighandler_t forget_mask(int number, sighandler_t before) {
  if (is_profiled() && before != SIG_ERR && number >= 1 && number < NSIG) remember_mask(number, false);
  return before;
}

sighandler_t signal_for(int number, sighandler_t handler) {
  STAB_REAL(signal, sighandler_t (*)(int, sighandler_t));
  return is_ours(number) ? change_trap(handler, SA_RESTART) : forget_mask(number, real(number, handler));
}

// Once, and not blocked meanwhile: System V's.
sighandler_t sysv_signal_for(int number, sighandler_t handler) {
  STAB_REAL(__sysv_signal, sighandler_t (*)(int, sighandler_t));
  if (is_ours(number)) return change_trap(handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
  return forget_mask(number, real(number, handler));
}

}  // namespace
}  // namespace stab::causal

// All of libc's doors to a signal's action; the headers choose one by the standard that a program asks for.
STAB_INTERPOSED(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* before)) {
  return stab::causal::sigaction_for(signal, action, before);
}
STAB_INTERPOSED(int, __sigaction, (int signal, const struct sigaction* action, struct sigaction* before)) {
  return stab::causal::sigaction_for(signal, action, before);
}
STAB_INTERPOSED(sighandler_t, signal, (int number, sighandler_t handler)) { return stab::causal::signal_for(number, handler); }
STAB_INTERPOSED(sighandler_t, bsd_signal, (int number, sighandler_t handler)) {
  return stab::causal::signal_for(number, handler);
}
STAB_INTERPOSED(sighandler_t, ssignal, (int number, sighandler_t handler)) {
  return stab::causal::signal_for(number, handler);
}
STAB_INTERPOSED(sighandler_t, sysv_signal, (int number, sighandler_t handler)) {
  return stab::causal::sysv_signal_for(number, handler);
}
STAB_INTERPOSED(sighandler_t, __sysv_signal, (int number, sighandler_t handler)) {
  return stab::causal::sysv_signal_for(number, handler);
}
STAB_INTERPOSED(int, sigignore, (int number)) {
  const struct sigaction ignored = stab::causal::action_of(SIG_IGN);
  return stab::causal::sigaction_for(number, &ignored, nullptr);
}
// SIG_HOLD would block it, which nobody may.
STAB_INTERPOSED(sighandler_t, sigset, (int number, sighandler_t handler)) {
  using namespace stab::causal;
  STAB_REAL(sigset, sighandler_t (*)(int, sighandler_t));
  if (!is_ours(number)) return real(number, handler);
  return handler == SIG_HOLD ? own_trap_action().sa_handler : change_trap(handler, 0);
}

// ---------------------------------------------------------------------------------------------------------
// Masks

namespace stab::causal {
namespace {

template <typename Change>
int change_mask(Change real, int how, const sigset_t* set, sigset_t* before) {
  if (!is_profiled()) return real(how, set, before);
  const uint64_t wanted = set == nullptr ? 0 : word_of(*set);
  sigset_t changed;
  if (set != nullptr) {
    changed = *set;
    if (how != SIG_UNBLOCK) sigdelset(&changed, SIGTRAP);
  }
  sigset_t seen;
  const int result = real(how, set == nullptr ? nullptr : &changed, &seen);
  if (result != 0) return result;
  const bool blocked = believes_trap_blocked(word_of(seen));
  if (before != nullptr) {
    *before = seen;
    if (blocked) sigaddset(before, SIGTRAP);
  }
  if (set == nullptr || (!self.blocks_trap && (wanted & kTrap) == 0) || !is_own_process()) return result;
  const bool has = (wanted & kTrap) != 0;
  believe(how == SIG_BLOCK ? blocked || has : how == SIG_UNBLOCK ? blocked && !has : has);
  return result;
}

}  // namespace
}  // namespace stab::causal

STAB_INTERPOSED(int, sigprocmask, (int how, const sigset_t* set, sigset_t* before)) {
  STAB_REAL(sigprocmask, int (*)(int, const sigset_t*, sigset_t*));
  return stab::causal::change_mask(real, how, set, before);
}
STAB_INTERPOSED(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* before)) {
  STAB_REAL(pthread_sigmask, int (*)(int, const sigset_t*, sigset_t*));
  return stab::causal::change_mask(real, how, set, before);
}
STAB_INTERPOSED(int, sigpending, (sigset_t * set)) {
  STAB_REAL(sigpending, int (*)(sigset_t*));
  const int result = real(set);
  if (result == 0 && stab::causal::is_profiled() && stab::causal::self.keeps_trap) sigaddset(set, SIGTRAP);
  return result;
}

// ---------------------------------------------------------------------------------------------------------
// The stack for handlers: one of ours is none of the program's.
STAB_INTERPOSED(int, sigaltstack, (const stack_t* wanted, stack_t* before)) {
  using namespace stab::causal;
  STAB_REAL(sigaltstack, int (*)(const stack_t*, stack_t*));
  if (!is_profiled() || self.alternate_stack == nullptr) return real(wanted, before);
  stack_t now{};
  if (real(nullptr, &now) != 0) return real(wanted, before);
  const bool is_none = now.ss_sp == self.alternate_stack;
  const bool takes_away = wanted != nullptr && wanted->ss_flags == SS_DISABLE;
  if (!(is_none && takes_away)) {
    const int result = real(wanted, nullptr);
    if (result != 0) return result;
  }
  if (takes_away && !is_none) restore_alternate_stack();
  if (before != nullptr) *before = is_none ? stack_t{nullptr, SS_DISABLE, 0} : now;
  return 0;
}

// ---------------------------------------------------------------------------------------------------------
// Jumps
namespace stab::causal {
namespace {

// A handler that jumps about on a stack of its own has not left what it interrupted.
bool is_on_alternate_stack(uint64_t stack) {
  stack_t now{};
  if (sys::call(SYS_sigaltstack, 0, sys::word(&now)) != 0 || (now.ss_flags & SS_DISABLE) != 0) return false;
  const auto start = reinterpret_cast<uint64_t>(now.ss_sp);
  return stack >= start && stack < start + now.ss_size;
}

void leave_by_jump(const void* place) {
  if (!is_profiled() || (!self.spins && self.waits == kNot)) return;
  const uint64_t stack = arch::stack_of_jump(place);
  if (!is_on_alternate_stack(stack)) abandon_below(stack);
}

}  // namespace
}  // namespace stab::causal

#define STAB_JUMP(NAME)                                                                    \
  STAB_INTERPOSED(__attribute__((noreturn)) void, NAME, (void* place, int value)) {         \
    STAB_REAL(NAME, void (*)(void*, int));                                                  \
    stab::causal::leave_by_jump(place);                                                     \
    real(place, value);                                                                     \
    __builtin_unreachable();                                                                \
  }
STAB_JUMP(longjmp)
STAB_JUMP(_longjmp)
STAB_JUMP(siglongjmp)
STAB_JUMP(__longjmp_chk)
