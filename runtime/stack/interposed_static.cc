// In a static executable: the driver links with --wrap=NAME for each of these, so that references to NAME come here
// and __real_NAME is libc's. Weak: a program may wrap one itself.
#include "runtime/stack/interposed.h"

extern "C" {

int __real___libc_start_main(stab::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
int __real_pthread_create(pthread_t*, const pthread_attr_t*, stab::Routine, void*);
int __real_pthread_getattr_np(pthread_t, pthread_attr_t*);

[[gnu::weak]] int __wrap___libc_start_main(stab::Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                             void (*loader_fini)(), void* stack_end) {
  return stab::start_main(__real___libc_start_main, main, argc, argv, init, fini, loader_fini, stack_end);
}

[[gnu::weak]] int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, stab::Routine routine,
                          void* argument) {
  return stab::create_thread(__real_pthread_create, thread, attributes, routine, argument);
}

[[gnu::weak]] int __wrap_thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  return stab::create_c11_thread(__real_pthread_create, thread, routine, argument);
}

[[gnu::weak]] int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  return stab::get_attributes(__real_pthread_getattr_np, thread, attributes);
}

}  // extern "C"
