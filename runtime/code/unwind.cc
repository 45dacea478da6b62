// Exceptions through moved code. The unwinder asks _Unwind_Find_FDE for the frame description of a pc; the
// linker knows only original functions. So ours, which stands before libgcc's (unwind_dynamic.cc,
// unwind_static.cc), maps a pc in a copy to the original one, asks the real function, and shifts the function's
// start that it returns by as much: the unwinder's rows and the LSDA's landing pads are relative to it, so they
// come out in the copy. Old images work like new ones: each carries the list of its functions.
//
// A library may hold a libgcc of its own, whose _Unwind_Find_FDE is nobody else's. It asks the loader for the file that a pc is
// in, and reads that file's table: for it an image is a file, too (moved_frames.h). Not all that find_executed knows has a row
// there: a thread that is interrupted in a prefix, a nop in front of a body, a word or a landing, for a few instructions, is at
// the stack's end for it.
#include "runtime/code/unwind.h"

#include "runtime/code/image.h"
#include "runtime/control.h"

namespace stab::code {

namespace {

// The slot of the ring that holds an address; 0: none does.
uint64_t slot_holding(uint64_t address) {
  const Control& control = stab::control();
  const uint64_t into_ring = address - control.ring_address;
  if (control.ring_address == 0 || into_ring >= control.ring_bytes) return 0;
  return control.ring_address + into_ring / control.slot_bytes * control.slot_bytes;
}

}  // namespace

const void* find_moved_fde(FindFde real, void* pc, EhBases* bases) {
  const uint64_t address = reinterpret_cast<uint64_t>(pc);
  const uint64_t slot_start = slot_holding(address);
  if (slot_start == 0) return real(pc, bases);

  ImageEntry entry;
  if (!find_executed(reinterpret_cast<const uint8_t*>(slot_start),
                     static_cast<uint32_t>(address - slot_start), entry))
    return nullptr;
  const uint64_t body = slot_start + entry.body;
  const uint64_t original = control().text_address + entry.start;
  // In the prefix nothing has happened yet: as at the function's first byte.
  const uint64_t moved_by = (address < body ? address : body) - original;
  const void* fde = real(reinterpret_cast<void*>(address - moved_by), bases);
  if (fde != nullptr) bases->func = reinterpret_cast<void*>(reinterpret_cast<uint64_t>(bases->func) + moved_by);
  return fde;
}

int find_moved_object(FindObject real, void* pc, dl_find_object* result) {
  if (real == nullptr) return -1;
  const uint64_t slot_start = slot_holding(reinterpret_cast<uint64_t>(pc));
  if (slot_start == 0) return real(pc, result);
  const uint8_t* const frames = frames_of(reinterpret_cast<const uint8_t*>(slot_start));
  // All else is as of the file that this function is in.
  if (frames == nullptr || real(reinterpret_cast<void*>(&find_moved_object), result) != 0) return -1;
  result->dlfo_map_start = reinterpret_cast<void*>(slot_start);
  result->dlfo_map_end = reinterpret_cast<void*>(slot_start + control().slot_bytes);
  result->dlfo_eh_frame = const_cast<uint8_t*>(frames);
  return 0;
}

}  // namespace stab::code
