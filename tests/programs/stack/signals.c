// Handlers on the thread's own stack and on a signal stack of the smallest size, which nothing may overflow; sent, and
// by a timer, between any two instructions.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "features.h"

static volatile sig_atomic_t handled;
static volatile long checked;
static char* signal_stack;
static const size_t kSignalStackBytes = 8192;

NOINLINE static long use(char* bytes, size_t n) {
  memset(bytes, 2, n);
  __asm__ volatile("" : : "r"(bytes) : "memory");
  return bytes[n - 1];
}

NOINLINE static long deeper(int n) {  // about 2 KiB in all: what is left of 8 KiB beside the saved registers
  char frame[160];
  const long here = use(frame, sizeof frame);
  return n == 0 ? here : deeper(n - 1) + here;
}

static void handle(int number) {
  char here;
  if ((number == SIGUSR2 || number == SIGPROF) && (&here < signal_stack || &here >= signal_stack + kSignalStackBytes)) abort();
  checked += deeper(8);
  handled = handled + 1;
}

static void set_up(void) {
  if (signal_stack != NULL) return;
  char* pages = mmap(NULL, kSignalStackBytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages, 4096, PROT_NONE);  // an overflow ends the program
  signal_stack = pages + 4096;
  stack_t alternate;
  memset(&alternate, 0, sizeof alternate);
  alternate.ss_sp = signal_stack;
  alternate.ss_size = kSignalStackBytes;
  if (sigaltstack(&alternate, NULL) != 0) fail("sigaltstack");

  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGVTALRM, &action, NULL);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
}

static long sent(int number) {
  set_up();
  checked = 0;
  long total = 0;
  for (int i = 0; i < 20; ++i) {
    raise(number);
    total += deeper(3);
  }
  return checked + total;
}
static long on_own_stack(void) { return sent(SIGUSR1); }
static long on_signal_stack(void) { return sent(SIGUSR2); }

// One handler at least, at whatever moment of its work.
static long by_timer(int timer) {
  set_up();
  const struct itimerval soon = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  const int before = handled;
  long total = 0;
  setitimer(timer, &soon, NULL);
  while (handled == before) total = deeper(40);
  setitimer(timer, &never, NULL);
  return total;
}
static long timer_on_own_stack(void) { return by_timer(ITIMER_VIRTUAL); }
static long timer_on_signal_stack(void) { return by_timer(ITIMER_PROF); }

FEATURES({"handler", on_own_stack, 0}, {"signal-stack", on_signal_stack, 0}, {"timer-handler", timer_on_own_stack, 0},
         {"timer-signal-stack", timer_on_signal_stack, 0})
