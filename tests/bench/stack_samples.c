// Preloaded by stack_movement: notes where the program is and where its stack pointer is, 5,000 times a second, and writes
// pairs of words (rip, rsp) to $STACK_SAMPLES when it exits, behind the address that the executable was loaded at.
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { kMost = 1 << 20, kPeriodNs = 200 * 1000 };

static unsigned long (*samples)[2];
static unsigned long count;
static timer_t timer;

static void take(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  const greg_t* registers = ((const ucontext_t*)context)->uc_mcontext.gregs;
  if (count == kMost) return;
  samples[count][0] = (unsigned long)registers[REG_RIP];
  samples[count++][1] = (unsigned long)registers[REG_RSP];
}

static void set_period(long ns) {
  const struct itimerspec times = {{0, ns}, {0, ns}};
  timer_settime(timer, 0, &times, NULL);
}

static int note_first(struct dl_phdr_info* info, size_t size, void* base) {
  (void)size;
  *(unsigned long*)base = info->dlpi_addr;
  return 1;
}

__attribute__((constructor)) static void begin(void) {
  samples = mmap(NULL, sizeof(*samples) * kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = take;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  if (samples == MAP_FAILED || sigaction(SIGPROF, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
    abort();
  set_period(kPeriodNs);
}

__attribute__((destructor)) static void end(void) {
  set_period(0);
  FILE* file = fopen(getenv("STACK_SAMPLES"), "wb");
  unsigned long base = 0;
  dl_iterate_phdr(note_first, &base);
  if (file == NULL || fwrite(&base, sizeof base, 1, file) != 1 || fwrite(samples, sizeof *samples, count, file) != count ||
      fclose(file) != 0)
    abort();
}
