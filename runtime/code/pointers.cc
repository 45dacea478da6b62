#include "runtime/code/pointers.h"

#include "runtime/arch/arch.h"

namespace stab::code {
namespace {

bool moves(const Metadata& code, uint32_t function) {
  return function < code.header->function_count && code.functions[function].immovable == abi::Immovable::kNo;
}

}  // namespace

bool read_pointers(const Metadata& code, const void* bytes, size_t size, Pointers& out) {
  if (size < sizeof(abi::PointerCounts)) return false;
  const auto* const counts = static_cast<const abi::PointerCounts*>(bytes);
  const uint64_t wanted = sizeof *counts + uint64_t{counts->slots} * sizeof(abi::PointerSlot) +
                          uint64_t{counts->fields} * sizeof(abi::PointerField);
  if (size != wanted) return false;
  Pointers read;
  read.slots = reinterpret_cast<const abi::PointerSlot*>(counts + 1);
  read.fields = reinterpret_cast<const abi::PointerField*>(read.slots + counts->slots);
  read.slot_count = counts->slots;
  read.field_count = counts->fields;
  for (uint32_t i = 0; i < read.slot_count; ++i) {
    if (!moves(code, read.slots[i].target)) return false;
    if (i > 0 && read.slots[i].address < read.slots[i - 1].address + sizeof(uint64_t)) return false;
  }
  for (uint32_t i = 0; i < read.field_count; ++i) {
    const abi::PointerField& field = read.fields[i];
    if (!moves(code, field.function) || !moves(code, field.target)) return false;
    if (uint64_t{field.at} + 4 > code.functions[field.function].bytes) return false;
  }
  out = read;
  return true;
}

// Its body, which is aligned as the original is; of one that is counted, the count before it.
uint32_t landing_of(const ImageScratch& scratch, uint32_t function) {
  return is_counted(scratch, function) ? scratch.entry[function] : scratch.body[function];
}

namespace {

// How far a field has to be shifted that leads to this function.
uint32_t shift_to(const Metadata& code, const ImagePlace& place, const ImageScratch& scratch, uint32_t target) {
  return static_cast<uint32_t>(place.slot + landing_of(scratch, target) - (place.text + code.functions[target].start));
}

}  // namespace

void lead_fields(const Metadata& code, const Pointers& pointers, const ImagePlace& place, const ImageScratch& scratch,
                 uint8_t* out) {
  for (uint32_t i = 0; i < pointers.field_count; ++i) {
    const abi::PointerField& field = pointers.fields[i];
    arch::shift_field(out + scratch.body[field.function] + field.at, shift_to(code, place, scratch, field.target));
  }
}

void lead_original_fields(const Metadata& code, const Pointers& pointers, const ImagePlace& place, const ImageScratch& scratch,
                          uint8_t* text) {
  for (uint32_t i = 0; i < pointers.field_count; ++i) {
    const abi::PointerField& field = pointers.fields[i];
    arch::shift_field(text + code.functions[field.function].start + field.at, shift_to(code, place, scratch, field.target));
  }
}

}  // namespace stab::code
