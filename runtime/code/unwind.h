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

}  // namespace stab::code
