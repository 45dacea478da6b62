/* The part of COZ's own coz.h that counts, as programs bring it (plasma-umass/coz, include/coz.h, BSD licence): it looks the
 * entry up by name and raises the first word of what comes back. */
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define COZ_COUNTER_TYPE_THROUGHPUT 1
#define COZ_COUNTER_TYPE_BEGIN 2
#define COZ_COUNTER_TYPE_END 3

typedef struct {
  size_t count;
  size_t backoff;
} coz_counter_t;
typedef coz_counter_t* (*coz_get_counter_t)(int, const char*);

static coz_counter_t* _call_coz_get_counter(int type, const char* name) {
  static unsigned char initialized = 0;
  static coz_get_counter_t fn;
  if (!initialized) {
    void* p = dlsym(RTLD_DEFAULT, "_coz_get_counter");
    memcpy(&fn, &p, sizeof p);
    initialized = 1;
  }
  return fn ? fn(type, name) : 0;
}

#define COZ_INCREMENT_COUNTER(type, name)                                       \
  if (1) {                                                                      \
    static unsigned char _initialized = 0;                                      \
    static coz_counter_t* _counter = 0;                                         \
    if (!_initialized) {                                                        \
      _counter = _call_coz_get_counter(type, name);                             \
      _initialized = 1;                                                         \
    }                                                                           \
    if (_counter) __atomic_add_fetch(&_counter->count, 1, __ATOMIC_RELAXED);    \
  }
#define COZ_PROGRESS_NAMED(name) COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_THROUGHPUT, name)
#define COZ_BEGIN(name) COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_BEGIN, name)
#define COZ_END(name) COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_END, name)
