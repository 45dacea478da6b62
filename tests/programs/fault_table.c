/* Loads that may fault, each in a table with the place to go on at, which the handler of SIGSEGV looks up. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#include <unistd.h>
#include "repeat.h"

struct Fault {
  uintptr_t at, go_on;
};
extern const struct Fault __start_fault_table[], __stop_fault_table[];

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  greg_t* const at = &((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  for (const struct Fault* fault = __start_fault_table; fault != __stop_fault_table; ++fault) {
    if (fault->at != (uintptr_t)*at) continue;
    *at = (greg_t)fault->go_on;
    return;
  }
  _exit(3);
}

NOINLINE static int load(const int* from, int otherwise) {
  int value = otherwise + 1000000;
  __asm__ volatile(
      "1: mov (%1), %0\n 2:\n"
      ".pushsection fault_table, \"aw\"\n .balign 8\n .quad 1b, 2b\n .popsection\n"
      : "+r"(value) : "r"(from) : "memory");
  return value == otherwise + 1000000 ? otherwise : value;
}
static int (*volatile through)(const int*, int) = load;

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  const int there = 42;
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
  REPEAT CHECK(through(&there, 7) == 42 && through((const int*)16, 7) == 7);
  puts("fault table ok");
}
