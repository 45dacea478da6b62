/* Functions whose calls are known, from wherever they come, and functions that take a known share of the time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kCalls = 30000, kThreads = 4, kChildren = 3 };

static volatile unsigned sink;

__attribute__((noinline)) unsigned counted(unsigned x) { return x * 2654435761u + sink; }
__attribute__((noinline)) unsigned tail(unsigned x) { return counted(x + 1); }
__attribute__((noinline)) unsigned recursive(unsigned x) { return x == 0 ? 0 : recursive(x - 1) + 1 + sink; }
static unsigned (*volatile by_pointer)(unsigned) = counted;

static void* caller(void* unused) {
  for (unsigned i = 0; i < kCalls; ++i) sink += counted(i);
  return unused;
}

static void calls(void) {
  for (unsigned i = 0; i < kCalls; ++i) sink += counted(i), sink += tail(i), sink += by_pointer(i);
  for (unsigned i = 0; i < 100; ++i) sink += recursive(99);
  pthread_t all[kThreads];
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&all[i], NULL, caller, NULL) != 0) abort();
  for (int i = 0; i < kThreads; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < kChildren; ++i)
    if (fork() == 0) {
      caller(NULL);
      _exit(0);
    }
  while (wait(NULL) > 0) {
  }
}

/* Returns quickly, so that each call runs in the newest image. */
__attribute__((noinline)) unsigned brief(unsigned x) {
  for (int i = 0; i < 4000; ++i) x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  return x;
}
__attribute__((noinline)) unsigned brief_too(unsigned x) {
  for (int i = 0; i < 4000; ++i) x ^= x << 7, x ^= x >> 9, x ^= x << 8;
  return x;
}

static double cpu_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Never returns until it is all over: it stays in the image that it was entered in. */
__attribute__((noinline)) unsigned stays(unsigned x, double until) {
  while (cpu_s() < until)
    for (int i = 0; i < 200000; ++i) x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  return x;
}

/* A quarter of the time in brief_too, three in brief; then as long again in stays. */
static void works(double seconds) {
  const double end = cpu_s() + seconds;
  while (cpu_s() < end)
    for (int i = 0; i < 10; ++i)
      sink += brief(sink + 1), sink += brief(sink + 2), sink += brief(sink + 3), sink += brief_too(sink);
  sink += stays(sink | 1, cpu_s() + seconds);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "calls") == 0) calls();
  if (argc > 2 && strcmp(argv[1], "works") == 0) works(atof(argv[2]));
  puts("done");
  return 0;
}
