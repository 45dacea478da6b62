// malloc and friends, in place of libc's. Weak: a program that brings its own malloc keeps it, and what comes here all the
// same, from operator new, is handed on to it. A program may also wrap one (--wrap=malloc): its wrapper has no malloc but the
// one that it calls as __real_malloc, which is ours. Static executables get theirs from interpose_static.cc.
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

// Ours, by names that nobody replaces. Only their addresses are used.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-attributes"
extern "C" {
[[gnu::alias("malloc")]] void* stab_own_malloc(size_t) __attribute__((visibility("hidden")));
[[gnu::alias("memalign")]] void* stab_own_memalign(size_t, size_t) __attribute__((visibility("hidden")));
}
// What a linker leads names to where the program wraps them; null where it doesn't.
#define STAB_WRAPPED(name) extern "C" [[gnu::weak]] decltype(name) __wrap_##name, __real_##name;
STAB_WRAPPED(malloc) STAB_WRAPPED(calloc) STAB_WRAPPED(realloc) STAB_WRAPPED(memalign) STAB_WRAPPED(free)
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
  if (dladdr1(reinterpret_cast<void*>(seen), &file, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0) return false;
  // Without an exported symbol: the executable hides it from others, and we are part of that.
  return symbol == nullptr || symbol->st_shndx != SHN_UNDEF;
}

}  // namespace

bool program_has_malloc() {
  if (!is_replaced(STAB_UNWRAPPED(malloc), stab_own_malloc)) return false;
  auto* const aligned = STAB_UNWRAPPED(memalign);
  behind = {STAB_UNWRAPPED(malloc), STAB_UNWRAPPED(calloc), STAB_UNWRAPPED(realloc),
            is_replaced(aligned, stab_own_memalign) ? aligned : __libc_memalign, STAB_UNWRAPPED(free)};
  return true;
}

bool libraries_find_ours() {
  return libc::find_symbol(RTLD_DEFAULT, "malloc") == reinterpret_cast<void*>(STAB_UNWRAPPED(malloc));
}

}  // namespace stab::heap
