/* A library that moves is loaded again and again while other threads map memory: what they have mapped stays theirs.
   library: -DLIBRARY
   flags: -pthread -ldl
   not: -static */
#define _GNU_SOURCE
#include "repeat.h"
#ifdef LIBRARY

NOINLINE static int third(int n) { return n % 3; }
int of_library(int n) { return third(n) * 2 + 1; }

#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* No smaller gap of the address space is taken for it. */
enum { kThreads = 3, kBytes = 192 * 1024 };
static atomic_int loads_are_over;

static void* map_and_look(void* unused) {
  (void)unused;
  while (!loads_are_over) {
    volatile char* const mapped = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    for (int round = 0; round < 20; ++round) {
      mapped[0] = mapped[kBytes - 1] = (char)(round + 1);
      CHECK(mapped[0] == round + 1 && mapped[kBytes - 1] == round + 1);
    }
    munmap((void*)mapped, kBytes);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, map_and_look, NULL) == 0);
  for (volatile int round = 0; round < 5; ++round) REPEAT {
      void* const library = dlopen("./library.so", RTLD_NOW);
      CHECK(library != NULL);
      int (*const of_library)(int) = (int (*)(int))dlsym(library, "of_library");
      CHECK(of_library != NULL && of_library(5) == 5);
      dlclose(library);
    }
  loads_are_over = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  puts("kept");
  return 0;
}
#endif
