// In a dynamic executable: it exports this definition ahead of libgcc_s's.
#include <dlfcn.h>

#include "runtime/code/unwind.h"

namespace {

using stab::code::EhBases;
using stab::code::FindFde;

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
  return stab::code::find_moved_fde(real, pc, bases);
}
