// How far below its stack's upper end each kind of thread starts: "<main> <pthread> <small pthread> <C11 thread>".
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <threads.h>

static size_t below_top(void* frame) {
  pthread_attr_t attributes;
  void* lowest;
  size_t bytes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  return (size_t)((char*)lowest + bytes - (char*)frame);
}

static void* in_pthread(void* out) {
  *(size_t*)out = below_top(__builtin_frame_address(0));
  return NULL;
}
static int in_c11(void* out) {
  *(size_t*)out = below_top(__builtin_frame_address(0));
  return 0;
}

int main(int argc, char** argv) {
  (void)argc;
  size_t plain, small, c11;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_create(&thread, NULL, in_pthread, &plain);
  pthread_join(thread, NULL);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  pthread_create(&thread, &attributes, in_pthread, &small);
  pthread_join(thread, NULL);
  thrd_t other;
  thrd_create(&other, in_c11, &c11);
  thrd_join(other, NULL);
  printf("%zu %zu %zu %zu\n", (size_t)((char*)argv - (char*)__builtin_frame_address(0)), plain, small, c11);
  return 0;
}
