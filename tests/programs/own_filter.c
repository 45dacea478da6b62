/* A program that lets itself make no system calls but those it knows: libc has clocks without one, and knows its own number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forbids.h"

enum { kRounds = 40 };

static unsigned __attribute__((noinline)) mix(unsigned sum, const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) sum = sum * 31 + bytes[i];
  return sum;
}

static unsigned work(int rounds) {
  unsigned sum = 1;
  for (int i = 0; i < rounds; ++i) {
    unsigned char* const bytes = malloc((size_t)(64 + i % 2000));
    if (bytes == NULL) return 0;
    memset(bytes, i, 64);
    sum = mix(sum, bytes, 64);
    free(bytes);
  }
  return sum;
}

int main(void) {
  const unsigned before = work(20000);
  const int calls[] = {SYS_getpid, SYS_gettid, SYS_clock_gettime, SYS_getrusage};
  if (forbid_calls(calls, 4, 0) != 0) return 2;
  for (int i = 0; i < kRounds; ++i)
    if (work(20000) != before) return 3;
  printf("%u\n", before);
  return 0;
}
