// What C and POSIX promise about allocation functions, in each mode.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "in_process.h"
#include "runtime/heap/heap_api.h"
#include "runtime/heap/size_classes.h"
#include "runtime/heap/threads.h"

namespace stab::heap {
namespace {

class Allocation : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (kSanitized && std::string(GetParam()) == "off") GTEST_SKIP() << "a sanitizer replaces libc's malloc";
  }
  void expect_ok(const std::function<void()>& body) {
    const Outcome outcome = in_process(GetParam(), 7, [&] {
      body();
      return std::vector<uint64_t>{};
    });
    EXPECT_TRUE(outcome.ok()) << outcome.errors;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, Allocation, testing::Values("off", "base", "page", "shuffle"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Allocation, BlocksAreDisjointAlignedAndAsLargeAsAskedFor) {
  expect_ok([] {
    std::vector<std::pair<char*, size_t>> blocks;
    for (size_t bytes = 0; bytes < 40000; bytes = bytes * 9 / 8 + 1)
      for (int i = 0; i < 40; ++i) {
        char* block = static_cast<char*>(stab_heap_malloc(bytes));
        ASSERT_NE(block, nullptr);
        ASSERT_EQ(as_number(block) % 16, 0u);
        ASSERT_GE(stab_heap_malloc_usable_size(block), bytes);
        memset(block, 1, bytes);
        blocks.emplace_back(block, std::max<size_t>(bytes, 1));
      }
    std::sort(blocks.begin(), blocks.end());
    for (size_t i = 1; i < blocks.size(); ++i) ASSERT_LE(blocks[i - 1].first + blocks[i - 1].second, blocks[i].first);
    for (auto& [block, bytes] : blocks) stab_heap_free(block);
  });
}

TEST_P(Allocation, CallocZeroesWhatWasUsedBefore) {
  expect_ok([] {
    for (int round = 0; round < 3; ++round)
      for (const size_t bytes : {1, 16, 100, 1000, 5000, 20000, 300000, 2000000}) {
        char* dirty = static_cast<char*>(stab_heap_malloc(bytes));
        memset(dirty, 0xff, bytes);
        stab_heap_free(dirty);
        char* zeroed = static_cast<char*>(stab_heap_calloc(bytes, 1));
        ASSERT_TRUE(std::all_of(zeroed, zeroed + bytes, [](char c) { return c == 0; })) << bytes;
        stab_heap_free(zeroed);
      }
  });
}

TEST_P(Allocation, ReallocKeepsContentsUpAndDown) {
  expect_ok([] {
    unsigned char* block = nullptr;
    size_t had = 0;
    for (const size_t bytes : {1, 20, 200, 100, 3000, 9000, 17000, 16000, 100000, 5000000, 3000000, 40000, 900, 10}) {
      block = static_cast<unsigned char*>(stab_heap_realloc(block, bytes));
      ASSERT_NE(block, nullptr);
      for (size_t i = 0; i < std::min(had, bytes); ++i) ASSERT_EQ(block[i], static_cast<unsigned char>(i * 7));
      for (size_t i = 0; i < bytes; ++i) block[i] = static_cast<unsigned char>(i * 7);
      had = bytes;
    }
    EXPECT_EQ(stab_heap_realloc(block, 0), nullptr);
  });
}

TEST_P(Allocation, OverAlignedBlocksAreAlignedAndFreeable) {
  expect_ok([] {
    std::vector<void*> blocks;
    for (size_t alignment = 8; alignment <= (size_t{4} << 20); alignment *= 2)
      for (const size_t bytes : {1, 64, 100, 1000, 4096, 10000, 70000}) {
        void* block = nullptr;
        ASSERT_EQ(stab_heap_posix_memalign(&block, alignment, bytes), 0);
        ASSERT_EQ(as_number(block) % alignment, 0u);
        ASSERT_GE(stab_heap_malloc_usable_size(block), bytes);
        memset(block, 3, bytes);
        blocks.push_back(block);
        blocks.push_back(stab_heap_aligned_alloc(alignment, bytes));
        ASSERT_EQ(as_number(blocks.back()) % alignment, 0u);
      }
    blocks.push_back(stab_heap_valloc(10));
    blocks.push_back(stab_heap_pvalloc(5000));
    ASSERT_EQ(as_number(blocks.back()) % 4096, 0u);
    ASSERT_GE(stab_heap_malloc_usable_size(blocks.back()), 8192u);
    for (void* block : blocks) {
      void* moved = stab_heap_realloc(block, 30);
      ASSERT_NE(moved, nullptr);
      stab_heap_free(moved);
    }
  });
}

TEST_P(Allocation, ImpossibleRequestsFailWithEnomemAndChangeNothing) {
  expect_ok([] {
    // volatile: the compiler refuses to compile what it can see is too large.
    volatile size_t huge = SIZE_MAX;
    for (const size_t bytes :
         {size_t{SIZE_MAX}, size_t{SIZE_MAX - 4096}, size_t{1} << 63, (size_t{1} << 63) - 1, size_t{1} << 50}) {
      errno = 0;
      EXPECT_EQ(stab_heap_malloc(bytes), nullptr);
      EXPECT_EQ(errno, ENOMEM);
    }
    errno = 0;
    EXPECT_EQ(stab_heap_calloc(huge / 2, 4), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    char* block = static_cast<char*>(stab_heap_malloc(100));
    memset(block, 5, 100);
    EXPECT_EQ(stab_heap_realloc(block, huge - 100), nullptr);
    EXPECT_EQ(stab_heap_reallocarray(block, huge, 2), nullptr);
    EXPECT_EQ(block[99], 5);
    void* big = stab_heap_malloc(100000);
    EXPECT_EQ(stab_heap_realloc(big, huge / 2 - 5), nullptr);
    stab_heap_free(big);
    void* out = block;
    errno = 77;
    EXPECT_EQ(stab_heap_posix_memalign(&out, 64, huge - 64), ENOMEM);
    for (const size_t bytes : {size_t{8}, huge - 1, (size_t{1} << 63) + 5000}) {
      EXPECT_EQ(stab_heap_posix_memalign(&out, size_t{1} << 63, bytes), ENOMEM);
      EXPECT_EQ(stab_heap_posix_memalign(&out, size_t{1} << 62, bytes), ENOMEM);
    }
    EXPECT_EQ(stab_heap_posix_memalign(&out, 24, 8), EINVAL);
    EXPECT_EQ(stab_heap_posix_memalign(&out, 4, 8), EINVAL);
    EXPECT_EQ(stab_heap_posix_memalign(&out, 0, 8), EINVAL);
    EXPECT_EQ(out, block);
    EXPECT_EQ(errno, 77);
    EXPECT_EQ(stab_heap_pvalloc(huge), nullptr);
    stab_heap_free(block);
  });
}

// libc's own function says what the one of this version does.
TEST_P(Allocation, AlignedAllocTakesWhatLibcTakes) {
  expect_ok([] {
    for (volatile size_t alignment : {size_t{0}, size_t{3}, size_t{24}, size_t{48}, size_t{1} << 63, (size_t{1} << 63) + 1}) {
      errno = 0;
      void* const theirs = aligned_alloc(alignment, 8);
      const int their_error = errno;
      errno = 0;
      void* const ours = stab_heap_aligned_alloc(alignment, 8);
      EXPECT_EQ(ours == nullptr, theirs == nullptr) << alignment;
      EXPECT_EQ(errno, their_error) << alignment;
      free(theirs);
      stab_heap_free(ours);
    }
  });
}

TEST_P(Allocation, FreeKeepsErrno) {
  expect_ok([] {
    std::vector<void*> blocks;
    for (int i = 0; i < 3000; ++i) blocks.push_back(stab_heap_malloc(static_cast<size_t>(i) * 40));
    errno = 42;
    for (void* block : blocks) stab_heap_free(block);
    stab_heap_free(nullptr);
    stab_heap_malloc_trim(0);
    EXPECT_EQ(errno, 42);
  });
}

// Modes of ours only: glibc has its own words.
class OwnAllocation : public Allocation {};
INSTANTIATE_TEST_SUITE_P(Modes, OwnAllocation, testing::Values("base", "page", "shuffle"),
                         [](const auto& tested) { return std::string(tested.param); });

void expect_fault(const char* mode, const std::string& words, const std::function<void()>& body) {
  const Outcome outcome = in_process(mode, 1, [&] {
    body();
    return std::vector<uint64_t>{};
  });
  EXPECT_TRUE(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGABRT) << mode << ": " << words;
  EXPECT_NE(outcome.errors.find(words), std::string::npos) << mode << ": " << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
}

TEST_P(OwnAllocation, DamageEndsTheProgramWithOneLine) {
  static void* volatile keep;  // hides from the compiler what is wrong with these calls
  expect_fault(GetParam(), "was freed already", [] {
    keep = stab_heap_malloc(100);
    stab_heap_free(keep);
    stab_heap_free(keep);
  });
  expect_fault(GetParam(), "was freed already", [] {
    void* first = stab_heap_malloc(100);
    keep = first;
    void* second = stab_heap_malloc(100);
    stab_heap_free(keep);
    stab_heap_free(second);
    stab_heap_free(first);
  });
  expect_fault(GetParam(), "was freed already", [] {
    keep = stab_heap_malloc(100);
    stab_heap_free(keep);
    void* moved = stab_heap_realloc(keep, 5000);
    keep = moved;
  });
  expect_fault(GetParam(), "is inside a block, not its start", [] {
    keep = static_cast<char*>(stab_heap_malloc(100)) + 16;
    stab_heap_free(keep);
  });
  expect_fault(GetParam(), "was not allocated here", [] {
    static long variable;
    keep = &variable;
    stab_heap_free(keep);
  });
  expect_fault(GetParam(), "is a large block that was freed already", [] {
    keep = stab_heap_malloc(1000000);
    stab_heap_free(keep);
    stab_heap_free(keep);
  });
  expect_fault(GetParam(), "is inside a large block, not its start", [] {
    keep = static_cast<char*>(stab_heap_malloc(1000000)) + 64;
    stab_heap_free(keep);
  });
}

TEST_P(OwnAllocation, ASlotFreedElsewhereAndThenHereIsSeen) {
  expect_fault(GetParam(), "was freed already", [] {
    static void* block;
    block = stab_heap_malloc(200);
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* { return stab_heap_free(block), nullptr; }, nullptr);
    pthread_join(thread, nullptr);
    stab_heap_free(block);
  });
}

// Runs `body` in a thread that has a heap of its own, so that what it frees for others waits in its outbox.
void in_thread(const std::function<void()>& body) {
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void* given) -> void* {
    stab_heap_free(stab_heap_malloc(300));
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  }, const_cast<std::function<void()>*>(&body));
  pthread_join(thread, nullptr);
}

