// What a helper believes: each field of a hello and of Mapped is broken once, and what remains makes a plan whose parts
// don't overlap.
#include "runtime/helper/handshake.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iterator>

#include "runtime/control.h"

namespace stab::helper {
namespace {

constexpr uint64_t kPage = 4096;

Hello good_hello() {
  Hello hello;
  hello.pid = 4711;
  hello.nonce = 1;
  hello.bias = 0x555555554000;
  hello.slots_address = 0x555555600010;
  hello.slot_count = 1200;
  hello.pads_address = 0x555555600000;
  hello.pads_bytes = 2 * kPage;
  hello.control_address = 0x555555700000;
  return hello;
}

bool is_believed(const Hello& hello, bool launched = true) {
  Hello out;
  return read_hello(&hello, sizeof hello, launched, out);
}

bool is_believed_when(const std::function<void(Hello&)>& change) {
  Hello hello = good_hello();
  change(hello);
  return is_believed(hello);
}

TEST(Handshake, BelievesAHello) {
  EXPECT_TRUE(is_believed(good_hello()));
  EXPECT_TRUE(is_believed_when([](Hello& h) { h.bias = 0; }));
  EXPECT_TRUE(is_believed_when([](Hello& h) { h.slot_count = 0, h.pads_address = 0, h.pads_bytes = 0; }));
  Hello with_map = good_hello();
  with_map.settings.perf_map = true;
  EXPECT_TRUE(is_believed(with_map, false));
  EXPECT_FALSE(is_believed(with_map, true)) << "our launcher asks for none";
}

TEST(Handshake, BelievesNoBrokenHello) {
  const std::function<void(Hello&)> changes[] = {
      [](Hello& h) { ++h.magic; },
      [](Hello& h) { ++h.version; },
      [](Hello& h) { h.handed = 1u << static_cast<uint32_t>(Handed::kCount); },
      [](Hello& h) { h.settings.code = static_cast<abi::CodeMode>(std::size(abi::kCodeWords)); },
      [](Hello& h) { h.settings.stack = static_cast<abi::StackMode>(4); },
      [](Hello& h) { h.settings.heap = static_cast<abi::HeapMode>(200); },
      [](Hello& h) { h.settings.epoch_ns = abi::kMinEpochNs - 1; },
      [](Hello& h) { h.settings.epoch_ns = abi::kMaxEpochNs + 1; },
      [](Hello& h) { h.settings.epoch_visits = 1; },  // and a time
      [](Hello& h) { h.settings.epoch_ns = 0, h.settings.epoch_visits = abi::kMaxEpochVisits + 1; },
      [](Hello& h) { std::memset(static_cast<void*>(&h.settings.simulated), 2, 1); },
      [](Hello& h) { h.settings.stack_range_bytes = 0; },
      [](Hello& h) { h.settings.stack_range_bytes = 8192; },
      [](Hello& h) { std::memset(&h.settings.perf_map, 2, 1); },
      [](Hello& h) { h.pid = 0; },
      [](Hello& h) { h.pid = -5; },
      [](Hello& h) { h.text_relocations = 2; },
      [](Hello& h) { h.nonce = 0; },
      [](Hello& h) { h.bias += 8; },
      [](Hello& h) { h.unwinder = static_cast<uint32_t>(Unwinder::kCount); },
      [](Hello& h) { h.control_address = 0; },
      [](Hello& h) { h.control_address += 8; },
      [](Hello& h) { h.control_address = uint64_t{1} << 47; },
      [](Hello& h) { h.slots_address += 2; },
      [](Hello& h) { h.slots_address -= kPage; },
      [](Hello& h) { h.slots_address = uint64_t(0) - 16; },
      [](Hello& h) { h.slots_address = uint64_t(0) - 16, h.pads_address = uint64_t(0) - kPage; },
      [](Hello& h) { h.slot_count = 0; },
      [](Hello& h) { h.slot_count += 2000; },
      [](Hello& h) { h.slot_count = ~0u; },
      [](Hello& h) { h.slot_count = kMostPads + 1, h.pads_bytes = kMostPads * uint64_t{4} + kPage; },
      [](Hello& h) { h.pads_address += kPage; },
      [](Hello& h) { h.may_load = 2; },
      [](Hello& h) { h.of_host = kHostOfStacks + 1; },
      [](Hello& h) { h.pads_bytes = 0; },
      [](Hello& h) { h.pads_bytes += kPage; },
      [](Hello& h) { h.pads_bytes = uint64_t{1} << 40; },
  };
  size_t number = 0;
  for (const auto& change : changes) EXPECT_FALSE(is_believed_when(change)) << "change " << number++;
  Hello out;
  const Hello hello = good_hello();
  EXPECT_FALSE(read_hello(&hello, sizeof hello - 1, true, out));
}

TEST(Handshake, ForgetsDegradationsThatThereAreNot) {
  Hello hello = good_hello(), out;
  hello.degradations = ~uint64_t{0};
  ASSERT_TRUE(read_hello(&hello, sizeof hello, true, out));
  EXPECT_EQ(out.degradations, (uint64_t{1} << static_cast<unsigned>(Degradation::kCount)) - 1);
}

Wanted code_and_pads() { return {true, true, 0x1000, 16 * kPage, 32 * kPage}; }

TEST(Handshake, PlansPartsBehindEachOther) {
  Plan plan;
  uint64_t slots_offset = 0;
  ASSERT_TRUE(make_plan(good_hello(), code_and_pads(), plan, slots_offset));
  EXPECT_EQ(plan.text_address, 0x555555555000u);
  EXPECT_EQ(plan.pads_offset, 16 * kPage);
  EXPECT_EQ(plan.pads_bytes, 2 * kPage);
  EXPECT_EQ(slots_offset, 16 * kPage + 16);
  EXPECT_EQ(plan.ring_offset, 18 * kPage);
  EXPECT_EQ(plan.slot_limit, kMaxSlots);

  Wanted large = code_and_pads();
  large.slot_bytes = uint64_t{1} << 29;
  ASSERT_TRUE(make_plan(good_hello(), large, plan, slots_offset));
  EXPECT_EQ(plan.slot_limit, 4u);
}

// A linker may merge the slots into the text: all of them, or it is no text of ours.
TEST(Handshake, PlansPadsInTheText) {
  Hello hello = good_hello();
  hello.slots_address = hello.pads_address = 0x555555555000 + 14 * kPage;
  hello.slot_count = 2048;
  Plan plan;
  uint64_t slots_offset = 0;
  ASSERT_TRUE(make_plan(hello, code_and_pads(), plan, slots_offset));
  EXPECT_EQ(plan.pads_bytes, 0u);
  EXPECT_EQ(slots_offset, 14 * kPage);
  EXPECT_EQ(plan.ring_offset, 16 * kPage);
  hello.slot_count = 2049;
  hello.pads_bytes = 3 * kPage;
  EXPECT_FALSE(make_plan(hello, code_and_pads(), plan, slots_offset)) << "past its end";
  hello.slots_address = hello.pads_address = 0x555555555000 - kPage;
  EXPECT_FALSE(make_plan(hello, code_and_pads(), plan, slots_offset)) << "before its start";
}

TEST(Handshake, BelievesOnlyWhatThePlanAllows) {
  Plan plan;
  uint64_t slots_offset = 0;
  ASSERT_TRUE(make_plan(good_hello(), code_and_pads(), plan, slots_offset));
  Mapped good;
  good.text = good.pads = good.control = 1;
  good.slots = kMaxSlots;
  good.ring_address = 0x555540000000;
  EXPECT_TRUE(is_possible(good, plan));
  good.libraries = 1;
  EXPECT_FALSE(is_possible(good, plan)) << "memory that was not planned";
  plan.library_bytes = 1 << 20;
  EXPECT_TRUE(is_possible(good, plan));
  const std::function<void(Mapped&)> changes[] = {
      [](Mapped& m) { ++m.magic; },
      [](Mapped& m) { m.control = 0; },
      [](Mapped& m) { m.control = 2; },
      [](Mapped& m) { m.text = 2; },
      [](Mapped& m) { m.pads = 7; },
      [](Mapped& m) { m.slots = kMaxSlots + 1; },
      [](Mapped& m) { m.slots = 1; },
      [](Mapped& m) { m.slots = ~0u; },
      [](Mapped& m) { m.ring_address = 0; },
      [](Mapped& m) { m.ring_address += 1; },
      [](Mapped& m) { m.ring_address = uint64_t(0) - kPage; },
  };
  size_t number = 0;
  for (const auto& change : changes) {
    Mapped mapped = good;
    change(mapped);
    EXPECT_FALSE(is_possible(mapped, plan)) << "change " << number++;
  }
  EXPECT_FALSE(is_possible(good, Plan{})) << "no code and no pads were planned";
  Mapped nothing;
  nothing.control = 1;
  nothing.slots = 1;  // the last number that was tried
  EXPECT_TRUE(is_possible(nothing, plan));
}

}  // namespace
}  // namespace stab::helper
