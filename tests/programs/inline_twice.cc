// COMDAT functions, templates, and a function-local static whose initializer runs once across threads.
// flags: -pthread
#include <map>
#include <string>
#include <thread>
#include "repeat.h"
template <int N> NOINLINE int plus(int x) { return x + N; }
inline NOINLINE int shared_inline(int x) { static int calls = 0; ++calls; return x + (calls > 0); }
static int (*const all[])(int) = {plus<1>, plus<2>, plus<3>, plus<4>, shared_inline};
NOINLINE const std::map<std::string, int>& table() {
  static const std::map<std::string, int> built = {{"one", 1}, {"two", 2}, {"three", 3}};
  return built;
}
int main() {
  std::thread first([] { table(); });
  first.join();
  REPEAT {
    int sum = 0;
    for (const auto function : all) sum += function(10);
    CHECK(sum == 61 && table().at("three") == 3);
  }
  puts("inline ok");
}
