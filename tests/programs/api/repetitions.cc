// Google Benchmark where each repetition sees layouts of its own: what is measured is the code, not one placement
// of it. Run it with --benchmark_repetitions=N; --without leaves the layouts to time, as a benchmark does that knows
// nothing of Stab. Prints the number of layouts that the repetitions saw, as counter `layouts`.
//
//   szc++ -O2 repetitions.cc -lbenchmark -o repetitions
//   STAB_CODE=shuffle STAB_STACK=on STAB_HEAP=page ./repetitions --benchmark_repetitions=20
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <stab/stab.h>

namespace {

bool new_layouts = true;

__attribute__((noinline)) uint64_t step(uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ x << 17;
}

__attribute__((noinline)) void fill(std::vector<uint64_t>& values) {
  uint64_t x = 88172645463325252u;
  for (uint64_t& value : values) value = x = step(x);
}

// Called once a repetition, outside the timed loop.
void sort_numbers(benchmark::State& state) {
  if (new_layouts) stab_new_layout();
  const uint64_t first = stab_epoch();
  std::vector<uint64_t> values(4096);
  for (auto _ : state) {
    fill(values);
    std::sort(values.begin(), values.end());
    benchmark::DoNotOptimize(values.data());
  }
  state.counters["layouts"] = static_cast<double>(stab_epoch() - first + 1);
  state.counters["first"] = static_cast<double>(first);
}
BENCHMARK(sort_numbers)->Iterations(50);

}  // namespace

int main(int argc, char** argv) {
  const auto without = std::find_if(argv, argv + argc, [](const char* word) { return !strcmp(word, "--without"); });
  if (without != argv + argc) {
    new_layouts = false;
    std::copy(without + 1, argv + argc, without);
    --argc;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