TEST_P(OwnAllocation, ASlotThatWaitsInAnOutboxIsFreedAlready) {
  static void* volatile block;
  expect_fault(GetParam(), "was freed already", [] {
    block = stab_heap_malloc(200);
    in_thread([] {
      stab_heap_free(block);
      stab_heap_free(block);
    });
  });
  expect_fault(GetParam(), "realloc", [] {
    block = stab_heap_malloc(200);
    in_thread([] {
      stab_heap_free(block);
      block = stab_heap_realloc(block, 190);
    });
  });
  // Another thread's waits, too: the one that arrives second is the one that is seen.
  expect_fault(GetParam(), "was freed already", [] {
    block = stab_heap_malloc(200);
    in_thread([] {
      stab_heap_free(block);
      in_thread([] { stab_heap_free(block); });
    });
  });
  // Its owner frees it while it waits.
  expect_fault(GetParam(), "was freed already", [] {
    static std::atomic<int> step;
    block = stab_heap_malloc(200);
    pthread_t owner_of_outbox;
    pthread_create(&owner_of_outbox, nullptr, [](void*) -> void* {
      stab_heap_free(stab_heap_malloc(200));
      stab_heap_free(block);
      for (step = 1; step == 1;) sched_yield();
      return nullptr;
    }, nullptr);
    while (step != 1) sched_yield();
    stab_heap_free(block);
    step = 2;
    pthread_join(owner_of_outbox, nullptr);
  });
}

