// Prints how many different return addresses one call site saw. While code moves, each layout has another one.
// With a second argument a child does it, and the program ends at once.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static uintptr_t seen[100000];
static int seen_count;

static int compare(const void *a, const void *b) {
  uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return x < y ? -1 : x > y;
}

NOINLINE uintptr_t return_address(void) { return (uintptr_t)__builtin_return_address(0); }
NOINLINE uintptr_t call_site(void) {
  uintptr_t address = return_address();
  __asm__ volatile("");
  return address;
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 500;
  if (argc > 2 && fork() != 0) return 0;
  const struct timespec rest = {0, 1000000};
  for (int i = 0; i < rounds; ++i) {
    seen[seen_count++] = call_site();
    nanosleep(&rest, NULL);
  }
  qsort(seen, seen_count, sizeof seen[0], compare);
  int different = 1;
  for (int i = 1; i < seen_count; ++i) different += seen[i] != seen[i - 1];
  printf("%d\n", different);
  return 0;
}
