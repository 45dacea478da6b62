// dlopen without RTLD_DEEPBIND, in dynamic executables. A library loaded so finds libc's malloc and free before ours, yet
// libc's own strdup and getline allocate for it from ours: its free() would end the program. PHP loads its extensions so.
// The price: where the library and the program define the same name, the library gets the program's.
#include <dlfcn.h>

#include "runtime/heap/threads.h"

namespace {

using Open = void*(const char* file, int mode);
Open* next_open;

Open* find_next() {
  Open* const found = reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "dlopen"));
  __atomic_store_n(&next_open, found, __ATOMIC_RELAXED);
  return found;
}

}  // namespace

// A jump to libc's: that looks at its return address, because the library that calls may bring a search path.
extern "C" [[gnu::weak, gnu::visibility("default")]] void* dlopen(const char* file, int mode) {
  Open* next = __atomic_load_n(&next_open, __ATOMIC_RELAXED);
  if (next == nullptr) next = find_next();
  if ((mode & RTLD_DEEPBIND) != 0 && stab::heap::decide() == stab::heap::State::kOurs) {
    mode &= ~RTLD_DEEPBIND;
    stab::degrade(stab::control(), stab::Degradation::kDeepBinding);
  }
  return next(file, mode);
}
