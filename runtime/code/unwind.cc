// Exceptions through moved code. The unwinder asks _Unwind_Find_FDE for the frame description of a pc; the
// linker knows only original functions. So ours, which stands before libgcc's (unwind_dynamic.cc,
// unwind_static.cc), maps a pc in a copy to the original one, asks the real function, and shifts the function's
// start that it returns by as much: the unwinder's rows and the LSDA's landing pads are relative to it, so they
// come out in the copy. Old images work like new ones: each carries the list of its functions.
#include "runtime/code/unwind.h"

#include "runtime/code/image.h"
#include "runtime/control.h"

namespace stab::code {

const void* find_moved_fde(FindFde real, void* pc, EhBases* bases) {
  const Control& control = stab::control();
  const uint64_t address = reinterpret_cast<uint64_t>(pc);
  const uint64_t into_ring = address - control.ring_address;
  if (control.ring_address == 0 || into_ring >= control.ring_bytes) return real(pc, bases);

  const uint64_t slot_start = control.ring_address + into_ring / control.slot_bytes * control.slot_bytes;
  ImageEntry entry;
  if (!find_executed(reinterpret_cast<const uint8_t*>(slot_start),
                     static_cast<uint32_t>(address - slot_start), entry))
    return nullptr;
  const uint64_t body = slot_start + entry.body;
  const uint64_t original = control.text_address + entry.start;
  // In the prefix nothing has happened yet: as at the function's first byte.
  const uint64_t moved_by = (address < body ? address : body) - original;
  const void* fde = real(reinterpret_cast<void*>(address - moved_by), bases);
  if (fde != nullptr) bases->func = reinterpret_cast<void*>(reinterpret_cast<uint64_t>(bases->func) + moved_by);
  return fde;
}

}  // namespace stab::code
