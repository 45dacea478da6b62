// In a dynamic executable dlsym(RTLD_NEXT) finds libc's definitions behind ours. Some programs ask for the size of each
// object, so that is looked up once. libc_heap_static.cc is the counterpart for static ones.
#include "runtime/heap/libc_heap.h"

#include <dlfcn.h>

#include "runtime/libc_names.h"

namespace stab::heap {

constinit Behind behind{__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign, __libc_free};

size_t libc_usable_size(void* address) {
  if (address == nullptr) return 0;
  using UsableSize = size_t (*)(void*);
  static UsableSize known = nullptr;
  UsableSize found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<UsableSize>(libc::find_symbol(RTLD_NEXT, "malloc_usable_size"));
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return found == nullptr ? 0 : found(address);
}

int libc_trim(size_t pad) {
  auto found = reinterpret_cast<int (*)(size_t)>(libc::find_symbol(RTLD_NEXT, "malloc_trim"));
  return found == nullptr ? 0 : found(pad);
}

}  // namespace stab::heap
