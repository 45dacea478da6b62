// What stands before the unwinder's _Unwind_Find_FDE and the loader's _dl_find_object, with the real ones as arguments.
#pragma once

#include <dlfcn.h>

#include "runtime/helper/handshake_messages.h"

namespace stab::code {

// As in libgcc's unwind-dw2-fde.h, part of its ABI.
struct EhBases {
  void* tbase;
  void* dbase;
  void* func;
};
using FindFde = const void* (*)(void*, EhBases*);

const void* find_moved_fde(FindFde real, void* pc, EhBases* bases);

using FindObject = int (*)(void*, dl_find_object*);

// For a pc in an image, the image as if it were a file with a table of its frames. nullptr: there is no real one, or it finds
// nothing.
int find_moved_object(FindObject real, void* pc, dl_find_object* result);

// So that an unwinder that looks for _dl_find_object in libc finds ours. False: it doesn't.
bool lead_libc_to_ours();

// Who unwinds in this process, and whether images can be told to all of them.
// pre: before main
helper::Unwinder find_unwinder();

}  // namespace stab::code
