// A small suite as people have them: two algorithms over three sizes, by Google Benchmark.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace {

std::vector<uint32_t> numbers(size_t count) {
  std::vector<uint32_t> out(count);
  uint32_t state = 1;
  for (uint32_t& number : out) number = state = state * 1664525 + 1013904223;
  return out;
}

void Sort(benchmark::State& state) {
  const std::vector<uint32_t> given = numbers(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    std::vector<uint32_t> copy = given;
    std::sort(copy.begin(), copy.end());
    benchmark::DoNotOptimize(copy.data());
  }
}
BENCHMARK(Sort)->Arg(64)->Arg(1024)->Arg(16384);

void Tree(benchmark::State& state) {
  const std::vector<uint32_t> given = numbers(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    std::map<uint32_t, int> tree;
    for (const uint32_t number : given) ++tree[number];
    benchmark::DoNotOptimize(tree.size());
  }
}
BENCHMARK(Tree)->Arg(64)->Arg(1024)->Arg(16384);

}  // namespace

BENCHMARK_MAIN();
