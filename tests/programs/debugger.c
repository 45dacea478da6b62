/* A debugger of itself: it starts the program again, sets a breakpoint in a function before the program's first instruction, and
   steps over it each time. The function is called five times. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE long watched(long x) {
  __asm__ volatile("");
  return x * 2;
}
NOINLINE static int call_watched(int most) {
  int calls = 0;
  long sum = 0;
  REPEAT {
    if (calls < most) sum += watched(calls++);
    __asm__ volatile("" : "+r"(sum));
  }
  return calls;
}
/* Where `watched` lies in the program that has just been started: the first file that is mapped is its own. */
static uint64_t find_watched(pid_t child) {
  struct stat status;
  const int file = open("/proc/self/exe", O_RDONLY);
  CHECK(file >= 0 && fstat(file, &status) == 0);
  const char* const bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  CHECK(bytes != MAP_FAILED);
  const Elf64_Ehdr* const header = (const void*)bytes;
  const Elf64_Shdr* const sections = (const void*)(bytes + header->e_shoff);
  uint64_t found = 0;
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym* const symbols = (const void*)(bytes + sections[i].sh_offset);
    const char* const names = bytes + sections[sections[i].sh_link].sh_offset;
    for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
      if (strcmp(names + symbols[k].st_name, "watched") == 0) found = symbols[k].st_value;
  }
  CHECK(found != 0);
  if (header->e_type == ET_EXEC) return found;
  char path[64], line[512] = "";
  snprintf(path, sizeof path, "/proc/%d/maps", child);
  FILE* const maps = fopen(path, "r");
  CHECK(maps != NULL);
  while (strchr(line, '/') == NULL) CHECK(fgets(line, sizeof line, maps) != NULL);
  fclose(maps);
  return strtoul(line, NULL, 16) + found;
}
static int next_stop(pid_t child, int request) {
  int status;
  CHECK(ptrace(request, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child);
  return status;
}
int main(int count, char** arguments) {
  if (count > 1) return call_watched(5);
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    unsetenv("STAB_REPORT");  /* the debugger's own */
    if (unsetenv("STAB_LAYOUT") == 0 && getenv("STAB_CODE") != NULL) setenv("STAB_CODE", "shuffle", 1);
    execl("/proc/self/exe", arguments[0], "again", (char*)NULL);
    _exit(99);
  }
  int status, hits = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
  const uint64_t at = find_watched(child);
  const long word = ptrace(PTRACE_PEEKTEXT, child, (void*)at, NULL);
  const long with_breakpoint = (word & ~0xffL) | 0xcc;
  CHECK(ptrace(PTRACE_POKETEXT, child, (void*)at, (void*)with_breakpoint) == 0);
  for (status = next_stop(child, PTRACE_CONT); WIFSTOPPED(status); status = next_stop(child, PTRACE_CONT)) {
    struct user_regs_struct registers;
    CHECK(WSTOPSIG(status) == SIGTRAP && ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0 && registers.rip == at + 1);
    hits++;
    registers.rip = at;
    CHECK(ptrace(PTRACE_SETREGS, child, NULL, &registers) == 0 && ptrace(PTRACE_POKETEXT, child, (void*)at, (void*)word) == 0);
    CHECK(WIFSTOPPED(next_stop(child, PTRACE_SINGLESTEP)));
    CHECK(ptrace(PTRACE_POKETEXT, child, (void*)at, (void*)with_breakpoint) == 0);
  }
  CHECK(call_watched(1 << 30) > 5);
  printf("%d stops, exit %d\n", hits, WEXITSTATUS(status));
}
