// The heap against a model that knows what must be true: which blocks are live, how large they are, and what
// was written into them. Random sequences of every allocation function, one seed a run.
#include <map>
#include <random>

#include "in_process.h"
#include "runtime/heap/heap_api.h"
#include "runtime/heap/threads.h"

namespace stab::heap {
namespace {

// Live blocks by address. No two overlap; each holds its stamp at both ends.
class Model {
 public:
  void add(void* address, size_t bytes) {
    ASSERT_NE(address, nullptr);
    const uint64_t at = as_number(address);
    ASSERT_GE(stab_heap_malloc_usable_size(address), bytes);
    const auto above = blocks_.lower_bound(at);
    ASSERT_TRUE(above == blocks_.end() || at + bytes <= above->first) << std::hex << at << " " << bytes << " next " << above->first << " " << above->second;
    ASSERT_TRUE(above == blocks_.begin() || std::prev(above)->first + std::prev(above)->second <= at);
    blocks_[at] = bytes;
    stamp(at, bytes);
  }
  void check(uint64_t at, size_t bytes, size_t stamped) {
    const unsigned char* block = reinterpret_cast<const unsigned char*>(at);
    for (size_t i = 0; i < std::min<size_t>(bytes, 64); ++i) ASSERT_EQ(block[i], value(stamped, i));
    if (bytes != stamped) return;
    for (size_t i = bytes > 64 ? bytes - 64 : 0; i < bytes; ++i) ASSERT_EQ(block[i], value(stamped, i));
  }
  bool empty() const { return blocks_.empty(); }
  size_t size() const { return blocks_.size(); }
  std::pair<void*, size_t> take(uint64_t near) {
    auto at = blocks_.lower_bound(near);
    if (at == blocks_.end()) at = blocks_.begin();
    const std::pair<void*, size_t> taken{reinterpret_cast<void*>(at->first), at->second};
    check(at->first, at->second, at->second);
    blocks_.erase(at);
    return taken;
  }
  uint64_t lowest() const { return blocks_.begin()->first; }
  uint64_t highest() const { return blocks_.rbegin()->first; }

 private:
  static unsigned char value(size_t bytes, size_t i) { return static_cast<unsigned char>(bytes * 31 + i * 7); }
  static void stamp(uint64_t at, size_t bytes) {
    unsigned char* block = reinterpret_cast<unsigned char*>(at);
    for (size_t i = 0; i < std::min<size_t>(bytes, 64); ++i) block[i] = value(bytes, i);
    for (size_t i = bytes > 64 ? bytes - 64 : 0; i < bytes; ++i) block[i] = value(bytes, i);
  }
  std::map<uint64_t, size_t> blocks_;
};

size_t draw_bytes(std::mt19937_64& random) {
  const unsigned kind = random() % 100;
  if (kind < 70) return random() % 300;
  if (kind < 90) return random() % 5000;
  if (kind < 98) return random() % 40000;
  return random() % 600000;
}

void run_model(uint64_t seed, int steps) {
  std::mt19937_64 random(seed);
  Model model;
  size_t target = 200;
  for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
    if (step % 5000 == 0) target = 1 + random() % 3000;  // grow and shrink in turns
    ASSERT_TRUE(step % 3333 != 0 || my_heap->consistent());
    const size_t bytes = draw_bytes(random);
    const uint64_t near = model.empty() ? 0 : model.lowest() + random() % (model.highest() - model.lowest() + 1);
    const unsigned action = random() % 100;
    if (model.empty() || (model.size() < target && action < 60)) {
      const unsigned how = random() % 10;
      if (how < 6) {
        model.add(stab_heap_malloc(bytes), bytes);
      } else if (how < 8) {
        unsigned char* block = static_cast<unsigned char*>(stab_heap_calloc(bytes, 1));
        for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(block[i], 0);
        model.add(block, bytes);
      } else {
        const size_t alignment = size_t{16} << random() % 12;
        void* block = stab_heap_memalign(alignment, bytes);
        ASSERT_EQ(as_number(block) % alignment, 0u);
        model.add(block, bytes);
      }
    } else if (action < 85) {
      stab_heap_free(model.take(near).first);
    } else {
      const auto [old, had] = model.take(near);
      if (bytes == 0) {
        stab_heap_free(old);
        continue;
      }
      void* moved = stab_heap_realloc(old, bytes);
      ASSERT_NE(moved, nullptr);
      model.check(as_number(moved), std::min(bytes, std::min<size_t>(had, 64)), had);
      model.add(moved, bytes);
    }
  }
  while (!model.empty()) stab_heap_free(model.take(0).first);
  EXPECT_TRUE(my_heap->consistent());
}

class ModelTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, ModelTest, testing::Values("off", "base", "page", "shuffle"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(ModelTest, RandomCallsBehaveAsTheModelSays) {
  if (kSanitized && std::string(GetParam()) == "off") GTEST_SKIP() << "a sanitizer replaces libc's malloc";
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Outcome outcome = in_process(GetParam(), seed, [&] {
      run_model(seed, 25000);
      return std::vector<uint64_t>{};
    });
    ASSERT_TRUE(outcome.ok()) << "seed " << seed << ": " << outcome.errors;
  }
}

}  // namespace
}  // namespace stab::heap