// Whatever the freeing thread does next: trimming, taking a turn, a new epoch and at last its end tell the owner.
TEST_P(OwnAllocation, WhatWaitsInAnOutboxArrives) {
  for (const std::string how : {"nothing", "trim", "turn", "epoch"}) {
    if (how == "turn" && GetParam() == std::string("shuffle")) continue;  // its arrays serve pairs without turns
    expect_ok([how] {
      std::vector<void*> blocks;
      for (int i = 0; i < 6400; ++i) blocks.push_back(stab_heap_malloc(64));
      const auto waiting = [&] {
        return std::count_if(blocks.begin(), blocks.end(), [](void* block) {
          Spot spot;
          return locate(*shared.space.find(block), block, spot) && (spot.group->unavailable() & spot.bit()) == 0;
        });
      };
      in_thread([&] {
        for (void* block : blocks) stab_heap_free(block);
        if (how == "trim") stab_heap_malloc_trim(0);
        if (how == "epoch") control().epoch = 1;
        for (int i = 0; i < (how == "turn" ? 3 * 16384 : how == "epoch" ? 1 : 0); ++i) stab_heap_free(stab_heap_malloc(300));
        if (how == "nothing") {
          EXPECT_GT(waiting(), 0);
          EXPECT_LE(waiting(), 64 * Outbox::kParcels);
        } else {
          EXPECT_EQ(waiting(), 0) << how;
        }
      });
      EXPECT_EQ(waiting(), 0);
      my_heap->collect();
      EXPECT_TRUE(my_heap->consistent());
    });
  }
}

