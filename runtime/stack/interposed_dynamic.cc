// In a dynamic executable: our definitions come before libc's in the search order, for shared libraries too, and
// dlsym finds the ones behind. Weak: a program that defines one itself keeps it, and its threads' stacks stay.
#include <dlfcn.h>

#include "runtime/libc_names.h"
#include "runtime/stack/interposed.h"

namespace stab {
namespace {

template <typename Function>
Function next(Function& cached, const char* name) {
  Function found = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<Function>(libc::find_symbol(RTLD_NEXT, name));
    __atomic_store_n(&cached, found, __ATOMIC_RELAXED);
  }
  return found;
}

LibcStart libc_start;
CreateThread libc_create;
GetAttributes libc_get_attributes;

}  // namespace
}  // namespace stab

#define STAB_BEFORE_LIBC extern "C" __attribute__((weak, visibility("default")))

STAB_BEFORE_LIBC int __libc_start_main(stab::Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                       void (*loader_fini)(), void* stack_end) {
  return stab::start_main(stab::next(stab::libc_start, "__libc_start_main"), main, argc, argv, init, fini, loader_fini,
                          stack_end);
}

STAB_BEFORE_LIBC int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                    void* argument) {
  return stab::create_thread(stab::next(stab::libc_create, "pthread_create"), thread, attributes, routine, argument);
}

STAB_BEFORE_LIBC int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  return stab::create_c11_thread(stab::next(stab::libc_create, "pthread_create"), thread, routine, argument);
}

STAB_BEFORE_LIBC int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  return stab::get_attributes(stab::next(stab::libc_get_attributes, "pthread_getattr_np"), thread, attributes);
}
