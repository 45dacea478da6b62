// Exceptions through moved code. The unwinder asks _Unwind_Find_FDE for the frame description of a pc; the
// linker knows only original functions. So ours, which the executable exports ahead of libgcc_s's, maps a pc in a
// copy to the original one, asks the real function, and shifts the function's start that it returns by as much:
// the unwinder's rows and the LSDA's landing pads are relative to it, so they come out in the copy. Old images
// work like new ones: each carries the list of its functions.
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "runtime/code/image.h"
#include "runtime/control.h"

namespace {

// As in libgcc's unwind-dw2-fde.h, part of its ABI.
struct EhBases {
  void* tbase;
  void* dbase;
  void* func;
};
using FindFde = const void* (*)(void*, EhBases*);

// libgcc_s may have been loaded by dlopen (pthread_cancel, backtrace), outside the scope of RTLD_NEXT: then it is
// our caller, and is asked for by its name.
FindFde find_real(void* caller) {
  if (void* next = dlsym(RTLD_NEXT, "_Unwind_Find_FDE")) return reinterpret_cast<FindFde>(next);
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<FindFde>(dlsym(library, "_Unwind_Find_FDE"));
}

FindFde real_find_fde;

}  // namespace

extern "C" __attribute__((visibility("default"))) const void* _Unwind_Find_FDE(void* pc, EhBases* bases) {
  FindFde real = __atomic_load_n(&real_find_fde, __ATOMIC_ACQUIRE);
  if (real == nullptr) {
    real = find_real(__builtin_return_address(0));
    if (real == nullptr) return nullptr;
    __atomic_store_n(&real_find_fde, real, __ATOMIC_RELEASE);
  }
  const stab::Control& control = stab::control();
  const uint64_t address = reinterpret_cast<uint64_t>(pc);
  const uint64_t into_ring = address - control.ring_address;
  if (control.ring_address == 0 || into_ring >= control.ring_bytes) return real(pc, bases);

  const uint64_t slot_start = control.ring_address + into_ring / control.slot_bytes * control.slot_bytes;
  stab::code::ImageEntry entry;
  if (!stab::code::find_original(reinterpret_cast<const uint8_t*>(slot_start),
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
