// malloc and friends, in place of libc's. Weak: a program that brings its own malloc keeps it, and what comes here all the same,
// from operator new, is handed on to it. What such a program leaves out is libc's, as in a plain build. A program may also
// wrap one (--wrap=malloc): its wrapper has no malloc but the one that it calls as __real_malloc, which is ours. Static
// executables get theirs from interpose_static.cc.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>

#include "runtime/heap/allocate.h"
#include "runtime/heap/libc_heap.h"

namespace {
bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }
}  // namespace

#define EXPORTED [[gnu::weak, gnu::visibility("default")]]
#define NAME(function) function
#include "runtime/heap/c_functions.inc"
#include "runtime/libc_names.h"
#include "runtime/settings.h"

// Ours, by names that nobody replaces. Only their addresses are used.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-attributes"
extern "C" {
#define STAB_OWN(name) [[gnu::alias(#name)]] decltype(name) stab_own_##name __attribute__((visibility("hidden")));
// What a linker leads names to where the program wraps them; null where it doesn't.
#define STAB_WRAPPED(name) [[gnu::weak]] decltype(name) __wrap_##name, __real_##name;
#define STAB_FOR_ALL(what) what(malloc) what(free) what(calloc) what(realloc) what(reallocarray) what(posix_memalign) \
    what(memalign) what(aligned_alloc) what(valloc) what(pvalloc) what(malloc_usable_size)
STAB_FOR_ALL(STAB_OWN)
STAB_FOR_ALL(STAB_WRAPPED)
}
#pragma GCC diagnostic pop

namespace stab::heap {
namespace {

// The function of a name, behind any wrapper. To lld our own reference to malloc is one that the program wraps, as each is;
// bfd and gold leave the references of an object alone that defines the name.
template <typename Function>
Function* unwrapped(Function* seen, Function* wrapper, Function* real) {
  __asm__("" : "+r"(seen), "+r"(wrapper));
  return seen == wrapper ? real : seen;
}
#define STAB_UNWRAPPED(name) unwrapped(name, __wrap_##name, __real_##name)

// Whether a definition before ours is seen under a name. The compiler must not know that they may be one. A program that
// isn't position independent and takes the address of malloc is seen, too: its PLT's entry stands for the function then.
template <typename Function, typename Own>
bool is_replaced(Function* seen, Own* own) {
  __asm__("" : "+r"(seen));
  if (reinterpret_cast<void*>(seen) == reinterpret_cast<void*>(own)) return false;
  Dl_info file;
  ElfW(Sym)* symbol = nullptr;
  if (!libc::find_entry(reinterpret_cast<void*>(seen), &file, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT)) return false;
  // Without an exported symbol: the executable hides it from others, and we are part of that.
  return symbol == nullptr || symbol->st_shndx != SHN_UNDEF;
}

// Sets `to` to the program's function, if it has one.
template <typename To, typename Function, typename Own>
bool is_taken(To*& to, Function* seen, Own* own) {
  if (!is_replaced(seen, own)) return false;
  to = seen;
  return true;
}
#define STAB_IS_TAKEN(to, name) is_taken(to, STAB_UNWRAPPED(name), stab_own_##name)

// As the C++ libraries call it, and not memalign: C demands that the alignment divides the size.
decltype(aligned_alloc)* aligned_of_program = nullptr;
void* by_aligned_alloc(size_t alignment, size_t bytes) {
  return aligned_of_program(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}

// The same of libraries that call posix_memalign: POSIX demands that the alignment is a multiple of a pointer's size.
decltype(posix_memalign)* posix_of_program = nullptr;
void* by_posix_memalign(size_t alignment, size_t bytes) {
  void* got = nullptr;
  const int error = posix_of_program(&got, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes);
  if (error == 0) return got;
  errno = error;
  return nullptr;
}

// Of the two functions that operators take aligned memory from each C++ library calls one, whether or not the program has it.
bool takes_aligned_memory() {
  const bool has_aligned = STAB_IS_TAKEN(aligned_of_program, aligned_alloc);
  const bool has_posix = STAB_IS_TAKEN(posix_of_program, posix_memalign);
  if (!has_aligned && !has_posix) return false;
  if (operators_call_posix_memalign()) {
    if (has_posix) called_by_name.memalign = by_posix_memalign;
  } else if (has_aligned) {
    called_by_name.memalign = by_aligned_alloc;
  }
  return true;
}

}  // namespace

bool program_has_malloc() {
  const bool has_malloc = STAB_IS_TAKEN(called_by_name.malloc, malloc);
  if (!has_malloc && !is_in_executable()) return false;
  bool has_any = has_malloc;
  has_any |= STAB_IS_TAKEN(called_by_name.free, free);
  has_any |= STAB_IS_TAKEN(called_by_name.calloc, calloc);
  has_any |= STAB_IS_TAKEN(called_by_name.realloc, realloc);
  has_any |= takes_aligned_memory();
#define STAB_IS_REPLACED(name) is_replaced(STAB_UNWRAPPED(name), stab_own_##name)
  return has_any || STAB_IS_REPLACED(reallocarray) || STAB_IS_REPLACED(memalign) || STAB_IS_REPLACED(valloc) ||
         STAB_IS_REPLACED(pvalloc) || STAB_IS_REPLACED(malloc_usable_size);
}

bool is_passed_over() { return has_dynamic_weak() && !is_in_executable(); }

bool libraries_find_ours() {
  return libc::find_symbol(RTLD_DEFAULT, "malloc") == reinterpret_cast<void*>(STAB_UNWRAPPED(malloc));
}

}  // namespace stab::heap
