// What the runtime calls of libc under names that ISO C and C++ leave to the program.
//
// A program may define `sigaction`, `dlsym` or `environ` as a function of its own, or as something else altogether. libc doesn't
// notice, as it calls its own by names that are reserved. Nor may the runtime, which is linked into the program: its calls would
// come to the program's definition. So it uses the reserved names, and where libc has none, libc's table of symbols.
#pragma once

#include <pthread.h>
#include <signal.h>

struct dl_phdr_info;

extern "C" {
extern char** __environ;
unsigned long __getauxval(unsigned long type) noexcept;
int __sigaction(int number, const struct sigaction* wanted, struct sigaction* before) noexcept;
int __pthread_key_create(pthread_key_t* key, void (*ends)(void*)) noexcept;
}

namespace stab::libc {

// dl_iterate_phdr, pthread_setspecific.
int iterate_files(int (*look)(dl_phdr_info* file, size_t bytes, void* context), void* context);
int set_specific(pthread_key_t key, const void* value);

// Of a dynamic program, too: dlsym, dlopen, dlclose, dlerror. dlsym takes the runtime for its caller; so does dlopen.
void* find_symbol(void* handle, const char* name);
void* open_library(const char* file, int mode);
void close_library(void* library);
void clear_error();

}  // namespace stab::libc
