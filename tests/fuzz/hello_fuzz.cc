// Feeds bytes as what a program says to its helper: a Hello, a Mapped, and how much text there is. Whatever is believed
// must make a plan whose parts lie in its memory and don't overlap.
#include <cstdint>
#include <cstring>
#include <iterator>

#include "runtime/control.h"
#include "runtime/helper/handshake.h"

namespace {

using namespace stab::helper;

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

struct Sizes {
  uint32_t text_pages, slot_pages, text_start_page, wanted;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Hello hello;
  Mapped mapped;
  Sizes sizes;
  if (size < sizeof hello + sizeof mapped + sizeof sizes) {
    expect(size == sizeof hello || !read_hello(data, size, true, hello));
    return 0;
  }
  memcpy(&mapped, data + sizeof hello, sizeof mapped);
  memcpy(&sizes, data + sizeof hello + sizeof mapped, sizeof sizes);
  const bool launched = (sizes.wanted & 4) != 0;
  if (!read_hello(data, sizeof hello, launched, hello)) return 0;
  expect(!(launched && hello.settings.perf_map));
  using namespace stab::abi;
  expect(static_cast<size_t>(hello.settings.code) < std::size(kCodeWords) &&
         static_cast<size_t>(hello.settings.stack) < std::size(kStackWords) &&
         static_cast<size_t>(hello.settings.heap) < std::size(kHeapWords));

  // As session.cc bounds them: text below 2 GiB, slots below 1 GiB.
  const Wanted wanted{(sizes.wanted & 1) != 0, (sizes.wanted & 2) != 0 && hello.slot_count > 0,
                      uint64_t{sizes.text_start_page} * 4096, uint64_t{sizes.text_pages % (1u << 19) + 1} * 4096,
                      uint64_t{sizes.slot_pages % (1u << 18) + 1} * 4096};
  Plan plan;
  uint64_t slots_offset = 0;
  if (!make_plan(hello, wanted, plan, slots_offset)) return 0;
  expect(plan.text_bytes == (wanted.code ? wanted.text_bytes : 0));
  expect(plan.pads_offset == plan.text_bytes && plan.ring_offset == plan.text_bytes + plan.pads_bytes);
  expect(plan.ring_offset < uint64_t{1} << 32);
  if (wanted.pads) {
    expect(slots_offset % 4 == 0 && slots_offset + hello.slot_count * uint64_t{4} <= plan.ring_offset);
    expect(plan.pads_bytes == 0 || slots_offset >= plan.pads_offset);
  }
  if (wanted.code) expect(plan.slot_limit >= 4 && plan.slot_limit <= stab::kMaxSlots && plan.slot_bytes == wanted.slot_bytes);
  if (!is_possible(mapped, plan)) return 0;
  expect(mapped.text == 0 || (wanted.code && mapped.slots >= 2 && mapped.slots <= plan.slot_limit));
  expect(mapped.pads == 0 || plan.pads_bytes > 0);
  return 0;
}
