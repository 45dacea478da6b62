/* All children there are: a program that waits for any of them, clones without a signal included, sees its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
int main(void) {
  int status = 0;
  REPEAT {
    CHECK(waitpid(-1, &status, __WALL) == -1 && errno == ECHILD);
    CHECK(waitpid(-1, &status, __WCLONE) == -1 && errno == ECHILD);
    const pid_t child = fork();
    if (child == 0) _exit(3);
    CHECK(waitpid(-1, &status, __WALL) == child && WEXITSTATUS(status) == 3);
  }
  puts("no child but its own");
}
