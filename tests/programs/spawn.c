/* vfork, posix_spawn and exec of the program itself, which then moves again. */
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
extern char** environ;
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
NOINLINE static pid_t by_vfork(const char* self) {
  const pid_t child = vfork();
  if (child == 0) { execl(self, self, "child", (char*)NULL); _exit(127); }
  return child;
}
int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) return fib(20) == 6765 ? 9 : 1;
  if (argc > 1 && strcmp(argv[1], "last") == 0) { REPEAT CHECK(fib(15) == 610); puts("spawn ok"); return 0; }
  for (int i = 0; i < 4; ++i) {
    char* words[] = {argv[0], "child", NULL};
    pid_t child;
    CHECK(fib(15) == 610);
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0 && status_of(child) == 9);
    CHECK(status_of(by_vfork("/proc/self/exe")) == 9);
  }
  CHECK(system("exit 4") == 4 << 8);
  CHECK(wait(NULL) == -1 && errno == ECHILD);
  execl("/proc/self/exe", argv[0], "last", (char*)NULL);
  return 1;
}
