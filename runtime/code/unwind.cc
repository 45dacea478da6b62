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
#include "runtime/code/moved_library.h"

namespace stab::code {

const void* find_moved_fde(FindFde real, void* pc, EhBases* bases) {
  const uint64_t address = reinterpret_cast<uint64_t>(pc);
  const PlaceInImage place = find_image(address);
  if (place.slot_address == 0) return real(pc, bases);

  ImageEntry entry;
  if (!find_executed(reinterpret_cast<const uint8_t*>(place.slot_address),
                     static_cast<uint32_t>(address - place.slot_address), entry))
    return nullptr;
  const uint64_t body = place.slot_address + entry.body;
  const uint64_t original = place.text_address + entry.start;
  // In the prefix nothing has happened yet: as at the function's first byte.
  const uint64_t moved_by = (address < body ? address : body) - original;
  const void* fde = real(reinterpret_cast<void*>(address - moved_by), bases);
  if (fde != nullptr) bases->func = reinterpret_cast<void*>(reinterpret_cast<uint64_t>(bases->func) + moved_by);
  return fde;
}

int find_moved_object(FindObject real, void* pc, dl_find_object* result) {
  if (real == nullptr) return -1;
  const PlaceInImage place = find_image(reinterpret_cast<uint64_t>(pc));
  if (place.slot_address == 0) return real(pc, result);
  const uint8_t* const frames = frames_of(reinterpret_cast<const uint8_t*>(place.slot_address));
  // All else is as of the file that the function is in. The loader knows of its segments' bytes only, not of whole pages.
  const uint64_t original = executed_original_of(reinterpret_cast<uint64_t>(pc));
  if (frames == nullptr || real(reinterpret_cast<void*>(original), result) != 0) return -1;
  result->dlfo_map_start = reinterpret_cast<void*>(place.slot_address);
  result->dlfo_map_end = reinterpret_cast<void*>(place.slot_address + place.slot_bytes);
  result->dlfo_eh_frame = const_cast<uint8_t*>(frames);
  return 0;
}

}  // namespace stab::code
