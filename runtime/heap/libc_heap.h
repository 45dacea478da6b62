// The heap behind ours, for `off` and for programs that bring their own: libc's, by the names glibc keeps for it besides
// malloc and friends, or that of a library which stands before libc.
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

// What calls are handed on to. Set before the first of them.
struct Behind {
  void* (*malloc)(size_t bytes);
  void* (*calloc)(size_t count, size_t bytes);
  void* (*realloc)(void* old, size_t bytes);
  void* (*memalign)(size_t alignment, size_t bytes);
  void (*free)(void* freed);
};
extern __attribute__((visibility("hidden"))) Behind behind;
// What operators new and delete and reallocarray call, which in a plain build find the program's own functions where it has some.
// These may call ours in turn, by dlsym(RTLD_NEXT) where ours are preloaded: `behind` never leads to them.
extern __attribute__((visibility("hidden"))) Behind called_by_name;

// Sets `behind` where it isn't libc. True: a library brings a malloc (jemalloc, mimalloc), linked or preloaded, and ours
// stands before it in the executable. Its own functions and the program's may allocate and free for each other, so it
// serves all calls. Preloaded ourselves we were asked for, and serve them.
bool library_has_malloc();
// Whether this runtime is a part of the executable, and not of a library that is preloaded.
bool is_in_executable();

// The operator new or delete of that mangled name by which a library behind us replaces that of the C++ library; null: none
// does. The C++ library is the one that has std::get_new_handler.
void* library_operator(const char* mangled);
// Whether the operator new behind us takes aligned memory from posix_memalign, as libstdc++'s does since GCC 14. Else it is
// aligned_alloc, as in older ones and in libc++.
bool operators_call_posix_memalign();
// Looks all of them up. To be called before a constructor of a library can: a search waits for the loader's lock, which whoever
// loads a library holds while its constructors run, and those may wait for a thread that calls operator new. Null where the
// program has no operators of ours.
[[gnu::weak]] void find_library_operators();

// True in a program that defines malloc, or in a static one wraps it with --wrap: that serves all calls. In a dynamic one it
// stands before ours, and `called_by_name` is set to it. True, too, where the program defines another of malloc's family and ours
// are in the executable: what it hands on to comes from dlsym(RTLD_NEXT), or is libc's, and knows no block of ours.
bool program_has_malloc();
bool program_wraps_malloc();  // the latter, of interpose_static.cc

// malloc_usable_size and malloc_trim have no second name: looked up behind us in the link order.
size_t libc_usable_size(void* address);
int libc_trim(size_t pad);

// Whether libraries call our malloc, too. An executable's link may hide it; then one side frees what the other made.
bool libraries_find_ours();
// Whether what stands before a preloaded heap of ours is only there by LD_DYNAMIC_WEAK, as ours are weak.
bool is_passed_over();

}  // namespace stab::heap
