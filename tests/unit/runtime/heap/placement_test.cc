// Where objects lie: what each mode randomizes, what it leaves alone, and that a seed replays it.
#include <sys/resource.h>

#include <array>
#include <numeric>
#include <set>

#include "in_process.h"
#include "runtime/control.h"
#include "runtime/heap/heap_api.h"
#include "runtime/heap/size_classes.h"

namespace stab::heap {
namespace {

constexpr uint64_t kPoolMask = (uint64_t{4} << 20) - 1;  // bits that don't depend on where the kernel maps

// Addresses of a fixed sequence of calls with frees among them, within their pools.
std::vector<uint64_t> mixed_calls() {
  std::vector<uint64_t> seen;
  std::vector<void*> live;
  uint32_t state = 12345;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525 + 1013904223;
    if (live.size() > 500 && (state >> 8) % 2 == 0) {
      std::swap(live[(state >> 12) % live.size()], live.back());
      stab_heap_free(live.back());
      live.pop_back();
      continue;
    }
    live.push_back(stab_heap_malloc((state >> 16) % 3000));
    seen.push_back(as_number(live.back()) & kPoolMask);
  }
  return seen;
}

double same_share(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  size_t same = 0;
  for (size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return static_cast<double>(same) / static_cast<double>(a.size());
}

TEST(Placement, ASeedReplaysAndSeedsDiffer) {
  for (const char* mode : {"page", "shuffle"}) {
    const Outcome first = in_process(mode, 5, mixed_calls);
    const Outcome again = in_process(mode, 5, mixed_calls);
    const Outcome other = in_process(mode, 6, mixed_calls);
    ASSERT_TRUE(first.ok() && first.numbers.size() > 10000) << first.errors;
    EXPECT_EQ(first.numbers, again.numbers) << mode;
    EXPECT_LT(same_share(first.numbers, other.numbers), 0.01) << mode;
  }
}

TEST(Placement, BaseDoesNotDependOnTheSeed) {
  EXPECT_EQ(in_process("base", 5, mixed_calls).numbers, in_process("base", 6, mixed_calls).numbers);
}

// Lines, pages and runs of first objects are spread evenly over seeds: chi-square, 0.1 % limits.
TEST(Placement, FirstObjectsAreUniformOverSeeds) {
  constexpr int kSeeds = 960;
  std::array<int, 16> run{}, page{};
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Outcome outcome = in_process("page", static_cast<uint64_t>(seed) * 7919 + 1, [] {
      return std::vector<uint64_t>{as_number(stab_heap_malloc(64))};
    });
    ASSERT_EQ(outcome.numbers.size(), 1u) << outcome.errors;
    ++run[outcome.numbers[0] >> 16 & 15];
    ++page[outcome.numbers[0] >> 12 & 15];
  }
  for (const auto& counts : {run, page}) {
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - kSeeds / 16.0) * (count - kSeeds / 16.0) / (kSeeds / 16.0);
    EXPECT_LT(chi_square, 37.7);  // 15 degrees of freedom
  }
}

// The probe of the end-to-end runs: one object allocated and freed in each epoch.
TEST(Placement, EachEpochHasAPlaceOfItsOwn) {
  constexpr uint64_t kEpochs = 100;
  for (const size_t bytes : {16, 64, 256, 1000, 4000, 16000}) {
    const auto probe = [&] {
      std::vector<void*> neighbours;  // live objects of the class, as programs have them
      for (int i = 0; i < 20; ++i) neighbours.push_back(stab_heap_malloc(bytes));
      std::set<uint64_t> places;
      for (uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
        control().epoch = epoch;
        void* block = stab_heap_malloc(bytes);
        places.insert(as_number(block));
        stab_heap_free(block);
      }
      return std::vector<uint64_t>{places.size()};
    };
    for (const char* mode : {"page", "shuffle"}) {
      const Outcome outcome = in_process(mode, 3, probe);
      ASSERT_TRUE(outcome.ok()) << outcome.errors;
      EXPECT_GE(outcome.numbers[0], kEpochs * 9 / 10) << mode << ' ' << bytes;
    }
  }
}

// A program of few live objects moves through a pool with its epochs. Once it has been everywhere it faults no more pages in.
TEST(Placement, EpochsComeBackToPagesThatAreThere) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  const Outcome outcome = in_process("page", 3, [] {
    const auto faults_in = [](int epochs) {
      rusage before{}, after{};
      getrusage(RUSAGE_SELF, &before);
      for (int i = 0; i < epochs; ++i) {
        ++control().epoch;
        for (size_t bytes = 16; bytes <= 16384; bytes += bytes / 4)
          stab_heap_free(memset(stab_heap_malloc(bytes), 1, bytes));
      }
      getrusage(RUSAGE_SELF, &after);
      return static_cast<uint64_t>(after.ru_minflt - before.ru_minflt);
    };
    faults_in(1000);
    return std::vector<uint64_t>{faults_in(200)};
  });
  ASSERT_TRUE(outcome.ok()) << outcome.errors;
  EXPECT_LT(outcome.numbers[0], 200u);
}

