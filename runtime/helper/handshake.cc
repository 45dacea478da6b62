// Every number of a hello is bounded before anything is computed from it, so that no sum below can overflow.
#include "runtime/helper/handshake.h"

#include <string.h>

#include "runtime/arch/arch.h"
#include "runtime/control.h"
#include "runtime/round_up.h"

namespace stab::helper {
namespace {

using arch::kPage;
constexpr uint64_t kAddressEnd = uint64_t{1} << 47;  // of user space
// Images kept beside each other at most, in bytes: enough for 64 images of most programs and 4 of the largest.
constexpr uint64_t kRingBytes = 256u << 20;
constexpr uint32_t kFewestSlots = 4;

template <typename E, size_t N>
bool has_word(E value, const char* const (&)[N]) {
  return static_cast<size_t>(value) < N;
}

bool are_possible(const abi::Settings& settings, bool launched) {
  // A bool that is neither must not be read as one.
  uint8_t perf_map, long_loops, simulated;
  memcpy(&perf_map, &settings.perf_map, 1);
  memcpy(&long_loops, &settings.long_loops, 1);
  memcpy(&simulated, &settings.simulated, 1);
  return perf_map <= (launched ? 0 : 1) && long_loops <= 1 && simulated <= 1 && has_word(settings.code, abi::kCodeWords) &&
         has_word(settings.stack, abi::kStackWords) && has_word(settings.heap, abi::kHeapWords) &&
         abi::is_epoch(settings) && abi::is_stack_range(settings.stack_range_bytes);
}

// The pads' pages are those of the slots, no more and no fewer.
bool pads_fit(const Hello& hello) {
  if (hello.slot_count == 0) return hello.pads_address == 0 && hello.pads_bytes == 0;
  if (hello.slot_count > kMostPads || hello.slots_address >= kAddressEnd || hello.slots_address % sizeof(uint32_t) != 0)
    return false;
  const uint64_t end = hello.slots_address + uint64_t{hello.slot_count} * sizeof(uint32_t);
  const uint64_t first_page = hello.slots_address & ~(kPage - 1);
  return hello.pads_address == first_page && hello.pads_bytes == round_up(end, kPage) - first_page;
}

}  // namespace

bool is_page(uint64_t address) { return address % kPage == 0 && address < kAddressEnd; }

uint64_t most_slots(uint64_t slot_bytes) {
  const uint64_t slots = kRingBytes / slot_bytes;
  if (slots < kFewestSlots) return kFewestSlots;
  return slots > kMaxSlots ? kMaxSlots : slots;
}

bool read_hello(const void* bytes, size_t size, bool launched, Hello& out) {
  static_assert(__is_trivially_copyable(Hello));
  if (size != sizeof out) return false;
  memcpy(static_cast<void*>(&out), bytes, sizeof out);
  if (out.magic != kProtocolMagic || out.version != abi::kAbiVersion) return false;
  // A launched program doesn't say; in one from before there was such a setting the byte may be anything.
  if (launched) out.settings.long_loops = false;
  if (!are_possible(out.settings, launched)) return false;
  if (out.handed >> static_cast<uint32_t>(Handed::kCount) != 0 || out.pid <= 0 || out.nonce == 0) return false;
  if (out.text_relocations > 1 || out.may_load > 1 || out.of_host > kHostOfStacks || out.stacks_switch > 1)
    return false;
  if (out.unwinder >= static_cast<uint32_t>(Unwinder::kCount)) return false;
  out.degradations &= (uint64_t{1} << static_cast<unsigned>(Degradation::kCount)) - 1;
  return out.bias % kPage == 0 && is_page(out.control_address) && out.control_address != 0 && pads_fit(out);
}

bool make_plan(const Hello& hello, const Wanted& wanted, Plan& plan, uint64_t& slots_offset) {
  plan = Plan{};
  slots_offset = 0;
  if (wanted.code) {
    if (!is_page(wanted.text_start) || !is_page(hello.bias + wanted.text_start)) return false;
    plan.text_address = hello.bias + wanted.text_start;
    plan.text_bytes = wanted.text_bytes;
    plan.slot_bytes = wanted.slot_bytes;
    plan.slot_limit = most_slots(wanted.slot_bytes);
  }
  if (wanted.pads) {
    // Between the functions, where a linker merged constants into the text; else on pages of their own.
    const uint64_t text_end = plan.text_address + plan.text_bytes;
    const uint64_t slots_end = hello.slots_address + uint64_t{hello.slot_count} * sizeof(uint32_t);
    const bool in_text = hello.slots_address < text_end && slots_end > plan.text_address;
    if (in_text && (hello.slots_address < plan.text_address || slots_end > text_end)) return false;
    plan.pads_bytes = in_text ? 0 : hello.pads_bytes;
    slots_offset = in_text ? hello.slots_address - plan.text_address
                           : plan.text_bytes + (hello.slots_address - hello.pads_address);
  }
  plan.pads_offset = plan.text_bytes;
  plan.ring_offset = plan.text_bytes + plan.pads_bytes;
  return true;
}

bool is_possible(const Mapped& mapped, const Plan& plan) {
  if (mapped.magic != kProtocolMagic || mapped.control != 1) return false;
  if (mapped.text > 1 || mapped.pads > 1 || mapped.board > (plan.board_bytes > 0 ? 1 : 0)) return false;
  if (mapped.libraries > (plan.library_bytes > 0 ? 1 : 0)) return false;
  if (mapped.pads == 1 && plan.pads_bytes == 0) return false;
  if (mapped.text == 0) return true;
  return plan.text_bytes > 0 && mapped.slots >= 2 && mapped.slots <= plan.slot_limit && is_page(mapped.ring_address) &&
         mapped.ring_address != 0 && is_page(mapped.ring_address + mapped.slots * plan.slot_bytes);
}

}  // namespace stab::helper