// Where thousands of threads have ended, a new run must not cost a look into each of their heaps.
TEST_P(OwnAllocation, ARunLooksIntoFewHeapsOfEndedThreads) {
  expect_ok([] {
    stab_heap_free(stab_heap_malloc(16));  // the first heap is this thread's
    constexpr int kRunsAtOnce = 12;        // what fills shuffle's array; the others take one
    constexpr int kThreads = 3 * kRunsAtOnce * kIdleHeapsToCollect;
    static void* blocks[kThreads];
    pthread_barrier_t barrier;
    ASSERT_EQ(pthread_barrier_init(&barrier, nullptr, kThreads), 0);  // all alive at once: each has a heap of its own
    struct Work {
      pthread_barrier_t* barrier;
      void** block;
    };
    std::vector<Work> work;
    for (void*& block : blocks) work.push_back({&barrier, &block});
    std::vector<pthread_t> threads(kThreads);
    for (int i = 0; i < kThreads; ++i)
      ASSERT_EQ(pthread_create(&threads[static_cast<size_t>(i)], nullptr, [](void* mine) -> void* {
        const Work& todo = *static_cast<Work*>(mine);
        *todo.block = stab_heap_malloc(64);
        pthread_barrier_wait(todo.barrier);
        return nullptr;
      }, &work[static_cast<size_t>(i)]), 0);
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    for (void* block : blocks) stab_heap_free(block);
    my_heap->send();
    const auto waiting = [&] {
      return static_cast<uint32_t>(std::count_if(std::begin(blocks), std::end(blocks), [](void* block) {
        Spot spot;
        const heap::Run& run = *shared.space.find(block);
        return run.group_count != 0 && locate(run, block, spot) && spot.group->remote.load() != 0;
      }));
    };
    EXPECT_EQ(waiting(), kThreads);
    for (uint32_t before = waiting(), runs = 0; before > 0; ++runs) {
      ASSERT_LE(runs, 100u);
      for (int i = 0; i < 3; ++i) ASSERT_NE(stab_heap_malloc(16400), nullptr);  // a run, or less
      EXPECT_GE(waiting() + kRunsAtOnce * kIdleHeapsToCollect, before);
      before = waiting();
    }
  });
}

TEST_P(OwnAllocation, TheDoseCountsCallsAndBytes) {
  expect_ok([] {
    size_t slots = 0;
    for (int i = 0; i < 1000; ++i) {
      void* block = stab_heap_malloc(200);
      slots += stab_heap_malloc_usable_size(block);
      if (i % 3 != 0) stab_heap_free(block);
    }
    EXPECT_GT(slots, 1000u * 200);
    for (int i = 0; i < 3; ++i) stab_heap_malloc(50000);
    my_heap->report();
    const HeapDose& dose = control().heap;
    EXPECT_EQ(dose.mallocs, 1003u);
    EXPECT_EQ(dose.bytes, slots + 3 * 50000);
    EXPECT_EQ(dose.mallocs_mmapped, 3u);
    EXPECT_EQ(dose.bytes_mmapped, 150000u);
    EXPECT_EQ(dose.largest_mmapped, 50000u);
    my_heap->report();
    EXPECT_EQ(dose.mallocs, 1003u);
  });
}

// With a helper the control block is shared by a whole family of processes.
TEST_P(OwnAllocation, TheDoseOfAForkedChildIsWhatTheChildDid) {
  expect_ok([] {
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    ASSERT_EQ(mmap(&control(), sizeof(ControlPages), PROT_READ | PROT_WRITE, flags, -1, 0), &control());
    for (int i = 0; i < 1000; ++i) stab_heap_free(stab_heap_malloc(256));
    static std::atomic<int> stage = 0;
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* {
      for (int i = 0; i < 500; ++i) stab_heap_free(stab_heap_malloc(64));
      for (stage = 1; stage == 1;) sched_yield();
      return nullptr;
    }, nullptr);
    while (stage == 0) sched_yield();
    for (int i = 0; i < 4; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (int k = 0; k < 10; ++k) stab_heap_free(stab_heap_malloc(256));
        exit(0);  // reports for all heaps
      }
      int status = 0;
      EXPECT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(control().heap.mallocs, 40u);
    stage = 2;
    pthread_join(thread, nullptr);
    my_heap->report();
    EXPECT_EQ(control().heap.mallocs, 1540u);
    EXPECT_EQ(control().heap.bytes, 1040u * 256 + 500 * 64);
  });
}

