/* Two forked processes share the work, each 0.6 ms of line_a and 0.4 ms of line_b a round. */
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

LINE(line_a)
LINE(line_b)

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t a = rounds("line_a", 600), b = rounds("line_b", 400);
  const pid_t child = fork();
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds / 2) {
    line_a(a);
    line_b(b);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  if (child == 0) return 0;
  int status = 0;
  waitpid(child, &status, 0);
  printf("%ld rounds\n", 2 * done);
  return status;
}
