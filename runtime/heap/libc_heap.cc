// In a dynamic executable dlsym(RTLD_NEXT) finds libc's definitions behind ours. Some programs ask for the size of each
// object, so that is looked up once. libc_heap_static.cc is the counterpart for static ones.
#include "runtime/heap/libc_heap.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>

namespace stab::heap {

constinit Behind behind{__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign, __libc_free};

namespace {

// The start of the file that holds `address`; null: none.
void* file_of(void* address) {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

template <typename Function>
void set_to_next(Function& function, const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) function = reinterpret_cast<Function>(next);
}

}  // namespace

// Not told by __libc_malloc: jemalloc has that, too.
bool library_has_malloc() {
  void* const next = file_of(dlsym(RTLD_NEXT, "malloc"));
  void* const libc = file_of(dlsym(RTLD_NEXT, "gnu_get_libc_version"));
  if (next == nullptr || libc == nullptr || next == libc) return false;
  set_to_next(behind.malloc, "malloc");
  set_to_next(behind.calloc, "calloc");
  set_to_next(behind.realloc, "realloc");
  set_to_next(behind.memalign, "memalign");
  set_to_next(behind.free, "free");
  return file_of(&behind) == file_of(reinterpret_cast<void*>(getauxval(AT_ENTRY)));
}

bool program_has_malloc() { return false; }

size_t libc_usable_size(void* address) {
  if (address == nullptr) return 0;
  using UsableSize = size_t (*)(void*);
  static UsableSize known = nullptr;
  UsableSize found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<UsableSize>(dlsym(RTLD_NEXT, "malloc_usable_size"));
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return found == nullptr ? 0 : found(address);
}

int libc_trim(size_t pad) {
  auto found = reinterpret_cast<int (*)(size_t)>(dlsym(RTLD_NEXT, "malloc_trim"));
  return found == nullptr ? 0 : found(pad);
}

bool libraries_find_ours() { return dlsym(RTLD_DEFAULT, "malloc") == reinterpret_cast<void*>(&malloc); }

}  // namespace stab::heap