// Threads that are all alive at once, so that each has a heap of its own, and end.
void leave_idle_heaps(unsigned count) {
  std::vector<pthread_t> threads(count);
  pthread_barrier_t barrier;
  ASSERT_EQ(pthread_barrier_init(&barrier, nullptr, count), 0);
  for (pthread_t& thread : threads)
    ASSERT_EQ(pthread_create(&thread, nullptr, [](void* all) -> void* {
      stab_heap_free(stab_heap_malloc(64));
      pthread_barrier_wait(static_cast<pthread_barrier_t*>(all));
      return nullptr;
    }, &barrier), 0);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

// A fork copies no page for each thread that has been.
TEST_P(OwnAllocation, AForkedChildTouchesNoHeapsOfEndedThreads) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    constexpr unsigned kThreads = 400;
    leave_idle_heaps(kThreads);
    const pid_t child = fork();
    if (child == 0) {
      rusage used{};
      _exit(getrusage(RUSAGE_SELF, &used) == 0 && used.ru_minflt < kThreads / 2 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

TEST_P(OwnAllocation, TheDoseCountsTurns) {
  const uint64_t expected = GetParam() == std::string("page") ? 2 : 0;
  expect_ok([expected] {
    for (int i = 0; i < 40000; ++i) stab_heap_free(stab_heap_malloc(64));
    my_heap->report();
    EXPECT_EQ(control().heap.turns, expected);
    my_heap->report();
    EXPECT_EQ(control().heap.turns, expected);
  });
}

// An epoch in which nothing was allocated has placed nothing, and two threads in one epoch are one layout.
TEST_P(OwnAllocation, TheDoseCountsTheLayoutsThatWereUsed) {
  const uint64_t expected = GetParam() == std::string("base") ? 1 : 4;
  const auto use = [](void*) -> void* {
    for (int i = 0; i < 10; ++i) stab_heap_free(stab_heap_malloc(64));
    return nullptr;
  };
  const Outcome outcome = in_process(GetParam(), 1, [&] {
    use(nullptr);
    for (const uint64_t epoch : {1, 2, 3, 7}) {
      control().epoch = epoch;
      if (epoch == 3) continue;
      pthread_t thread;
      use(nullptr);
      pthread_create(&thread, nullptr, use, nullptr);
      pthread_join(thread, nullptr);
    }
    return std::vector<uint64_t>{control().heap.layouts};
  });
  ASSERT_TRUE(outcome.ok()) << outcome.errors;
  EXPECT_EQ(outcome.numbers, std::vector<uint64_t>{expected});
}

struct MemoryUse {
  long mapped_kb;
  long resident_kb;
};
MemoryUse memory_use() {
  long mapped = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  EXPECT_EQ(fscanf(file, "%ld %ld", &mapped, &resident), 2);
  fclose(file);
  return {mapped * 4, resident * 4};
}
long resident_kb() { return memory_use().resident_kb; }

// A day's work in short: the sizes that a program uses change again and again, its 30,000 live objects die in random
// order, and epochs pass. After two rounds through all sizes it has all the memory it will ever have.
TEST_P(OwnAllocation, ChurnDoesNotGrow) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    constexpr size_t kLive = 30000;
    std::vector<void*> live(kLive, nullptr);
    uint64_t state = 88172645463325252u;
    long after_two = 0, most = 0;
    for (int round = 0; round < 10; ++round) {
      for (size_t largest = 40; largest <= 1300; largest *= 2) {
        for (size_t i = 0; i < 3 * kLive; ++i) {
          state = state * 6364136223846793005u + 1442695040888963407u;
          void*& slot = live[(state >> 33) % kLive];
          stab_heap_free(slot);
          const size_t bytes = 16 + (state >> 20) % largest;
          slot = memset(stab_heap_malloc(bytes), 1, bytes);
          if (i % 4096 == 0) ++control().epoch;
        }
        if (round < 2) after_two = std::max(after_two, resident_kb());
        most = std::max(most, resident_kb());
      }
    }
    EXPECT_LT(most, after_two + after_two / 20) << "KiB resident after two rounds: " << after_two;
  });
}

TEST_P(OwnAllocation, MemoryGoesBackToTheSystem) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    const auto fill_and_free = [&](size_t bytes, size_t count) {
      std::vector<void*> blocks;
      for (size_t i = 0; i < count; ++i) blocks.push_back(memset(stab_heap_malloc(bytes), 1, bytes));
      const long full = resident_kb();
      for (void* block : blocks) stab_heap_free(block);
      return full;
    };
    const long before = resident_kb();
    EXPECT_GT(fill_and_free(100, 400000), before + 38000);
    EXPECT_LT(resident_kb(), before + 16000);
    EXPECT_GT(fill_and_free(2000000, 40), before + 70000);
    EXPECT_LT(resident_kb(), before + 50000);  // up to 32 MiB of large blocks are kept
    stab_heap_malloc_trim(0);
    EXPECT_LT(resident_kb(), before + 8000);
  });
}

