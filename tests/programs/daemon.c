/* Becoming a daemon: fork, setsid, fork again, descriptors closed; the grandchild works on and reports by a pipe. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  int ends[2];
  char answer[16] = {0};
  CHECK(pipe(ends) == 0 && fib(15) == 610);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    CHECK(chdir("/") == 0);
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
    for (int fd = 3; fd < 256; ++fd)
      if (fd != ends[1]) close(fd);
    REPEAT if (fib(15) != 610) _exit(1);
    _exit(write(ends[1], "done", 4) == 4 ? 0 : 1);
  }
  close(ends[1]);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(read(ends[0], answer, sizeof answer) == 4);
  puts(answer);
}
