// In a static executable the functions behind ours are what --wrap renamed: the program's own where it defines malloc,
// libc's otherwise. __real_malloc is not weak: it brings libc.a's malloc.o in, and with it __libc_malloc; and a link
// without --wrap must fail, for it would leave us uncalled. A program that defines malloc gets no malloc.o, as without
// us: two definitions would not link. Then the weak __libc_malloc and so on below count, and lead to the program's.
#include "runtime/heap/libc_heap.h"

#include <errno.h>

extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* old, size_t bytes);
void __real_free(void* freed);

// Libc needs the four above, so a program that defines one defines them all; these it may leave out.
[[gnu::weak]] void* __real_memalign(size_t alignment, size_t bytes);
[[gnu::weak]] void* __real_aligned_alloc(size_t alignment, size_t bytes);
[[gnu::weak]] int __real_posix_memalign(void** out, size_t alignment, size_t bytes);
[[gnu::weak]] size_t __real_malloc_usable_size(void* address);
[[gnu::weak]] int __real_malloc_trim(size_t pad);
// To lld a weak __real_x takes x from an archive, unless there is a weak x, too.
[[gnu::weak]] void* memalign(size_t alignment, size_t bytes);
[[gnu::weak]] void* aligned_alloc(size_t alignment, size_t bytes);
[[gnu::weak]] int posix_memalign(void** out, size_t alignment, size_t bytes);
[[gnu::weak]] size_t malloc_usable_size(void* address);
[[gnu::weak]] int malloc_trim(size_t pad);
[[gnu::used]] static const void* const weak_names[] = {
    reinterpret_cast<void*>(memalign), reinterpret_cast<void*>(aligned_alloc), reinterpret_cast<void*>(posix_memalign),
    reinterpret_cast<void*>(malloc_usable_size), reinterpret_cast<void*>(malloc_trim)};

[[gnu::weak]] void* __libc_malloc(size_t bytes) { return __real_malloc(bytes); }
[[gnu::weak]] void* __libc_calloc(size_t count, size_t bytes) { return __real_calloc(count, bytes); }
[[gnu::weak]] void* __libc_realloc(void* old, size_t bytes) { return __real_realloc(old, bytes); }
[[gnu::weak]] void __libc_free(void* freed) { __real_free(freed); }

// By whichever of its functions the program has: what they return its free() takes.
[[gnu::weak]] void* __libc_memalign(size_t alignment, size_t bytes) {
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  if (__real_memalign != nullptr) return __real_memalign(alignment, bytes);
  if (__real_aligned_alloc != nullptr) return __real_aligned_alloc(alignment, bytes);
  void* got = nullptr;
  const int error = __real_posix_memalign != nullptr ? __real_posix_memalign(&got, alignment, bytes) : ENOMEM;
  if (error == 0) return got;
  errno = error;
  return nullptr;
}
}  // extern "C"

namespace stab::heap {

constinit Behind behind{__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign, __libc_free};

bool library_has_malloc() { return false; }
void* library_operator(const char*) { return nullptr; }

// Read at run time: which __libc_malloc there is, the linker decides.
bool program_has_malloc() {
  void* (*volatile libc)(size_t) = __libc_malloc;
  void* (*volatile real)(size_t) = __real_malloc;
  return libc != real || program_wraps_malloc();
}

size_t libc_usable_size(void* address) {
  return __real_malloc_usable_size != nullptr ? __real_malloc_usable_size(address) : 0;
}

int libc_trim(size_t pad) { return __real_malloc_trim != nullptr ? __real_malloc_trim(pad) : 0; }

bool libraries_find_ours() { return true; }

bool is_passed_over() { return false; }

}  // namespace stab::heap
