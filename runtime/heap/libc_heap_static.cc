// In a static executable libc's functions are what --wrap renamed. The references bring libc.a's malloc.o in,
// and with it __libc_malloc. They are not weak: a link without --wrap must fail, for it would leave us uncalled.
#include "runtime/heap/libc_heap.h"

extern "C" {
size_t __real_malloc_usable_size(void* address);
int __real_malloc_trim(size_t pad);
}

namespace stab::heap {

size_t libc_usable_size(void* address) { return __real_malloc_usable_size(address); }

int libc_trim(size_t pad) { return __real_malloc_trim(pad); }

}  // namespace stab::heap
