// In a dynamic executable: it exports this definition ahead of libgcc_s's. Weak: a program linked with -static-libgcc that
// registers frames of generated code has libgcc_eh.a's, which is in one object with __register_frame, and stays unmoved.
#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/code/frame_tables.h"
#include "runtime/code/unwind.h"

extern "C" {
__attribute__((weak, visibility("default"))) const void* _Unwind_Find_FDE(void* pc, stab::code::EhBases* bases);
// Ours, by a name that nobody replaces. Only its address is used.
__attribute__((alias("_Unwind_Find_FDE"), visibility("hidden"))) const void* stab_own_find_fde(void*, stab::code::EhBases*);
}

namespace {

using stab::code::EhBases;
using stab::code::FindFde;

// libgcc_s may have been loaded by dlopen (pthread_cancel, backtrace), outside the scope of RTLD_NEXT: then it is
// our caller, and is asked for by its name. With -static-libgcc there may be none: our caller is the libgcc_eh.a in
// this executable, whose own definition was not linked because ours was there first.
FindFde find_real(void* caller) {
  if (void* next = dlsym(RTLD_NEXT, "_Unwind_Find_FDE")) return reinterpret_cast<FindFde>(next);
  Dl_info theirs, ours;
  if (dladdr(caller, &theirs) == 0 || dladdr(reinterpret_cast<void*>(&_Unwind_Find_FDE), &ours) == 0 ||
      theirs.dli_fbase == ours.dli_fbase || theirs.dli_fname == nullptr)
    return stab::code::find_fde_in_tables;
  void* library = dlopen(theirs.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* found = library == nullptr ? nullptr : dlsym(library, "_Unwind_Find_FDE");
  return found == nullptr ? stab::code::find_fde_in_tables : reinterpret_cast<FindFde>(found);
}

FindFde real_find_fde;

}  // namespace

bool stab::code::is_replaced_by_program() {
  const void* (*volatile linked)(void*, EhBases*) = _Unwind_Find_FDE;
  return linked != stab_own_find_fde;
}

bool stab::code::is_before_libgcc() {
  void* const found = dlsym(RTLD_DEFAULT, "_Unwind_Find_FDE");
  if (found != nullptr) return found == reinterpret_cast<void*>(&_Unwind_Find_FDE);
  dlerror();  // the program's next one is not to tell of this
  // No libgcc_s yet. Other compilers' links of C programs export what libraries refer to, so malloc only.
  return dlsym(RTLD_DEFAULT, "malloc") == reinterpret_cast<void*>(&malloc);
}

extern "C" const void* _Unwind_Find_FDE(void* pc, EhBases* bases) {
  FindFde real = __atomic_load_n(&real_find_fde, __ATOMIC_ACQUIRE);
  if (real == nullptr) {
    real = find_real(__builtin_return_address(0));
    __atomic_store_n(&real_find_fde, real, __ATOMIC_RELEASE);
  }
  return stab::code::find_moved_fde(real, pc, bases);
}
