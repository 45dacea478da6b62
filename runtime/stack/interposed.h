// What stands before functions of libc, each with the real one as its first argument. How they come to stand there
// differs: interposed_dynamic.cc, interposed_static.cc.
#pragma once

#include <pthread.h>
#include <threads.h>

namespace stab {

using Main = int (*)(int, char**, char**);
using LibcStart = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
using Routine = void* (*)(void*);
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, Routine, void*);
using GetAttributes = int (*)(pthread_t, pthread_attr_t*);

// __libc_start_main: main's frame starts at a random offset.
int start_main(LibcStart real, Main main, int argc, char** argv, void (*init)(), void (*fini)(),
               void (*loader_fini)(), void* stack_end);

// pthread_create with a larger stack that starts at a random offset, or as it is where that can't be.
int create_thread(CreateThread real, pthread_t* thread, const pthread_attr_t* wanted, Routine routine, void* argument);

// thrd_create: libc's would call its own pthread_create.
int create_c11_thread(CreateThread real, thrd_t* thread, thrd_start_t routine, void* argument);

// pthread_getattr_np without what we added.
int get_attributes(GetAttributes real, pthread_t thread, pthread_attr_t* attributes);

}  // namespace stab
