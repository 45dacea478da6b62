/* Fork handlers registered before ours, as a library's constructor may: they run while the heap's locks are held. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
static void allocate(void) {
  for (size_t bytes = 100; bytes < 4u << 20; bytes *= 20) {
    char* got = malloc(bytes);
    CHECK(got != NULL);
    got[bytes - 1] = 1;
    free(got);
  }
}
static void early(void) { pthread_atfork(allocate, allocate, allocate); }
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = early;
static void* beside(void* end) {
  while (!__atomic_load_n((int*)end, __ATOMIC_RELAXED)) allocate();
  return NULL;
}
int main(void) {
  int end = 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, beside, &end) == 0);
  REPEAT {
    const pid_t child = fork();
    if (child == 0) { alarm(20); allocate(); _exit(7); }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
  __atomic_store_n(&end, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  puts("early fork handlers ok");
}
