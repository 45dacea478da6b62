/* One program in two builds: with -DCHANGED one function has another size, and one is there that the other build lacks.
   What both have says where it runs: in the image, on the stack, on the heap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

enum { kLow = (2 << 20) - 1 };

/* A function's label is that of the original; where a call returns to is where it runs. */
static NOINLINE uintptr_t here(void) { return (uintptr_t)__builtin_return_address(0); }

static volatile unsigned sink;
static int tells;

static NOINLINE void tell(const char* what, uintptr_t where) {
  if (tells) printf("%s %lx\n", what, (unsigned long)(where & kLow));
}

/* A frame of its own, so that it has a pad. */
#define FUNCTION(name, next)                                  \
  static NOINLINE unsigned name(unsigned x) {                 \
    volatile unsigned char frame[96];                         \
    frame[x % 96] = (unsigned char)x;                         \
    tell("code " #name, here());                              \
    tell("stack " #name, (uintptr_t)frame);                   \
    return frame[x % 96] + next;                              \
  }

static NOINLINE unsigned changed(unsigned x) {
  volatile unsigned char frame[96];
  frame[x % 96] = (unsigned char)x;
#ifdef CHANGED
  for (unsigned i = 0; i < 40; ++i) frame[i] = (unsigned char)(frame[(i * 7) % 96] ^ (x >> (i % 8)) ^ (frame[95 - i] * 3));
  sink += frame[(x * 31) % 96] / 3;
#endif
  return frame[x % 96];
}

#ifdef CHANGED
NOINLINE unsigned only_here(unsigned x) { return x * 2654435761u + sink; }
#endif

FUNCTION(leaf, changed(x))
FUNCTION(middle, leaf(x + 1) + changed(x))
FUNCTION(outer, middle(x + 2))

/* A jump table. */
NOINLINE unsigned chooses(unsigned x) {
  switch (x % 8) {
    case 0: return leaf(x);
    case 1: return sink * 3;
    case 2: return sink ^ 0x55;
    case 3: return x << 3;
    case 4: return outer(x);
    case 5: return changed(x) + 5;
    case 6: return sink / 7;
    default: return 11;
  }
}

static void report(void) {
  tells = 1;
  void* kept[40];
  for (unsigned i = 0; i < 40; ++i) {
    kept[i] = malloc(i % 3 == 2 ? 100000 + i : 24 * (i + 1));
    tell("heap", (uintptr_t)kept[i]);
  }
  for (unsigned i = 0; i < 8; ++i) sink += chooses(i);
  for (unsigned i = 0; i < 40; ++i) free(kept[i]);
}

static NOINLINE uintptr_t where(void) {
  const uintptr_t at = here();
  sink += 1;
  return at;
}

/* The places of one function, one after the other, for so much CPU time. */
static void series(double seconds) {
  uintptr_t last = 0;
  for (;;) {
    const double used = (double)clock() / CLOCKS_PER_SEC;
    for (int i = 0; i < 1000; ++i) sink += chooses(sink + (unsigned)i);
    const uintptr_t now = where() & kLow;
    if (now != last) printf("%lx\n", (unsigned long)now);
    last = now;
    if (used > seconds) return;
  }
}

int main(int argc, char** argv) {
#ifdef CHANGED
  sink = only_here(sink) * 0;
#endif
  if (argc > 2 && strcmp(argv[1], "series") == 0) series(atof(argv[2]));
  else report();
  return 0;
}
