// Feeds the heap sequences of calls made from bytes, and holds what it does against the model of
// tests/unit/runtime/heap/model.h. Three bytes a call: what, and two of size or choice. STAB_HEAP in the
// environment chooses another level than `page`.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "runtime/control.h"
#include "runtime/heap/heap_api.h"
#include "runtime/heap/threads.h"
#include "tests/unit/runtime/heap/model.h"

namespace {

using stab::heap::Model;

// Sizes of all classes and of some large objects, small ones more often.
size_t size_of(unsigned draw) { return draw < 0xc000 ? draw % 600 : draw < 0xf800 ? draw % 18000 : (draw % 2048) * 300; }

void call(Model& model, unsigned what, unsigned draw) {
  const size_t bytes = size_of(draw);
  switch (what % 8) {
    case 0:
    case 1:
      return model.add(stab_heap_malloc(bytes), bytes);
    case 2: {
      char* block = static_cast<char*>(stab_heap_calloc(bytes, 1));
      Model::expect(block != nullptr && std::all_of(block, block + bytes, [](char c) { return c == 0; }),
                    "calloc's block is not zero");
      return model.add(block, bytes);
    }
    case 3: {
      const size_t alignment = size_t{16} << (what / 8) % 12;
      void* block = stab_heap_memalign(alignment, bytes);
      Model::expect(reinterpret_cast<uint64_t>(block) % alignment == 0, "a misaligned block");
      return model.add(block, bytes);
    }
    case 4:
    case 5:
      if (!model.empty()) stab_heap_free(model.take(model.near(draw)).first);
      return;
    case 6: {
      if (model.empty()) return;
      const auto [old, had] = model.take(model.near(draw));
      const size_t wanted = std::max<size_t>(size_of(draw * 40503u & 0xffff), 1);
      void* moved = stab_heap_realloc(old, wanted);
      Model::expect(moved != nullptr, "no block");
      Model::check(reinterpret_cast<uint64_t>(moved), std::min({wanted, had, size_t{63}}), had);
      return model.add(moved, wanted);
    }
    default:
      if (what % 64 == 7) stab::control().epoch += 1;
      if (what % 64 == 15) stab_heap_malloc_trim(0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  setenv("STAB_HEAP", "page", 0);
  setenv("STAB_SEED", "1", 0);
  Model model;
  for (; size >= 3; data += 3, size -= 3) call(model, data[0], data[1] | data[2] << 8);
  Model::expect(stab::heap::my_heap->consistent(), "an inconsistent heap");
  while (!model.empty()) stab_heap_free(model.take(0).first);
  Model::expect(stab::heap::my_heap->consistent(), "an inconsistent heap in the end");
  return 0;
}
