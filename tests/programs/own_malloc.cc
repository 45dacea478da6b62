// A program's own malloc serves operator new, too: it counts what it gives, and takes it back by free.
#include <string.h>
#include <new>
#include "repeat.h"
static char room[64 << 20];
static size_t used;
static long given, taken;
static bool is_own(const void* block) { return block >= room && block < room + sizeof room; }
extern "C" {
NOINLINE void* malloc(size_t bytes) {
  const size_t start = (used + 31) / 16 * 16;
  if (bytes > sizeof room - start) return nullptr;
  used = start + bytes;
  memcpy(room + start - sizeof bytes, &bytes, sizeof bytes);
  ++given;
  return room + start;
}
NOINLINE void free(void* block) { if (block != nullptr) taken += is_own(block) ? 1 : 1000; }
NOINLINE void* calloc(size_t count, size_t bytes) {
  void* block = malloc(count * bytes);
  return block == nullptr ? nullptr : memset(block, 0, count * bytes);
}
NOINLINE void* realloc(void* old, size_t bytes) {
  void* block = malloc(bytes);
  size_t had = 0;
  if (old != nullptr) memcpy(&had, static_cast<char*>(old) - sizeof had, sizeof had);
  if (block != nullptr && old != nullptr) memcpy(block, old, had < bytes ? had : bytes);
  return block;
}
}
NOINLINE static int sum(const int* numbers, int count) {
  int all = 0;
  for (int i = 0; i < count; ++i) all += numbers[i];
  return all;
}
int main() {
  void* first = malloc(10);
  CHECK(is_own(first));
  REPEAT {
    const size_t before = used;
    given = taken = 0;
    int* volatile numbers = static_cast<int*>(::operator new(100 * sizeof(int)));
    for (int i = 0; i < 100; ++i) numbers[i] = i;
    CHECK(is_own(numbers) && sum(numbers, 100) == 4950);
    free(numbers);
    void* volatile other = ::operator new[](5000, std::nothrow);
    CHECK(is_own(other));
    ::operator delete[](other);
    void* volatile third = malloc(7);
    ::operator delete(third);
    CHECK(given == 3 && taken == 3);
    bool thrown = false;
    try { ::operator delete(::operator new(sizeof room)); } catch (const std::bad_alloc&) { thrown = true; }
    CHECK(thrown);
    used = before;
  }
  puts("own malloc ok");
}
