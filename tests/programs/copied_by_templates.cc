// Functions whose code is read by templates of the C++ library, which hand its address on to each other, and back.
// other-compilers: no
#include <sys/mman.h>
#include <algorithm>
#include <numeric>
#include "repeat.h"

static constexpr int kBytes = 64;
using Function = int (*)(int, int);
NOINLINE static int first(int a, int b) { return a * 3 + b + (a ^ 0x11335577); }
NOINLINE static int second(int a, int b) { return a / (b | 1) - (a ^ 0x22446688); }
NOINLINE static int third(int a, int b) { return a * 77 + b * 1234567; }

static const unsigned char* code_of(Function function) { return reinterpret_cast<const unsigned char*>(function); }

int main() {
  void* const made = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(made != MAP_FAILED);
  auto* const copies = static_cast<unsigned char*>(made);
  const int wanted = first(4, 5), wanted_second = second(4, 5);
  const unsigned sum = std::accumulate(code_of(third), code_of(third) + 16, 0u);
  REPEAT {
    std::copy(code_of(first), code_of(first) + kBytes, copies);
    CHECK(reinterpret_cast<Function>(copies)(4, 5) == wanted && first(4, 5) == wanted);
    std::copy_n(code_of(second), kBytes, copies + 128);
    CHECK(reinterpret_cast<Function>(copies + 128)(4, 5) == wanted_second && second(4, 5) == wanted_second);
    CHECK(std::accumulate(code_of(third), code_of(third) + 16, 0u) == sum && third(1, 1) == 1234644);
  }
  puts("as the compiler made them");
}
