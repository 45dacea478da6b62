// Threads: stacks of the smallest size, supplied stacks, what attributes say, cancellation, C11 threads, many at
// once. Prints sums, and what a program can see of a stack's size.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static void fail(const char* what) {
  printf("FAIL: %s\n", what);
  exit(1);
}

APART static long use(char* bytes, long n) {
  memset(bytes, 1, (size_t)n);
  __asm__ volatile("" : : "r"(bytes) : "memory");
  return bytes[n - 1];
}

// Uses nearly all of a 16 KiB stack, through several frames.
APART static long fill_small(int depth) {
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

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  long result = 0;
  size_t bytes = 0;

  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, 16384) != 0) fail("16 KiB");
  for (int i = 0; i < 50; ++i) {
    if (pthread_create(&thread, &attributes, small, &result) != 0) fail("create a small thread");
    pthread_join(thread, NULL);
  }
  printf("small %ld\n", result);
  pthread_create(&thread, &attributes, sizes, &bytes);
  pthread_join(thread, NULL);
  if (bytes < 16384) fail("a small stack is smaller than asked for");
  pthread_create(&thread, NULL, sizes, &bytes);
  pthread_join(thread, NULL);
  printf("default size %zu\n", bytes);
  sizes(&bytes);  // main's
  size_t kept = 0;
  pthread_attr_getstacksize(&attributes, &kept);
  printf("attributes still say %zu\n", kept);

  char* own = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_setstack(&attributes, own, 65536);
  pthread_create(&thread, &attributes, sizes, &bytes);
  pthread_join(thread, NULL);
  printf("supplied size %zu\n", bytes);
  pthread_attr_destroy(&attributes);

  long count = 0;
  pthread_create(&thread, NULL, forever, &count);
  usleep(2000);
  void* value = NULL;
  pthread_cancel(thread);
  pthread_join(thread, &value);
  printf("cancelled %d\n", value == PTHREAD_CANCELED);
  pthread_create(&thread, NULL, leaves, NULL);
  pthread_join(thread, &value);
  printf("left with %ld\n", (long)value);

  thrd_t c11_thread;
  int subtract = 7, status = 0;
  thrd_create(&c11_thread, c11, &subtract);
  thrd_join(c11_thread, &status);
  printf("c11 %d\n", status);

  pthread_t many[100];
  long results[100];
  for (int i = 0; i < 100; ++i)
    if (pthread_create(&many[i], NULL, small, &results[i]) != 0) fail("create many");
  long total = 0;
  for (int i = 0; i < 100; ++i) {
    pthread_join(many[i], NULL);
    total += results[i];
  }
  printf("many %ld\n", total);
  return 0;
}
