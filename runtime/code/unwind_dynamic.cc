// In a dynamic executable: it exports these definitions ahead of libgcc_s's and the loader's. Weak: a program linked with
// -static-libgcc that registers frames of generated code has libgcc_eh.a's, which is in one object with __register_frame, and
// stays unmoved.
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "runtime/code/dynamic_symbols.h"
#include "runtime/code/frame_tables.h"
#include "runtime/code/library_unwinders.h"
#include "runtime/code/linked_unwinders.h"
#include "runtime/code/unwind.h"
#include "runtime/libc_names.h"
#include "runtime/settings.h"

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
  if (void* next = stab::libc::find_symbol(RTLD_NEXT, "_Unwind_Find_FDE")) return reinterpret_cast<FindFde>(next);
  Dl_info theirs, ours;
  if (!stab::libc::find_file(caller, &theirs) || !stab::libc::find_file(reinterpret_cast<void*>(&_Unwind_Find_FDE), &ours) ||
      theirs.dli_fbase == ours.dli_fbase || theirs.dli_fname == nullptr)
    return stab::code::find_fde_in_tables;
  void* library = stab::libc::open_library(theirs.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* found = library == nullptr ? nullptr : stab::libc::find_symbol(library, "_Unwind_Find_FDE");
  return found == nullptr ? stab::code::find_fde_in_tables : reinterpret_cast<FindFde>(found);
}

FindFde real_find_fde;
stab::code::FindObject real_find_object;

bool is_in_our_file(const void* address) {
  Dl_info theirs, ours;
  return stab::libc::find_file(address, &theirs) && stab::libc::find_file(reinterpret_cast<void*>(&stab_own_find_fde), &ours) &&
         theirs.dli_fbase == ours.dli_fbase;
}

// Whether the executable holds an unwinder with one of its own, which knows nothing of images: libgcc_eh.a's, linked for
// __register_frame. libstabhost.so gets libgcc_s's in place of its own where weak names stand behind others.
bool is_replaced_by_program() {
  const void* (*volatile linked)(void*, EhBases*) = _Unwind_Find_FDE;
  return linked != stab_own_find_fde && (!stab::has_dynamic_weak() || is_in_our_file(reinterpret_cast<void*>(linked)));
}

// Whether the other files of this process find ours, too: an executable's link may hide it (--exclude-libs, a version
// script). libgcc_s then asks itself, which knows nothing of images; also one that comes later, by pthread_cancel.
bool is_before_libgcc() {
  void* const found = stab::libc::find_symbol(RTLD_DEFAULT, "_Unwind_Find_FDE");
  if (found != nullptr) return found == reinterpret_cast<void*>(&stab_own_find_fde);
  stab::libc::clear_error();  // the program's next one is not to tell of this
  // No libgcc_s yet. Other compilers' links of C programs export what libraries refer to, so malloc only.
  void* const ours = reinterpret_cast<void*>(&malloc);
  if (stab::has_dynamic_weak() && !is_in_our_file(ours)) return false;
  return stab::libc::find_symbol(RTLD_DEFAULT, "malloc") == ours;
}

}  // namespace

stab::helper::Unwinder stab::code::find_unwinder() {
  using helper::Unwinder;
  if (const Unwinder linked = linked_unwinder(); linked != Unwinder::kFollows) return linked;
  if (is_replaced_by_program()) return Unwinder::kReplaced;
  if (!is_before_libgcc()) return has_dynamic_weak() ? Unwinder::kDynamicWeak : Unwinder::kNamesHidden;
  return libraries_bring_unwinder() ? Unwinder::kOther : Unwinder::kFollows;
}

namespace {

// Found at the first question, which may come before main. libc's table may have been led to ours meanwhile.
stab::code::FindObject loaders_find_object() {
  stab::code::FindObject real = __atomic_load_n(&real_find_object, __ATOMIC_ACQUIRE);
  if (real != nullptr) return real;
  real = reinterpret_cast<stab::code::FindObject>(stab::libc::find_symbol(RTLD_NEXT, "_dl_find_object"));
  if (real == _dl_find_object) return __atomic_load_n(&real_find_object, __ATOMIC_ACQUIRE);
  __atomic_store_n(&real_find_object, real, __ATOMIC_RELEASE);
  return real;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int _dl_find_object(void* pc, dl_find_object* result) noexcept {
  return stab::code::find_moved_object(loaders_find_object(), pc, result);
}

// libc has it, or the loader.
bool stab::code::lead_libc_to_ours() {
  if (loaders_find_object() == nullptr) return false;
  bool is_led = false;
  for (const link_map* file = _r_debug.r_map; file != nullptr; file = file->l_next) {
    const DynamicSymbols symbols(file->l_ld, file->l_addr);
    if (file->l_addr != _r_debug.r_ldbase && !symbols.has_soname("libc.so.6")) continue;
    is_led |= symbols.lead("_dl_find_object", reinterpret_cast<uint64_t>(&_dl_find_object));
  }
  return is_led;
}

extern "C" const void* _Unwind_Find_FDE(void* pc, EhBases* bases) {
  FindFde real = __atomic_load_n(&real_find_fde, __ATOMIC_ACQUIRE);
  if (real == nullptr) {
    real = find_real(__builtin_return_address(0));
    __atomic_store_n(&real_find_fde, real, __ATOMIC_RELEASE);
  }
  return stab::code::find_moved_fde(real, pc, bases);
}
