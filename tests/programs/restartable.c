/* A restartable sequence (rseq(2)): the kernel knows by its addresses whether a signal came inside, and starts it anew then. */
#include <signal.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/time.h>
#include "repeat.h"

static volatile long count;
static volatile sig_atomic_t by_handler;
static void on_alarm(int number) {
  (void)number;
  ++count;
  ++by_handler;
}

/* Without a restart the handler's count is lost. */
NOINLINE static int add_one(volatile struct rseq* area) {
  __asm__ goto(
      ".pushsection __rseq_cs, \"aw\"\n .balign 32\n 3: .long 0, 0\n .quad 1f, 2f - 1f, 4f\n .popsection\n"
      ".pushsection __rseq_failure, \"ax\"\n .byte 0x0f, 0xb9, 0x3d\n .long %c[signature]\n 4: jmp %l[again]\n .popsection\n"
      "lea 3b(%%rip), %%rax\n mov %%rax, %[section]\n"
      "1: mov %[count], %%rax\n mov $20000, %%ecx\n 5: dec %%ecx\n jnz 5b\n inc %%rax\n mov %%rax, %[count]\n 2:\n"
      : : [section] "m"(area->rseq_cs), [count] "m"(count), [signature] "i"(RSEQ_SIG) : "rax", "rcx", "cc", "memory" : again);
  return 1;
again:
  return 0;
}

int main(void) {
  /* libc has registered it, where the kernel can. */
  volatile struct rseq* const area = (struct rseq*)((char*)__builtin_thread_pointer() + __rseq_offset);
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 300}, {0, 300}};
  long added = 0;
  if (__rseq_size > 0) {
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &every, NULL) == 0);
    REPEAT added += add_one(area);
    memset(&every, 0, sizeof every);
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
  }
  CHECK(count == added + by_handler);
  puts("restartable ok");
}
