// A random walk over so many kibibytes, a step a cache line: what it takes is the time of the memory that holds them.
//
//     walk PARTS KIB STEPS      over PARTS times KIB kibibytes
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLine = 64 };

struct line {
  struct line* next;
  char rest[kLine - sizeof(struct line*)];
};

static uint64_t state = 88172645463325252u;
static uint64_t random_below(uint64_t bound) {  // xorshift, Marsaglia 2003
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state % bound;
}

int main(int count, char** words) {
  if (count != 4) return fprintf(stderr, "usage: walk PARTS KIB STEPS\n"), 2;
  const size_t lines = strtoul(words[1], NULL, 10) * strtoul(words[2], NULL, 10) * 1024 / kLine;
  struct line* all = aligned_alloc(kLine, lines * sizeof(struct line));
  size_t* order = malloc(lines * sizeof *order);
  if (lines < 2 || all == NULL || order == NULL) return fprintf(stderr, "walk: no memory for %zu lines\n", lines), 2;
  for (size_t i = 0; i < lines; ++i) order[i] = i;
  for (size_t i = lines - 1; i > 0; --i) {
    const size_t other = random_below(i + 1), kept = order[i];
    order[i] = order[other], order[other] = kept;
  }
  for (size_t i = 0; i < lines; ++i) all[order[i]].next = &all[order[(i + 1) % lines]];
  struct line* at = &all[order[0]];
  for (long left = strtol(words[3], NULL, 10); left > 0; --left) at = at->next;
  return printf("%zu\n", (size_t)(at - all)) < 0;
}
