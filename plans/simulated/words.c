// A small program of many small functions: words are drawn, counted in a table, sorted and hashed, round after round. Each
// round is a call of work(), which is what layouts of plans/simulated.toml are counted by.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define WORDS 300
#define BUCKETS 128

struct word {
  struct word* next;
  unsigned count;
  char text[12];
};

static uint32_t state = 42;
static struct word* table[BUCKETS];

NOINLINE static uint32_t draw(uint32_t below) {
  state = state * 1103515245u + 12345u;
  return (state >> 8) % below;
}
NOINLINE static char vowel(void) { return "aeiou"[draw(5)]; }
NOINLINE static char consonant(void) { return "bcdfghklmnprst"[draw(14)]; }
NOINLINE static void syllable(char* to) {
  to[0] = consonant();
  to[1] = vowel();
}
NOINLINE static void make_word(char* to) {
  const uint32_t syllables = 1 + draw(3);
  for (uint32_t i = 0; i < syllables; ++i) syllable(to + 2 * i);
  to[2 * syllables] = 0;
}
NOINLINE static uint32_t hash(const char* text) {
  uint32_t sum = 2166136261u;
  while (*text != 0) sum = (sum ^ (unsigned char)*text++) * 16777619u;
  return sum;
}
NOINLINE static struct word* find(const char* text, uint32_t bucket) {
  for (struct word* at = table[bucket]; at != NULL; at = at->next)
    if (strcmp(at->text, text) == 0) return at;
  return NULL;
}
NOINLINE static struct word* insert(const char* text, uint32_t bucket) {
  struct word* fresh = malloc(sizeof *fresh);
  if (fresh == NULL) exit(1);
  fresh->next = table[bucket];
  fresh->count = 0;
  strcpy(fresh->text, text);
  return table[bucket] = fresh;
}
NOINLINE static void count_word(const char* text) {
  const uint32_t bucket = hash(text) % BUCKETS;
  struct word* found = find(text, bucket);
  if (found == NULL) found = insert(text, bucket);
  ++found->count;
}
NOINLINE static int by_count(const void* a, const void* b) {
  const struct word *x = *(struct word* const*)a, *y = *(struct word* const*)b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return strcmp(x->text, y->text);
}
NOINLINE static unsigned collect(struct word** into) {
  unsigned count = 0;
  for (int bucket = 0; bucket < BUCKETS; ++bucket)
    for (struct word* at = table[bucket]; at != NULL; at = at->next) into[count++] = at;
  return count;
}
NOINLINE static uint32_t sum_up(struct word** words, unsigned count) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < count; ++i) sum = sum * 31 + words[i]->count * hash(words[i]->text);
  return sum;
}
NOINLINE static void forget(struct word** words, unsigned count) {
  for (unsigned i = 0; i < count; ++i) free(words[i]);
  memset(table, 0, sizeof table);
}
NOINLINE uint32_t work(void) {
  static struct word* words[WORDS];
  char text[12];
  for (int i = 0; i < WORDS; ++i) {
    make_word(text);
    count_word(text);
  }
  const unsigned count = collect(words);
  qsort(words, count, sizeof words[0], by_count);
  const uint32_t sum = sum_up(words, count);
  forget(words, count);
  return sum;
}

int main(int argc, char** argv) {
  uint32_t sum = 0;
  for (int left = argc > 1 ? atoi(argv[1]) : 40; left > 0; --left) sum = sum * 33 + work();
  printf("%u\n", sum);
  return 0;
}
