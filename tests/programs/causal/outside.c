/* Work of libc's on behalf of two functions of ours: line_a has three times as much of it as line_b. */
#include "work.h"

static char from[1 << 16], to[1 << 16];

__attribute__((noinline)) void line_a(int times) {
  for (int i = 0; i < times; i++) {
    memcpy(to, from, sizeof from);
    __asm__ volatile("" : : "r"(to) : "memory");
  }
  __asm__ volatile("" : : : "memory"); /* no tail call */
}

__attribute__((noinline)) void line_b(int times) {
  for (int i = 0; i < times; i++) {
    memcpy(to, from, sizeof from);
    __asm__ volatile("" : : "r"(to) : "memory");
  }
  __asm__ volatile("" : : : "memory");
}

int main(int argc, char** argv) {
  if (argc == 3) run_seconds = atof(argv[2]);
  long done = 0;
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    line_a(300);
    line_b(100);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  printf("%ld rounds\n", done);
  return 0;
}
