// heap_coverage: where the heads of objects fall in caches, for each size class of ours up to 4 KiB.
//
// Three ways of allocating: fresh (nothing is freed), fifo (a queue of 500), pair (malloc and free, a million
// times). For each the number of the 64 sets of an L1 (address bits 6-11) and of the 4,096 lines of 256 KiB
// (bits 6-17) that object heads visited in 200,000 allocations (pair: a million). The last two columns are the
// most visited L1 set's share of the fresh heads against an even share, and the same for the fifo.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/heap/size_classes.h"

namespace {

struct Coverage {
  std::vector<uint32_t> sets = std::vector<uint32_t>(64);
  std::vector<uint32_t> lines = std::vector<uint32_t>(4096);
  uint64_t total = 0;

  void visit(void* head) {
    const uint64_t line = reinterpret_cast<uint64_t>(head) / 64;
    ++sets[line % 64];
    ++lines[line % 4096];
    ++total;
  }
  static int reached(const std::vector<uint32_t>& counts) {
    int seen = 0;
    for (const uint32_t count : counts) seen += count > 0;
    return seen;
  }
  double unevenness() const {
    uint32_t most = 0;
    for (const uint32_t count : sets) most = count > most ? count : most;
    return static_cast<double>(most) * 64 / static_cast<double>(total);
  }
};

}  // namespace

int main() {
  using namespace stab::heap;
  printf("%8s %14s %14s %14s %12s %12s\n", "stride", "fresh", "fifo", "pair", "fresh worst", "fifo worst");
  for (int i = 0; i < kClasses && size_class(i).stride <= kPage + kLine; ++i) {
    const size_t bytes = size_class(i).stride;
    Coverage fresh, fifo, pair;
    std::vector<void*> live;
    const size_t count = bytes < 1024 ? 200000 : 200000000 / bytes;
    for (size_t n = 0; n < count; ++n) {
      live.push_back(malloc(bytes));
      fresh.visit(live.back());
    }
    for (void* block : live) free(block);
    std::vector<void*> queue(500);
    for (size_t n = 0; n < 200000; ++n) {
      free(queue[n % 500]);
      queue[n % 500] = malloc(bytes);
      fifo.visit(queue[n % 500]);
    }
    for (void* block : queue) free(block);
    for (size_t n = 0; n < 1000000; ++n) {
      void* block = malloc(bytes);
      pair.visit(block);
      free(block);
    }
    const auto cell = [](const Coverage& seen) {
      static char text[3][32];
      static int next = 0;
      char* to = text[next++ % 3];
      snprintf(to, 32, "%d / %d", Coverage::reached(seen.sets), Coverage::reached(seen.lines));
      return to;
    };
    const char* fresh_cell = cell(fresh);
    const char* fifo_cell = cell(fifo);
    const char* pair_cell = cell(pair);
    printf("%8zu %14s %14s %14s %12.2f %12.2f\n", bytes, fresh_cell, fifo_cell, pair_cell, fresh.unevenness(), fifo.unevenness());
  }
}
