// In a dynamic executable: our definitions come before libc's in the search order, for shared libraries too, and
// dlsym finds the ones behind. Weak: a program that defines one itself keeps it, and its threads' stacks stay.
#include <dlfcn.h>

#include "runtime/libc_names.h"
#include "runtime/stack/interposed.h"

namespace {

template <typename Function>
Function next(Function& cached, const char* name) {
  Function found = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<Function>(stab::libc::find_symbol(RTLD_NEXT, name));
    __atomic_store_n(&cached, found, __ATOMIC_RELAXED);
  }
  return found;
}

stab::LibcStart libc_start;
stab::CreateThread libc_create;
stab::GetAttributes libc_get_attributes;

}  // namespace

#define STAB_BEFORE_LIBC extern "C" __attribute__((weak, visibility("default")))

STAB_BEFORE_LIBC int __libc_start_main(stab::Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                       void (*loader_fini)(), void* stack_end) {
  return stab::start_main(next(libc_start, "__libc_start_main"), main, argc, argv, init, fini, loader_fini, stack_end);
}

STAB_BEFORE_LIBC int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                    void* argument) {
  return stab::create_thread(next(libc_create, "pthread_create"), thread, attributes, routine, argument);
}

STAB_BEFORE_LIBC int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  return stab::create_c11_thread(next(libc_create, "pthread_create"), thread, routine, argument);
}

STAB_BEFORE_LIBC int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  return stab::get_attributes(next(libc_get_attributes, "pthread_getattr_np"), thread, attributes);
}
