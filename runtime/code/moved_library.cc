// An entry is read as it was at one moment, or not at all: whoever looks for an address that is in its images looks while the
// library is there, when nobody writes the entry.
#include "runtime/code/moved_library.h"

#include "runtime/code/image.h"
#include "runtime/control.h"

namespace stab::code {
namespace {

PlaceInImage place_in(uint64_t address, uint64_t ring_address, uint64_t ring_bytes, uint64_t slot_bytes, uint64_t text_address) {
  const uint64_t into_ring = address - ring_address;
  if (into_ring >= ring_bytes || slot_bytes == 0) return {};
  return {ring_address + into_ring / slot_bytes * slot_bytes, slot_bytes, text_address};
}

PlaceInImage place_in(const MovedLibrary& library, uint64_t address) {
  const uint32_t before = __atomic_load_n(&library.version, __ATOMIC_ACQUIRE);
  const auto load = [](const uint64_t& field) { return __atomic_load_n(&field, __ATOMIC_RELAXED); };
  const uint64_t ring_address = load(library.ring_address), ring_bytes = load(library.ring_bytes);
  const uint64_t slot_bytes = load(library.slot_bytes), text_address = load(library.text_address);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (before % 2 != 0 || __atomic_load_n(&library.version, __ATOMIC_RELAXED) != before) return {};
  return place_in(address, ring_address, ring_bytes, slot_bytes, text_address);
}

// `find`: as find_executed.
uint64_t original_by(bool (*find)(const uint8_t*, uint32_t, ImageEntry&), uint64_t address) {
  const PlaceInImage place = find_image(address);
  ImageEntry entry;
  if (place.slot_address == 0 || !find(reinterpret_cast<const uint8_t*>(place.slot_address),
                                       static_cast<uint32_t>(address - place.slot_address), entry))
    return address;
  const uint64_t body = place.slot_address + entry.body, start = place.text_address + entry.start;
  return address < body ? start : start + (address - body);
}

}  // namespace

PlaceInImage find_image(uint64_t address) {
  const Control& block = control();
  if (block.ring_address != 0) {
    const PlaceInImage place =
        place_in(address, block.ring_address, block.ring_bytes, block.slot_bytes, block.text_address);
    if (place.slot_address != 0) return place;
  }
  for (const MovedLibrary& library : block.libraries) {
    if (__atomic_load_n(&library.name, __ATOMIC_RELAXED) == 0) break;  // places are taken in order
    const PlaceInImage place = place_in(library, address);
    if (place.slot_address != 0) return place;
  }
  return {};
}

uint64_t original_of(uint64_t address) { return original_by(find_returned_to, address); }

uint64_t executed_original_of(uint64_t pc) { return original_by(find_executed, pc); }

}  // namespace stab::code
