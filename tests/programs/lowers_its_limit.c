/* A process that lowers its own limit of address space, as `ulimit -v` in a script does, still has what is below it: for
   mappings, threads and allocations. So does a child that lowers it as that of another process.
   other-compilers: no */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
static void* as_given(void* given) { return given; }
static void map_and_run(void) {
  const size_t bytes = (size_t)256 << 20;
  void* const mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED && munmap(mapped, bytes) == 0);
  pthread_t thread;
  void* got = NULL;
  CHECK(pthread_create(&thread, NULL, as_given, &thread) == 0 && pthread_join(thread, &got) == 0 && got == &thread);
}
int main(void) {
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit half = {(rlim_t)1 << 29, (rlim_t)1 << 29};
    CHECK(prlimit(0, RLIMIT_AS, &half, NULL) == 0);
    map_and_run();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  void* small[1000];
  for (int i = 0; i < 1000; ++i) small[i] = malloc(100);
  const struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  map_and_run();
  REPEAT {
    for (size_t bytes = 100 << 10; bytes < 200u << 20; bytes *= 4) {
      char* got = malloc(bytes);
      CHECK(got != NULL);
      got[bytes - 1] = 1;
      free(got);
    }
    for (int i = 0; i < 1000; ++i) { free(small[i]); CHECK((small[i] = malloc((size_t)(i % 50) * 300)) != NULL); }
  }
  void* volatile too_much = malloc((size_t)2 << 30);
  CHECK(too_much == NULL);
  puts("lowers its limit ok");
}
