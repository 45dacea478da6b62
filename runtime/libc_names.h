// What the runtime calls of libc under names that ISO C and C++ leave to the program.
//
// A program may define `sigaction`, `dlsym` or `environ` as a function of its own, or as something else altogether. libc doesn't
// notice, as it calls its own by names that are reserved. Nor may the runtime, which is linked into the program: its calls would
// come to the program's definition. So it uses the reserved names, and where libc has none, libc's table of symbols.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

struct dl_phdr_info;

extern "C" {
extern char** __environ;
unsigned long __getauxval(unsigned long type) noexcept;
int __sigaction(int number, const struct sigaction* wanted, struct sigaction* before) noexcept;
int __pthread_key_create(pthread_key_t* key, void (*ends)(void*)) noexcept;
}

namespace stab::libc {

// dl_iterate_phdr, pthread_setspecific, gnu_get_libc_version, clock_gettime.
int iterate_files(int (*look)(dl_phdr_info* file, size_t bytes, void* context), void* context);
int set_specific(pthread_key_t key, const void* value);
const char* version();
int read_clock(clockid_t clock, timespec* time);

// pthread_getattr_default_np, pthread_attr_destroy, and pthread_attr_ with getstack, setstack, getstacksize and setstacksize.
int default_attributes(pthread_attr_t* attributes);
int destroy_attributes(pthread_attr_t* attributes);
int stack_of(const pthread_attr_t* attributes, void** lowest, size_t* bytes);
int set_stack(pthread_attr_t* attributes, void* lowest, size_t bytes);
int stack_size_of(const pthread_attr_t* attributes, size_t* bytes);
int set_stack_size(pthread_attr_t* attributes, size_t bytes);

// Of a dynamic program, too: dlsym, dlopen, dlclose, dlerror, dladdr and dladdr1. dlsym takes the runtime for its caller; so does
// dlopen.
void* find_symbol(void* handle, const char* name);
void* open_library(const char* file, int mode);
void close_library(void* library);
void clear_error();
bool find_file(const void* address, Dl_info* info);
bool find_entry(const void* address, Dl_info* info, void** entry, int flags);

}  // namespace stab::libc
