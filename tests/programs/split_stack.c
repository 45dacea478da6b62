/* A stack of which one page is to stay out of forks: the kernel shows it as three mappings. Frames in the upper ones wait, in
   the image that they were entered in, for one in the lower. */
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "repeat.h"

NOINLINE static int add_many(int x) { __asm__ volatile(""); return x + 1000000; }
static int (*volatile through)(int) = add_many;

/* Somebody enters each image, and can be seen to have left it. */
static volatile int runs = 1;
static void* run(void* nothing) {
  for (; runs; usleep(200)) CHECK(through(41) == 1000041);
  return nothing;
}

NOINLINE static int wait_below(int x) {
  for (double end = seconds_now() + REPEAT_SECONDS; seconds_now() < end;) usleep(500);
  return through(x);
}
static int (*volatile wait_in_newest)(int) = wait_below;

enum { kPage = 4096 };
NOINLINE static int split(int x) {
  volatile char room[3 * kPage];
  room[0] = (char)x;
  void* const page = (void*)(((uintptr_t)room + kPage - 1) / kPage * kPage);
  CHECK(madvise(page, kPage, MADV_DONTFORK) == 0);
  const int got = wait_in_newest(x);
  CHECK(madvise(page, kPage, MADV_DOFORK) == 0);
  return got + room[0];
}
static int (*volatile split_in_newest)(int) = split;

NOINLINE static int wait_above(int x) {
  usleep(10000); /* the frames below are to be in later images */
  return split_in_newest(x) + 1;
}

static void* in_a_thread(void* nothing) {
  CHECK(wait_above(20) == 1000041);
  return nothing;
}

int main(void) {
  pthread_t busy, split_too;
  CHECK(pthread_create(&busy, NULL, run, NULL) == 0);
  CHECK(wait_above(20) == 1000041);
  CHECK(pthread_create(&split_too, NULL, in_a_thread, NULL) == 0);
  CHECK(pthread_join(split_too, NULL) == 0);
  runs = 0;
  CHECK(pthread_join(busy, NULL) == 0);
  puts("split stack ok");
}
