// Exceptions thrown in images that are retired before they are caught, through C frames, in several threads.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

void nap() {
  const timespec rest{0, 1'200'000};
  nanosleep(&rest, nullptr);
}

struct Counted {
  int& count;
  ~Counted() { ++count; }
};

__attribute__((noinline)) int descend(int depth, int& destroyed) {
  Counted counted{destroyed};
  if (depth == 0) {
    nap();
    throw std::runtime_error("bottom");
  }
  const int result = descend(depth - 1, destroyed) + 1;
  __asm__ volatile("");
  return result;
}

int compare(const void* a, const void* b) {
  const int x = *static_cast<const int*>(a), y = *static_cast<const int*>(b);
  if (x == 12345) throw y;
  return x < y ? -1 : x > y;
}

long work() {
  long caught = 0;
  int destroyed = 0;
  for (int i = 0; i < 40; ++i) {
    try {
      descend(20, destroyed);
    } catch (const std::exception&) {
      ++caught;
    }
    std::vector<int> values(64, i);
    values[17] = 12345;
    try {
      qsort(values.data(), values.size(), sizeof values[0], compare);
    } catch (int value) {
      caught += 1000 * (value == i || value == 12345);
    }
  }
  return caught * 10000 + destroyed;
}

}  // namespace

int main() {
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { sum += work(); });
  for (int i = 0; i < 30; ++i) std::thread([&] { nap(), sum += 1; }).join();
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld\n", sum.load());
}
