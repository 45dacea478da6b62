/* Text that the kernel writes for others: a breakpoint in a child that asked to be traced, without exec, and the process's memory
   as a file. Before that all of it moves.
   other-compilers: no */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"

enum { kCalls = 5, kAnswer = 0x55, kBreakpoint = 0xcc };
NOINLINE static int passes(int number) { return number * 2 + 1; }
static int (*volatile passing)(int) = passes;
NOINLINE static int answers(void) { return 0x11223344; }
static int (*volatile asked)(void) = answers;

static void is_traced(void) {
  CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0);
  int sum = 0;
  for (int i = 0; i < kCalls; ++i) sum += passing(i);
  _exit(sum);
}

static void write_text(pid_t child, long word) {
  CHECK(ptrace(PTRACE_POKETEXT, child, (void*)passes, (void*)word) == 0);
}

/* The instruction that the breakpoint is in place of, alone. */
static void step(pid_t child, long word) {
  struct user_regs_struct registers;
  CHECK(ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0 && --registers.rip == (unsigned long)passes);
  CHECK(ptrace(PTRACE_SETREGS, child, NULL, &registers) == 0);
  write_text(child, word);
  int status = 0;
  CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status));
}

static void trace_child(void) {
  const pid_t child = fork();
  if (child == 0) is_traced();
  int status = 0, calls = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
  const long word = ptrace(PTRACE_PEEKTEXT, child, (void*)passes, NULL);
  for (;; ++calls) {
    write_text(child, (word & ~0xffl) | kBreakpoint);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) break;
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    step(child, word);
  }
  CHECK(calls == kCalls && WEXITSTATUS(status) == 25);
}

static void write_memory(void) {
  const unsigned char code[] = {0xb8, kAnswer, 0, 0, 0, 0xc3};
  const int memory = open("/proc/self/mem", O_RDWR);
  CHECK(memory >= 0 && pwrite(memory, code, sizeof code, (off_t)answers) == sizeof code && close(memory) == 0);
  REPEAT CHECK(asked() == kAnswer && passing(2) == 5);
}

int main(void) {
  REPEAT CHECK(asked() == 0x11223344 && passing(2) == 5);
  trace_child();
  write_memory();
  puts("written");
  return 0;
}
