// What stands before the unwinder's _Unwind_Find_FDE, with the real one as an argument.
#pragma once

namespace stab::code {

// As in libgcc's unwind-dw2-fde.h, part of its ABI.
struct EhBases {
  void* tbase;
  void* dbase;
  void* func;
};
using FindFde = const void* (*)(void*, EhBases*);

const void* find_moved_fde(FindFde real, void* pc, EhBases* bases);

// Whether the other files of this process find ours, too: an executable's link may hide it (--exclude-libs, a version
// script). libgcc_s then asks itself, which knows nothing of images; also one that comes later, by pthread_cancel.
bool is_before_libgcc();

// Whether the executable holds an unwinder with one of its own, which knows nothing of images: libgcc_eh.a's, linked for
// __register_frame.
bool is_replaced_by_program();

}  // namespace stab::code
