// libc's own heap, for `off`: the names glibc keeps for it besides malloc and friends.
//
// Weak, because a static executable has them only if it was linked as interpose_static.cc says.
#pragma once

#include <stddef.h>

extern "C" {
[[gnu::weak]] void* __libc_malloc(size_t bytes);
[[gnu::weak]] void* __libc_calloc(size_t count, size_t bytes);
[[gnu::weak]] void* __libc_realloc(void* old, size_t bytes);
[[gnu::weak]] void* __libc_memalign(size_t alignment, size_t bytes);
[[gnu::weak]] void __libc_free(void* freed);
}

namespace stab::heap {

// True in a static program that defines malloc: then "libc's heap" is the program's, here and above, and serves all
// calls. A dynamic program's malloc stands in front of ours and is no matter here.
bool program_has_malloc();

// malloc_usable_size and malloc_trim have no second name: looked up behind us in the link order.
size_t libc_usable_size(void* address);
int libc_trim(size_t pad);

// Whether libraries call our malloc, too. An executable's link may hide it; then one side frees what the other made.
bool libraries_find_ours();

}  // namespace stab::heap
