// The heap against a model that knows what must be true: which blocks are live, how large they are, and what
// was written into them. Random sequences of every allocation function, one seed a run.
#include <exception>
#include <random>

#include "in_process.h"
#include "model.h"
#include "runtime/heap/threads.h"

namespace stab::heap {
namespace {

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
  for (int step = 0; step < steps; ++step) {
    if (step % 5000 == 0) target = 1 + random() % 3000;  // grow and shrink in turns
    Model::expect(step % 3333 != 0 || my_heap->consistent(), "an inconsistent heap");
    const size_t bytes = draw_bytes(random);
    const uint64_t near = model.empty() ? 0 : model.near(random() % 65536);
    const unsigned action = random() % 100;
    if (model.empty() || (model.size() < target && action < 60)) {
      const unsigned how = random() % 10;
      if (how < 6) {
        model.add(stab_heap_malloc(bytes), bytes);
      } else if (how < 8) {
        unsigned char* block = static_cast<unsigned char*>(stab_heap_calloc(bytes, 1));
        Model::expect(std::all_of(block, block + bytes, [](unsigned char c) { return c == 0; }), "calloc's block is not zero");
        model.add(block, bytes);
      } else {
        const size_t alignment = size_t{16} << random() % 12;
        void* block = stab_heap_memalign(alignment, bytes);
        Model::expect(as_number(block) % alignment == 0, "a misaligned block");
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
      Model::expect(moved != nullptr, "no block");
      Model::check(as_number(moved), std::min(bytes, std::min<size_t>(had, 63)), had);
      model.add(moved, bytes);
    }
  }
  while (!model.empty()) stab_heap_free(model.take(0).first);
  Model::expect(my_heap->consistent(), "an inconsistent heap in the end");
}

class ModelTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, ModelTest, testing::Values("off", "base", "page", "shuffle"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(ModelTest, RandomCallsBehaveAsTheModelSays) {
  if (kSanitized && std::string(GetParam()) == "off") GTEST_SKIP() << "a sanitizer replaces libc's malloc";
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Outcome outcome = in_process(GetParam(), seed, [&] {
      EXPECT_NO_THROW(run_model(seed, 25000));
      return std::vector<uint64_t>{};
    });
    ASSERT_TRUE(outcome.ok()) << "seed " << seed << ": " << outcome.errors;
  }
}

}  // namespace
}  // namespace stab::heap
