// Constructors before main, atexit and destructors after it; the exit code arrives.
// expect-exit: 42
#include "repeat.h"
static int order;
__attribute__((constructor(200))) static void early() { order = order * 10 + 1; }
__attribute__((constructor)) static void later() { order = order * 10 + 2; }
static void at_end() { puts("atexit"); }
struct Global { Global() { order = order * 10 + 3; } ~Global() { puts("destroyed"); } } global;
int main() {
  atexit(at_end);
  REPEAT CHECK(order == 123 || order == 132);
  puts("main");
  return 42;
}
