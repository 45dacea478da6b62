// Exceptions in a program that holds libgcc and libstdc++ itself: no shared unwinder is loaded, and what a failing
// operator new calls comes out of an archive.
// flags: -static-libgcc -static-libstdc++
// With these, plain clang makes no -static-pie that runs.
// not: -static-pie
#include <stdlib.h>
#include <new>
#include <stdexcept>
#include "repeat.h"
static int alive;
struct Guard { Guard() { ++alive; } ~Guard() { --alive; } };
NOINLINE int thrower(int depth) {
  Guard guard;
  if (depth == 0) throw std::runtime_error("bottom");
  if (depth % 7 != 0) return thrower(depth - 1) + 1;
  try { return thrower(depth - 1) + 1; } catch (...) { Guard inner; throw; }
}
extern "C" NOINLINE int compare(const void*, const void*) { throw 7; }
NOINLINE int throw_through_libc() {
  int values[] = {3, 1, 2};
  try { qsort(values, 3, sizeof(int), compare); } catch (int thrown) { return thrown; }
  return 0;
}
NOINLINE bool throws_bad_alloc() {
  volatile size_t huge = size_t{1} << 62;
  try { ::operator delete(::operator new(huge)); } catch (const std::bad_alloc&) { return true; }
  return false;
}
int main() {
  REPEAT {
    try { thrower(30); CHECK(false); } catch (const std::exception&) {}
    CHECK(alive == 0);
    CHECK(throw_through_libc() == 7);
    CHECK(throws_bad_alloc());
  }
  puts("exceptions ok");
}
