// Handlers on the thread's own stack and on a signal stack of the smallest size, which nothing may overflow.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile sig_atomic_t handled;
static volatile long checked;
static char* signal_stack;
static const size_t kSignalStackBytes = 8192;

APART static long use(char* bytes, size_t n) {
  memset(bytes, 2, n);
  __asm__ volatile("" : : "r"(bytes) : "memory");
  return bytes[n - 1];
}

APART static long deeper(int n) {  // about 2 KiB in all: what is left of 8 KiB beside the saved registers
  char frame[160];
  const long here = use(frame, sizeof frame);
  return n == 0 ? here : deeper(n - 1) + here;
}

static void handle(int number) {
  char here;
  if (number == SIGUSR2 && (&here < signal_stack || &here >= signal_stack + kSignalStackBytes)) abort();
  checked += deeper(8);
  handled = handled + 1;
}

int main(void) {
  char* pages = mmap(NULL, kSignalStackBytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages, 4096, PROT_NONE);  // an overflow ends the program
  signal_stack = pages + 4096;
  stack_t alternate;
  memset(&alternate, 0, sizeof alternate);
  alternate.ss_sp = signal_stack;
  alternate.ss_size = kSignalStackBytes;
  if (sigaltstack(&alternate, NULL) != 0) return 1;

  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, NULL);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, NULL);
  long total = 0;
  for (int i = 0; i < 2000; ++i) {
    raise(i % 2 ? SIGUSR1 : SIGUSR2);
    total += deeper(3);
  }
  printf("%d %ld %ld\n", (int)handled, checked, total);
  return 0;
}
