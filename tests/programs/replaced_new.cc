// A program's own operator new, with a header in front of what it returns: every form that it leaves to us must call it.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // libstdc++ uses what it deprecates
#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>
#include "repeat.h"
static long live;
void* operator new(size_t bytes) {
  char* start = static_cast<char*>(std::malloc(bytes + 16));
  if (start == nullptr) throw std::bad_alloc();
  ++live;
  return start + 16;
}
void operator delete(void* freed) noexcept {
  if (freed == nullptr) return;
  --live;
  std::free(static_cast<char*>(freed) - 16);
}
void operator delete(void* freed, size_t) noexcept { operator delete(freed); }
int main() {
  REPEAT {
    std::vector<int> numbers;
    for (int i = 0; i < 1000; ++i) numbers.push_back(i * 7919 % 1000);
    std::stable_sort(numbers.begin(), numbers.end());  // its buffer comes from the form that doesn't throw
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    delete new (std::nothrow) int(3);
    delete[] new (std::nothrow) int[3];
    delete[] new int[5];
  }
  CHECK(live == 0);
  puts("replaced new ok");
}
