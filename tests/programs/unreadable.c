/* What a system call is given can't be read: each has its error, whatever szc's runtime is told of such calls.
   other-compilers: no */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "repeat.h"

/* Makes this a file that may write its own text. */
static const char* volatile memory = "/proc/self/mem";

static void* unreadable(void) {
  static void* page;
  if (page == NULL) page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  return page;
}

#define FAILS(call, error) CHECK((errno = 0, call) && errno == (error))

NOINLINE static void open_files(const char* path) {
  FAILS(open(path, O_RDWR) == -1, EFAULT);
  FAILS(open(path, O_WRONLY | O_CREAT, 0600) == -1, EFAULT);
  FAILS(openat(AT_FDCWD, path, O_RDWR) == -1, EFAULT);
  FAILS(fopen(path, "r+") == NULL, EFAULT);
  FAILS(freopen(path, "w", stdin) == NULL, EFAULT);
}

NOINLINE static int set_stack(const stack_t* stack, stack_t* old) { return sigaltstack(stack, old); }

static volatile uintptr_t handled_at;
static void note_place(int signal) {
  char here = (char)signal;
  handled_at = (uintptr_t)&here;
}

/* One variable for both: the kernel reads it before it writes there. */
static void swap_stacks(void) {
  static _Alignas(16) char room[1 << 16];
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, seen;
  CHECK(set_stack(&stack, &stack) == 0 && (stack.ss_flags & SS_DISABLE) != 0);
  CHECK(set_stack(NULL, &seen) == 0 && seen.ss_sp == room && seen.ss_size == sizeof room);
  struct sigaction action = {.sa_handler = note_place, .sa_flags = SA_ONSTACK};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  REPEAT CHECK(raise(SIGUSR1) == 0 && handled_at - (uintptr_t)room < sizeof room);
}

int main(void) {
  const char* const path = (const char*)unreadable();
  REPEAT {
    open_files(path);
    open_files((const char*)16);
    FAILS(set_stack((const stack_t*)path, NULL) == -1, EFAULT);
    FAILS(set_stack((const stack_t*)16, NULL) == -1, EFAULT);
    FAILS(setrlimit(RLIMIT_AS, (const struct rlimit*)path) == -1, EFAULT);
    CHECK(open("/proc/99999999999999999999999/mem", O_RDWR) == -1);
    FAILS(mprotect((char*)path + 1, 4096, PROT_READ | PROT_WRITE) == -1, EINVAL);
  }
  swap_stacks();
  puts(memory);
  return 0;
}
