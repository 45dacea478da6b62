// malloc and friends under load, across threads, with every alignment and realloc path.
// flags: -pthread
#include <malloc.h>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>
#include "repeat.h"
static void churn(unsigned seed) {
  std::vector<std::pair<unsigned char*, size_t>> live;
  const auto next = [&seed] { return seed = seed * 1103515245u + 12345u, seed >> 8; };
  for (int i = 0; i < 3000; ++i) {
    if (live.size() > 200 || (!live.empty() && next() % 3 == 0)) {
      auto& [block, size] = live[next() % live.size()];
      for (size_t k = 0; k < size; k += 61) CHECK(block[k] == static_cast<unsigned char>(size));
      free(block);
      live.erase(live.begin() + (&block - &live[0].first) / 2);
      continue;
    }
    const size_t size = next() % 16 == 0 ? next() % 100000 + 1 : next() % 500 + 1;
    auto* block = static_cast<unsigned char*>(next() % 4 == 0 ? aligned_alloc(64, (size + 63) / 64 * 64) : malloc(size));
    CHECK(block != nullptr && malloc_usable_size(block) >= size);
    memset(block, static_cast<int>(size & 255), size);
    live.push_back({block, size});
  }
  for (auto& entry : live) {
    entry.first = static_cast<unsigned char*>(realloc(entry.first, entry.second + 100));
    free(entry.first);
  }
}
int main() {
  REPEAT {
    std::thread one(churn, 1), two(churn, 2);
    churn(3);
    one.join();
    two.join();
    std::unique_ptr<int[]> zeroed(new int[1000]());
    for (int i = 0; i < 1000; ++i) CHECK(zeroed[i] == 0);
  }
  puts("allocate ok");
}
