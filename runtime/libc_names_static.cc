// In a static program: libc's archive has reserved names for these.
#include "runtime/libc_names.h"

extern "C" {
int __dl_iterate_phdr(int (*look)(dl_phdr_info*, size_t, void*), void* context);
int __pthread_setspecific(pthread_key_t key, const void* value);
}

namespace stab::libc {

int iterate_files(int (*look)(dl_phdr_info*, size_t, void*), void* context) {
  return __dl_iterate_phdr(look, context);
}

int set_specific(pthread_key_t key, const void* value) {
  return __pthread_setspecific(key, value);
}

}  // namespace stab::libc