TEST(Placement, WithoutRandomizationAPairStaysWhereItIs) {
  const Outcome outcome = in_process("base", 3, [] {
    std::set<uint64_t> places;
    for (uint64_t epoch = 1; epoch <= 100; ++epoch) {
      control().epoch = epoch;
      void* block = stab_heap_malloc(4000);
      places.insert(as_number(block));
      stab_heap_free(block);
    }
    return std::vector<uint64_t>{places.size()};
  });
  EXPECT_EQ(outcome.numbers, std::vector<uint64_t>{1});
}

// Without a helper nothing advances the epoch; allocations do.
TEST(Placement, APairOf1000BytesSpreadsOver32LinesWithoutEpochs) {
  const Outcome outcome = in_process("page", 3, [] {
    std::set<uint64_t> lines;
    for (int i = 0; i < 1000000; ++i) {
      void* block = stab_heap_malloc(1000);
      lines.insert(as_number(block) / 64 % 4096);
      stab_heap_free(block);
    }
    return std::vector<uint64_t>{lines.size()};
  });
  ASSERT_TRUE(outcome.ok());
  EXPECT_GE(outcome.numbers[0], 32u);
}

// L1 sets and lines of 256 KiB that heads of one class fall in, live and fresh.
TEST(Placement, FreshHeadsOf256BytesReachTheCache) {
  const Outcome outcome = in_process("page", 11, [] {
    std::set<uint64_t> sets, lines;
    for (int i = 0; i < 20000; ++i) {
      const uint64_t line = as_number(stab_heap_malloc(256)) / 64;
      if (i < 240) sets.insert(line % 64);
      lines.insert(line % 4096);
    }
    return std::vector<uint64_t>{sets.size(), lines.size()};
  });
  ASSERT_TRUE(outcome.ok());
  EXPECT_GE(outcome.numbers[0], 60u);
  EXPECT_GE(outcome.numbers[1], 3900u);
}

// `page` keeps neighbours together, `shuffle` doesn't.
TEST(Placement, OnlyShuffleBreaksTheOrderWithinAPage) {
  const auto neighbours_in_a_row = [] {
    uint64_t next = 0;
    uint64_t before = 0;
    for (int i = 0; i < 10000; ++i) {
      const uint64_t at = as_number(stab_heap_malloc(64));
      next += at == before + 64 || at + 64 == before;
      before = at;
    }
    return std::vector<uint64_t>{next};
  };
  EXPECT_GT(in_process("page", 2, neighbours_in_a_row).numbers.at(0), 9000u);
  EXPECT_LT(in_process("shuffle", 2, neighbours_in_a_row).numbers.at(0), 300u);
}

TEST(Placement, LargeObjectsStartAtManyLinesOfTheirPages) {
  const auto lines = [] {
    std::vector<uint64_t> seen;
    for (int i = 0; i < 200; ++i) seen.push_back(as_number(stab_heap_malloc(100000)) % 4096 / 64);
    return seen;
  };
  const auto different = [](std::vector<uint64_t> seen) { return std::set<uint64_t>(seen.begin(), seen.end()).size(); };
  const std::vector<uint64_t> page = in_process("page", 2, lines).numbers;
  EXPECT_GE(different(page), 55u);
  EXPECT_NE(page, in_process("page", 3, lines).numbers);
  const std::vector<uint64_t> base = in_process("base", 2, lines).numbers;
  EXPECT_EQ(different(base), 64u);
  EXPECT_EQ(base, in_process("base", 3, lines).numbers);
  ASSERT_EQ(base.size(), 200u);
  for (size_t i = 1; i < base.size(); ++i) EXPECT_EQ((base[i] - base[i - 1]) % 64, 9u);
}

TEST(Placement, AForkedChildDrawsAnewAndRepeatably) {
  const auto parent_and_child = [] {
    std::vector<uint64_t> seen;
    stab_heap_free(stab_heap_malloc(64));
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    for (int i = 0; i < 400; ++i) seen.push_back(as_number(stab_heap_malloc(1000)) & kPoolMask);
    if (child == 0) {
      EXPECT_EQ(write(ends[1], seen.data(), seen.size() * 8), static_cast<ssize_t>(seen.size() * 8));
      _exit(0);
    }
    std::vector<uint64_t> theirs(seen.size());
    EXPECT_EQ(read(ends[0], theirs.data(), theirs.size() * 8), static_cast<ssize_t>(theirs.size() * 8));
    waitpid(child, nullptr, 0);
    seen.insert(seen.end(), theirs.begin(), theirs.end());
    return seen;
  };
  const Outcome outcome = in_process("page", 9, parent_and_child);
  ASSERT_EQ(outcome.numbers.size(), 800u) << outcome.errors;
  EXPECT_EQ(outcome.numbers, in_process("page", 9, parent_and_child).numbers);
  const std::vector<uint64_t> ours(outcome.numbers.begin(), outcome.numbers.begin() + 400);
  const std::vector<uint64_t> theirs(outcome.numbers.begin() + 400, outcome.numbers.end());
  EXPECT_LT(same_share(ours, theirs), 0.3);
}

}  // namespace
}  // namespace stab::heap
