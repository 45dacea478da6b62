/* Threads whose last destructors allocate, again and again as POSIX lets them: nothing of them may stay. */
#include <pthread.h>
#include <string.h>
#include "repeat.h"
#define THREADS 3000
static pthread_key_t key;
static void again(void* value) {
  free(value);
  pthread_setspecific(key, malloc(100));
}
static void* work(void* nothing) {
  pthread_setspecific(key, malloc(50));
  return nothing;
}
static long resident_kib(void) {
  char line[256];
  long kib = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "RssAnon:", 8) == 0) kib = atol(line + 8);
  if (file) fclose(file);
  return kib;
}
int main(void) {
  long before = 0;
  CHECK(pthread_key_create(&key, again) == 0);
  for (int i = 0; i < THREADS; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    if (i == THREADS / 10) before = resident_kib();
  }
  CHECK(before > 0 && resident_kib() < before + 4096);
  puts("destructors allocate ok");
}
