// In a static program: libc's archive has reserved names for these.
#include "runtime/libc_names.h"

extern "C" {
int __dl_iterate_phdr(int (*look)(dl_phdr_info*, size_t, void*), void* context);
int __pthread_setspecific(pthread_key_t key, const void* value);
const char* __gnu_get_libc_version();
int __clock_gettime(clockid_t clock, timespec* time);
int __pthread_getattr_default_np(pthread_attr_t* attributes);
int __pthread_attr_destroy(pthread_attr_t* attributes);
int __pthread_attr_getstack(const pthread_attr_t* attributes, void** lowest, size_t* bytes);
int __pthread_attr_setstack(pthread_attr_t* attributes, void* lowest, size_t bytes);
int __pthread_attr_getstacksize(const pthread_attr_t* attributes, size_t* bytes);
int __pthread_attr_setstacksize(pthread_attr_t* attributes, size_t bytes);
}

namespace stab::libc {

int iterate_files(int (*look)(dl_phdr_info*, size_t, void*), void* context) {
  return __dl_iterate_phdr(look, context);
}

int set_specific(pthread_key_t key, const void* value) {
  return __pthread_setspecific(key, value);
}

const char* version() {
  return __gnu_get_libc_version();
}

int read_clock(clockid_t clock, timespec* time) {
  return __clock_gettime(clock, time);
}

int default_attributes(pthread_attr_t* attributes) {
  return __pthread_getattr_default_np(attributes);
}

int destroy_attributes(pthread_attr_t* attributes) {
  return __pthread_attr_destroy(attributes);
}

int stack_of(const pthread_attr_t* attributes, void** lowest, size_t* bytes) {
  return __pthread_attr_getstack(attributes, lowest, bytes);
}

int set_stack(pthread_attr_t* attributes, void* lowest, size_t bytes) {
  return __pthread_attr_setstack(attributes, lowest, bytes);
}

int stack_size_of(const pthread_attr_t* attributes, size_t* bytes) {
  return __pthread_attr_getstacksize(attributes, bytes);
}

int set_stack_size(pthread_attr_t* attributes, size_t bytes) {
  return __pthread_attr_setstacksize(attributes, bytes);
}

}  // namespace stab::libc