// A thread builds a table and waits, another one takes it apart but for an object here and there.
TEST_P(OwnAllocation, WhatIsFreedForAThreadThatWaitsGoesBackToTheSystem) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  for (const bool by_trim : {true, false}) {
    expect_ok([by_trim] {
      static std::vector<void*> blocks(400000);
      static std::atomic<int> stage = 0;
      const auto build = [](void*) -> void* {
        for (int round = 0; round < 2; ++round) {
          while (stage < 2 * round) usleep(1000);
          for (void*& block : blocks) block = memset(stab_heap_malloc(100), round + 1, 100);
          EXPECT_TRUE(my_heap->consistent());
          stage = 2 * round + 1;
        }
        return nullptr;
      };
      void* const own = stab_heap_malloc(100);
      const long before = resident_kb();
      pthread_t builder;
      ASSERT_EQ(pthread_create(&builder, nullptr, build, nullptr), 0);
      while (stage < 1) usleep(1000);
      EXPECT_GT(resident_kb(), before + 38000);
      std::vector<char*> kept;
      for (size_t i = 0; i < blocks.size(); ++i) {
        if (i % 1000 == 0) kept.push_back(static_cast<char*>(blocks[i]));
        else stab_heap_free(blocks[i]);
      }
      if (by_trim) {
        stab_heap_malloc_trim(0);
      } else {
        for (int i = 0; i < 40000; ++i) stab_heap_malloc(100);  // 4 MB
      }
      EXPECT_LT(resident_kb(), before + 12000) << (by_trim ? "by trim" : "by the next runs");
      for (char* block : kept) {
        ASSERT_EQ(block[99], 1) << (by_trim ? "by trim" : "by the next runs");
        stab_heap_free(block);
      }
      stage = 2;
      ASSERT_EQ(pthread_join(builder, nullptr), 0);
      for (void* block : blocks) {
        ASSERT_EQ(static_cast<char*>(block)[99], 2);
        stab_heap_free(block);
      }
      stab_heap_free(own);
    });
  }
}

// A little smaller stays as it is, and serves the next growth; much smaller gives its pages back at once.
TEST_P(OwnAllocation, ShrinkingGivesTheRestBack) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    constexpr size_t kMiB = size_t{1} << 20;
    const long before = resident_kb();
    char* array = static_cast<char*>(memset(stab_heap_malloc(64 * kMiB), 3, 64 * kMiB));
    EXPECT_EQ(stab_heap_realloc(array, 63 * kMiB), array);
    EXPECT_GE(stab_heap_malloc_usable_size(array), 64 * kMiB);
    array = static_cast<char*>(stab_heap_realloc(array, 8 * kMiB));
    EXPECT_EQ(array[8 * kMiB - 1], 3);
    EXPECT_LT(stab_heap_malloc_usable_size(array), 9 * kMiB);
    EXPECT_LT(resident_kb(), before + 12000);
  });
}

// Of every run that a class had, shuffle's array may hold a slot.
TEST_P(OwnAllocation, TrimGivesBackWhatWasFreedInAnyOrder) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    std::vector<void*> blocks;
    blocks.reserve(1 << 20);
    const long before = resident_kb();
    for (size_t bytes = 48; bytes < 4000; bytes *= 2)
      for (size_t i = 0; i < (size_t{8} << 20) / bytes; ++i) blocks.push_back(memset(stab_heap_malloc(bytes), 1, bytes));
    EXPECT_GT(resident_kb(), before + 50000);
    uint64_t state = 88172645463325252u;
    for (size_t left = blocks.size(); left > 0; --left) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(blocks[(state >> 33) % left], blocks[left - 1]);
      stab_heap_free(blocks[left - 1]);
    }
    stab_heap_malloc_trim(0);
    EXPECT_LT(resident_kb(), before + 8000);
    EXPECT_TRUE(my_heap->consistent());
  });
}

TEST_P(OwnAllocation, ABoundedAddressSpaceIsEnough) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    rlimit limit{size_t{400} << 20, size_t{400} << 20};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    std::vector<void*> blocks;
    while (void* block = stab_heap_malloc(5000)) blocks.push_back(block);
    EXPECT_EQ(errno, ENOMEM);
    // At least half of the limit can be had, and it can be had twice.
    EXPECT_GT(blocks.size() * 5000, size_t{200} << 20);
    for (void* block : blocks) stab_heap_free(block);
    for (size_t i = 0; i < blocks.size() / 2; ++i) ASSERT_NE(stab_heap_malloc(5000), nullptr);
  });
}

// A limit of data is smaller than a pool: what is below it can be had.
TEST_P(OwnAllocation, ALimitOfDataIsUsedUp) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    ASSERT_EQ(fscanf(file, "%*d %*d %*d %*d %*d %ld", &pages), 1);
    fclose(file);
    const rlim_t most = static_cast<rlim_t>(pages) * 4096 + (size_t{4} << 20);
    const rlimit limit{most, most};
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
    size_t bytes = 0;
    for (char* block; (block = static_cast<char*>(stab_heap_malloc(1000))) != nullptr; bytes += 1000) block[0] = 1;
    EXPECT_GT(bytes, size_t{2} << 20);
    EXPECT_LT(bytes, size_t{4} << 20);
    const long mapped = memory_use().mapped_kb;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(stab_heap_malloc(1000), nullptr);
    EXPECT_EQ(memory_use().mapped_kb, mapped);
  });
}

