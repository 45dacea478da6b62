// The allocation functions of C under their own names, for tests and for programs that keep libc's malloc.
// Behaviour is that of the functions without the prefix; interpose.cc gives them those names.
#pragma once

#include <stddef.h>

extern "C" {
void* stab_heap_malloc(size_t bytes);
void* stab_heap_calloc(size_t count, size_t bytes);
void* stab_heap_realloc(void* old, size_t bytes);
void* stab_heap_reallocarray(void* old, size_t count, size_t bytes);
void stab_heap_free(void* freed);
int stab_heap_posix_memalign(void** out, size_t alignment, size_t bytes);
void* stab_heap_aligned_alloc(size_t alignment, size_t bytes);
void* stab_heap_memalign(size_t alignment, size_t bytes);
void* stab_heap_valloc(size_t bytes);
void* stab_heap_pvalloc(size_t bytes);
size_t stab_heap_malloc_usable_size(void* address);
int stab_heap_malloc_trim(size_t pad);
}
