// Threads: stacks of the smallest size, supplied stacks, what attributes say, cancellation, C11 threads, many at
// once. Results are sums, and what a program can see of a stack's size.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

#include "features.h"

NOINLINE static long use(char* bytes, long n) {
  memset(bytes, 1, (size_t)n);
  __asm__ volatile("" : : "r"(bytes) : "memory");
  return bytes[n - 1];
}

// Uses nearly all of a 16 KiB stack, through several frames.
NOINLINE static long fill_small(int depth) {
  char frame[1000];
  const long here = use(frame, sizeof frame);
  return depth == 0 ? here : fill_small(depth - 1) + here;
}
static void* small(void* result) {
  *(long*)result = fill_small(7);
  return NULL;
}

static void* sizes(void* out) {
  pthread_attr_t attributes;
  void* lowest;
  size_t bytes;
  char here;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) fail("pthread_getattr_np");
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  if (&here < (char*)lowest || &here >= (char*)lowest + bytes) fail("a local is outside the reported stack");
  pthread_attr_destroy(&attributes);
  *(size_t*)out = bytes;
  return out;
}

static void* forever(void* cleaned) {
  pthread_cleanup_push((void (*)(void*))free, malloc(10));
  for (;;) {
    *(long*)cleaned += fill_small(2);
    pthread_testcancel();
  }
  pthread_cleanup_pop(1);
  return NULL;
}

static void* leaves(void* value) { pthread_exit((char*)value + fill_small(1)); }
static int c11(void* value) { return (int)fill_small(3) - *(int*)value; }

// Runs one thread to its end; returns what it returned.
static void* finish(const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  pthread_t thread;
  void* value = NULL;
  if (pthread_create(&thread, attributes, routine, argument) != 0) fail("pthread_create");
  pthread_join(thread, &value);
  return value;
}

static void smallest(pthread_attr_t* attributes) {
  pthread_attr_init(attributes);
  if (pthread_attr_setstacksize(attributes, 16384) != 0) fail("16 KiB");
}

static long small_stacks(void) {
  pthread_attr_t attributes;
  long result = 0;
  size_t bytes = 0;
  smallest(&attributes);
  for (int i = 0; i < 5; ++i) finish(&attributes, small, &result);
  finish(&attributes, sizes, &bytes);
  if (bytes < 16384) fail("a small stack is smaller than asked for");
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return result * 100000 + (long)bytes;  // the attributes still say 16 KiB
}

static long default_sizes(void) {
  size_t bytes = 0, mine = 0;
  finish(NULL, sizes, &bytes);
  sizes(&mine);
  return (long)bytes;
}

static long supplied_stacks(void) {
  static char* own;
  if (own == NULL) own = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attributes;
  size_t bytes = 0;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, own, 65536);
  finish(&attributes, sizes, &bytes);
  pthread_attr_destroy(&attributes);
  return (long)bytes;
}

static long cancelled(void) {
  pthread_t thread;
  long count = 0;
  void* value = NULL;
  pthread_create(&thread, NULL, forever, &count);
  usleep(500);
  pthread_cancel(thread);
  pthread_join(thread, &value);
  return value == PTHREAD_CANCELED;
}

static long exits(void) { return (long)finish(NULL, leaves, NULL); }

static long c11_threads(void) {
  thrd_t thread;
  int subtract = 7, status = 0;
  thrd_create(&thread, c11, &subtract);
  thrd_join(thread, &status);
  return status;
}

static long many_at_once(void) {
  pthread_attr_t attributes;
  smallest(&attributes);
  pthread_t many[30];
  long results[30], total = 0;
  for (int i = 0; i < 30; ++i)
    if (pthread_create(&many[i], &attributes, small, &results[i]) != 0) fail("create many");
  for (int i = 0; i < 30; ++i) {
    pthread_join(many[i], NULL);
    total += results[i];
  }
  pthread_attr_destroy(&attributes);
  return total;
}

FEATURES({"small-threads", small_stacks, 0}, {"thread-sizes", default_sizes, 0}, {"supplied-stacks", supplied_stacks, 0},
         {"cancellation", cancelled, 0}, {"pthread-exit", exits, 0}, {"c11-threads", c11_threads, 0},
         {"many-threads", many_at_once, 0})