// Address space goes from small objects to large ones and back, as often as a program wants.
TEST_P(OwnAllocation, ABoundedAddressSpaceServesSmallAndLargeInTurn) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    rlimit limit{size_t{400} << 20, size_t{400} << 20};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    for (int turn = 0; turn < 4; ++turn) {
      std::vector<void*> blocks;
      blocks.reserve(60000);
      for (int i = 0; i < 50000; ++i) {
        blocks.push_back(stab_heap_malloc(5000));
        ASSERT_NE(blocks.back(), nullptr) << turn;
      }
      for (void* block : blocks) stab_heap_free(block);
      void* large = stab_heap_malloc(size_t{250} << 20);
      ASSERT_NE(large, nullptr) << turn;
      // Grows to where a copy beside it would not fit.
      large = stab_heap_realloc(large, size_t{260} << 20);
      ASSERT_NE(large, nullptr) << turn;
      stab_heap_free(large);
    }
  });
}

// Nor does a shortage leave its mark: a program would soon have all the regions there may be, small ones.
TEST_P(OwnAllocation, AShortageOfAddressSpaceIsForgotten) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    rlimit limit{size_t{400} << 20, size_t{400} << 20};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    ASSERT_NE(stab_heap_malloc(5000), nullptr);
    // Others hold all but 14 MiB.
    std::vector<std::pair<void*, size_t>> held;
    held.reserve(64);
    for (size_t bytes = size_t{128} << 20; bytes >= size_t{1} << 20;) {
      void* got = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (got != MAP_FAILED) held.emplace_back(got, bytes);
      else bytes /= 2;
    }
    for (int left = 14; left > 0; held.pop_back()) {
      left -= static_cast<int>(held.back().second >> 20);
      munmap(held.back().first, held.back().second);
    }
    size_t in_shortage = 0;
    while (stab_heap_malloc(5000) != nullptr) ++in_shortage;
    EXPECT_GT(in_shortage * 5000, size_t{18} << 20);  // the first region and a smaller one
    for (auto [start, bytes] : held) munmap(start, bytes);
    // A region of the full size shows as one large step.
    long largest_step = 0;
    for (long before = memory_use().mapped_kb, i = 0; i < 5000; ++i) {
      ASSERT_NE(stab_heap_malloc(5000), nullptr);
      const long now = memory_use().mapped_kb;
      largest_step = std::max(largest_step, now - before);
      before = now;
    }
    EXPECT_GE(largest_step, 16 * 1024);
  });
}

// The kernel unmaps no part of a mapping from a process that has as many mappings as it may.
TEST_P(OwnAllocation, BlocksThatCannotBeUnmappedGiveTheirPagesBackAndAreUsedAgain) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory drowns what is measured";
  expect_ok([] {
    constexpr size_t kBlocks = 1000;
    constexpr size_t kBytes = 200000;
    constexpr size_t kMostMappings = size_t{1} << 20;
    const auto allocate = [](size_t i) {
      void* block = stab_heap_malloc(kBytes);
      return static_cast<char*>(block == nullptr ? nullptr : memset(block, static_cast<int>(i % 128), kBytes));
    };
    stab_heap_free(allocate(0));
    const long at_first = memory_use().mapped_kb;
    std::vector<char*> blocks;
    for (size_t i = 0; i < kBlocks; ++i) blocks.push_back(allocate(i));
    const long full = resident_kb();
    // Mappings until no more can be had.
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char* const filler = static_cast<char*>(mmap(nullptr, kMostMappings * 4096, PROT_NONE, flags, -1, 0));
    ASSERT_NE(filler, MAP_FAILED);
    size_t page = 1;
    while (page < kMostMappings && mprotect(filler + page * 4096, 4096, PROT_READ) == 0) page += 2;
    if (page >= kMostMappings) GTEST_SKIP() << "vm.max_map_count is too large";

    for (size_t i = 1; i < kBlocks; i += 2) stab_heap_free(blocks[i]);
    EXPECT_LT(resident_kb(), full - 60000);  // of 100 MB; 32 MiB are kept
    const long after_free = memory_use().mapped_kb;
    for (size_t i = 1; i < kBlocks; i += 2) ASSERT_NE(blocks[i] = allocate(i), nullptr);
    EXPECT_LT(memory_use().mapped_kb, after_free + 4000);
    ASSERT_NE(blocks[500] = static_cast<char*>(stab_heap_realloc(blocks[500], 4 * kBytes)), nullptr);
    ASSERT_NE(blocks[600] = static_cast<char*>(stab_heap_realloc(blocks[600], kBytes / 4)), nullptr);
    for (size_t i = 0; i < kBlocks; ++i) {
      const long bytes = i == 600 ? kBytes / 4 : kBytes;
      ASSERT_EQ(std::count(blocks[i], blocks[i] + bytes, static_cast<char>(i % 128)), bytes) << i;
    }
    for (size_t i = 1; i < kBlocks; i += 2) stab_heap_free(blocks[i]);
    for (size_t i = 0; i < kBlocks; i += 2) stab_heap_free(blocks[i]);
    munmap(filler, kMostMappings * 4096);
    stab_heap_malloc_trim(0);
    EXPECT_LT(memory_use().mapped_kb, at_first + 8000);
    EXPECT_LT(resident_kb(), full - 150000);
  });
}

