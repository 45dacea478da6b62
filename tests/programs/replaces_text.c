/* Maps a copy over its own text, as programs do that want huge pages there. */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "repeat.h"
enum { kBytes = 2 * 4096 };
NOINLINE static long leaf(long x) { __asm__ volatile(""); return x * 1000003 + 1; }
NOINLINE static long calls(long x) { return leaf(x) - leaf(x - 1); }
static long (*volatile through)(long) = calls;
int main(void) {
  REPEAT CHECK(through(5) == 1000003);
  void* const text = (void*)((uintptr_t)main & ~(uintptr_t)4095);
  void* const copy = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(copy, text, kBytes);
  CHECK(mprotect(copy, kBytes, PROT_READ | PROT_EXEC) == 0);
  CHECK(mremap(copy, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, text) == text);
  REPEAT CHECK(through(6) == 1000003);
  puts("replaces text ok");
}
