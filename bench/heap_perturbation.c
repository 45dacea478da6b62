/* Preloaded into a program, allocates before main what an unrelated edit of it might: 600 objects of 16 to 1024
   bytes, of which 300 are freed. HEAP_PERTURBATION, a number, draws their order and which are freed. The sizes are
   the same for all numbers, so each perturbation does the same work; bench/heap_bias_programs compares them. */
#include <stdint.h>
#include <stdlib.h>

enum { kObjects = 600 };

static uint64_t draw(uint64_t* state, uint64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

__attribute__((constructor)) static void perturb(void) {
  const char* number = getenv("HEAP_PERTURBATION");
  if (number == NULL) return;
  uint64_t state = strtoull(number, NULL, 10) * 0x9e3779b97f4a7c15u + 1;
  static size_t sizes[kObjects];
  static volatile char* objects[kObjects];
  for (int i = 0; i < kObjects; ++i) sizes[i] = 16 + (size_t)i * (size_t)i % 1009;
  for (int left = kObjects; left > 0; --left) {
    size_t* drawn = &sizes[draw(&state, (uint64_t)left)];
    objects[left - 1] = malloc(*drawn);
    if (objects[left - 1] != NULL) *objects[left - 1] = 1;
    *drawn = sizes[left - 1];
  }
  for (int left = kObjects; left > kObjects / 2; --left) {
    volatile char** drawn = &objects[draw(&state, (uint64_t)left)];
    free((void*)*drawn);
    *drawn = objects[left - 1];
  }
}
