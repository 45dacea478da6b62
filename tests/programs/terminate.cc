// noexcept stops an exception: the terminate handler runs and decides the exit code.
// expect-exit: 3
#include <cstdlib>
#include <exception>
#include "repeat.h"
NOINLINE void fails(int n) { if (n == 0) throw 1; fails(n - 1); }
NOINLINE void barrier() noexcept { fails(4); }
int main() {
  REPEAT { try { fails(3); } catch (int) {} }
  std::set_terminate([] { puts("terminated"); fflush(stdout); _Exit(3); });
  barrier();
}