volatile sig_atomic_t forks_in_handler;
volatile sig_atomic_t failed_children;
volatile sig_atomic_t in_child;

void fork_in_handler(int) {
  const pid_t child = fork();
  if (child == 0) {
    in_child = 1;
    alarm(20);
    return;  // to what was interrupted
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) failed_children = failed_children + 1;
  forks_in_handler = forks_in_handler + 1;
}

bool use_large_blocks() {
  char* large = static_cast<char*>(stab_heap_malloc(size_t{40} << 20));  // too large to be kept
  char* small = static_cast<char*>(stab_heap_malloc(size_t{1} << 20));
  if (large == nullptr || small == nullptr) return false;
  large[0] = small[0] = 1;
  large = static_cast<char*>(stab_heap_realloc(large, size_t{90} << 20));
  small = static_cast<char*>(stab_heap_realloc(small, size_t{3} << 20));
  const bool moved = large != nullptr && small != nullptr && large[0] == 1 && small[0] == 1;
  stab_heap_free(large);
  stab_heap_free(small);
  return moved;
}

// POSIX lets a signal handler fork, whatever it interrupted; parent and child go on with that.
TEST_P(Allocation, AHandlerMayForkInTheMiddleOfAnAllocation) {
  expect_ok([] {
    alarm(20);
    struct sigaction action {};
    action.sa_handler = fork_in_handler;
    ASSERT_EQ(sigaction(SIGPROF, &action, nullptr), 0);
    const itimerval often{{0, 1000}, {0, 1000}};
    ASSERT_EQ(setitimer(ITIMER_PROF, &often, nullptr), 0);
    while (forks_in_handler < 50 && in_child == 0) ASSERT_TRUE(use_large_blocks());
    if (in_child != 0) {
      bool good = true;
      for (int i = 0; i < 20; ++i) good = use_large_blocks() && good;
      for (int i = 0; i < 1000; ++i) stab_heap_free(stab_heap_malloc(static_cast<size_t>(i) * 20));
      // No lock is left held or counted: an ordinary fork takes them.
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(use_large_blocks() ? 0 : 1);
      int status = 0;
      _exit(good && waitpid(grandchild, &status, 0) == grandchild && status == 0 ? 0 : 1);
    }
    const itimerval never{};
    setitimer(ITIMER_PROF, &never, nullptr);
    EXPECT_EQ(failed_children, 0);
    EXPECT_TRUE(use_large_blocks());
    alarm(0);
  });
}

// Programs call exit in signal handlers, whatever they interrupt.
void exit_in_handler(int) { exit(0); }

TEST_P(OwnAllocation, AHandlerMayExitInTheMiddleOfAnAllocation) {
  expect_ok([] {
    leave_idle_heaps(16);  // into which a run looks, later
    for (int i = 0; i < 100; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        struct sigaction action {};
        action.sa_handler = exit_in_handler;
        sigaction(SIGPROF, &action, nullptr);
        const itimerval soon{{0, 0}, {0, 1000}};
        setitimer(ITIMER_PROF, &soon, nullptr);
        for (void* blocks[12];;) {
          for (void*& block : blocks) block = stab_heap_malloc(16000);
          for (void* block : blocks) stab_heap_free(block);
        }
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_EQ(status, 0) << i;
    }
  });
}

// What a growing array left behind serves the next one: few page faults, and the content comes along.
TEST(LargeObjects, ArraysThatGrowReuseTheMemoryOfOthers) {
  const auto faults_of_growth = [] {
    const auto grow = [] {
      size_t bytes = 40000;
      char* array = static_cast<char*>(stab_heap_malloc(bytes));
      memset(array, 7, bytes);
      while (bytes < 500000) {
        array = static_cast<char*>(stab_heap_realloc(array, 2 * bytes));
        for (size_t i = 0; i < bytes; ++i)
          if (array[i] != 7) return false;
        memset(array + bytes, 7, bytes);
        bytes *= 2;
      }
      stab_heap_free(array);
      return true;
    };
    bool kept = grow() && grow() && grow();
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 50; ++i) kept = grow() && kept;
    getrusage(RUSAGE_SELF, &after);
    return std::vector<uint64_t>{kept, static_cast<uint64_t>(after.ru_minflt - before.ru_minflt)};
  };
  const std::vector<uint64_t> seen = in_process("page", 2, faults_of_growth).numbers;
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], 1u);
  if (kSanitized) return;
  EXPECT_LT(seen[1], 2000u);  // 731; 7,864 where each array has fresh pages
}

}  // namespace
}  // namespace stab::heap
