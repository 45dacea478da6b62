/* child_usage FD COMMAND...: runs a command and writes its CPU seconds and largest resident KiB to FD.

   A process of its own and small: a child's largest resident memory starts with that of the process it was
   forked from, so measured from Python every small program would show Python's. Exits as the command does. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int out = atoi(argv[1]);
  const pid_t child = fork();
  if (child == 0) {
    close(out);
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  struct rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) != child) return 126;
  dprintf(out, "%.6f %ld\n",
          (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
          used.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
