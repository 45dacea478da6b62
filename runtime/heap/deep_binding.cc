// dlopen and dlmopen, in dynamic executables: what is loaded must get along with a heap and with code of ours.
//
// With RTLD_DEEPBIND a library would find libc's malloc and free before ours, where the heap is ours (libc_table.h). PHP loads
// its extensions so. Where libc's table can't be changed, the library is loaded without the flag, and gets the program's
// definition of a name that both have.
//
// Where code moves, what came is looked at for an unwinder (code/library_unwinders.h). libc looks at the return address of the
// call, because the library that calls may bring a search path or a $ORIGIN. So a call from a library that needs its caller is
// handed on by a jump, and what it loads is looked at with the next load.
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "runtime/code/library_unwinders.h"
#include "runtime/heap/libc_table.h"
#include "runtime/heap/threads.h"
#include "runtime/libc_names.h"
#include "runtime/mapping.h"

extern "C" {
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));
extern const char _end[] __attribute__((weak, visibility("hidden")));
}

namespace stab {
namespace {

using code::Load;
using LoadApart = void*(Lmid_t space, const char* file, int mode);
Load* next_open;
LoadApart* next_open_apart;

template <typename Function>
Function* find_next(Function*& cached, const char* name) {
  Function* found = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (found != nullptr) return found;
  found = reinterpret_cast<Function*>(libc::find_symbol(RTLD_NEXT, name));
  __atomic_store_n(&cached, found, __ATOMIC_RELAXED);
  return found;
}

// Whoever is in an image of the executable is of it, too; libc takes that for nobody's, and nobody for the executable. Of a
// library those functions stay that load others (post-link's asks-caller).
bool is_ours(const void* caller) {
  const auto address = reinterpret_cast<uint64_t>(caller);
  const Control& control = stab::control();
  return address - control.ring_address < control.ring_bytes || (caller >= &__ehdr_start && caller < _end);
}

// The mode that a library is loaded with where this one is asked for.
int mode_for(int mode) {
  if ((mode & RTLD_DEEPBIND) == 0 || heap::decide() != heap::State::kOurs || heap::lead_libc_to_ours()) return mode;
  degrade(control(), Degradation::kDeepBinding);
  return mode & ~RTLD_DEEPBIND;
}

// Whether code moves, or may from this load on.
bool may_move() { return has_images() || has_library_memory(); }

bool needs_caller(const char* file) {
  return file != nullptr && (strchr(file, '/') == nullptr || strchr(file, '$') != nullptr);
}

}  // namespace
}  // namespace stab

extern "C" [[gnu::weak, gnu::visibility("default")]] void* dlopen(const char* file, int mode) {
  stab::code::Load* const next = stab::find_next(stab::next_open, "dlopen");
  mode = stab::mode_for(mode);
  if (!stab::may_move() || (stab::needs_caller(file) && !stab::is_ours(__builtin_return_address(0)))) return next(file, mode);
  stab::code::before_load(next, mode);
  void* const handle = next(file, mode);
  if (handle != nullptr) stab::code::after_load(mode);
  return handle;
}

extern "C" [[gnu::weak, gnu::visibility("default")]] void* dlmopen(Lmid_t space, const char* file, int mode) {
  stab::LoadApart* const next = stab::find_next(stab::next_open_apart, "dlmopen");
  if (space == LM_ID_BASE) mode = stab::mode_for(mode);
  const bool is_asked_for_it = stab::needs_caller(file) && !stab::is_ours(__builtin_return_address(0));
  if (!stab::may_move() || is_asked_for_it) return next(space, file, mode);
  const bool is_apart = space != LM_ID_BASE;
  if (!is_apart) stab::code::before_load(stab::find_next(stab::next_open, "dlopen"), mode);
  void* const handle = next(space, file, mode);
  if (handle == nullptr) return handle;
  if (is_apart) stab::code::after_load_apart(handle);
  else stab::code::after_load(mode);
  return handle;
}
