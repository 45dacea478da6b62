/* Preloaded into a program, allocates before main what an unrelated edit of it might: two objects each of 300 sizes
   from 16 to 1024 bytes, of which one is freed. HEAP_PERTURBATION, a number, draws their order and which one. Sizes
   and holes are the same for all numbers, so each perturbation does the same work; tests/bench/heap_bias_programs compares
   them. (With any 300 of 600 freed, the number of lines that the program finds touched differed, and so its misses.) */
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
  static int order[kObjects];
  static volatile char* objects[kObjects];
  for (int i = 0; i < kObjects; ++i) order[i] = i;
  for (int left = kObjects; left > 0; --left) {
    int* drawn = &order[draw(&state, (uint64_t)left)];
    const int object = *drawn;
    *drawn = order[left - 1];
    const size_t size = (size_t)(object / 2);
    objects[object] = malloc(16 + size * size % 1009);
    if (objects[object] != NULL) *objects[object] = 1;
  }
  for (int pair = 0; pair < kObjects; pair += 2) free((void*)objects[pair + (int)draw(&state, 2)]);
}
