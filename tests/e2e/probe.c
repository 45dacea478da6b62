// Prints where things are, once an epoch: a return address, its distance from another function's, a local variable,
// an object from malloc.
//
//   probe STEPS MILLISECONDS
//
// main's own frame lives in one layout for ever, so everything that is looked at is called from it anew. The
// chain of calls adds up several pads: one alone has 256 values, and 50 draws of 256 would meet by chance.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static char* return_address;
static char* other_return_address;
static void* local_address;

NOINLINE void leaf(int* numbers) {
  return_address = __builtin_return_address(0);
  volatile int local = *numbers;
  local_address = (void*)&local;
}

// Each link has a frame of its own and does something after the call, so that it is no tail call.
#define LINK(name, next)            \
  NOINLINE void name(int* numbers) { \
    next(numbers);                  \
    *numbers += 1;                  \
  }
LINK(link1, leaf)
LINK(link2, link1)
LINK(link3, link2)
NOINLINE void link4(int* numbers) {
  other_return_address = __builtin_return_address(0);
  link3(numbers);
  *numbers += 1;
}
LINK(link5, link4)
LINK(link6, link5)
LINK(link7, link6)
LINK(link8, link7)

enum { kObjects = 512, kBytes = 1500 };

// The address of the first of many objects, all given back: with an allocator that doesn't randomize it is the
// same each time. Too large for glibc's caches, which would hand them out in reverse order.
NOINLINE void* some_object(void) {
  static void* objects[kObjects];
  for (int i = 0; i < kObjects; ++i) objects[i] = malloc(kBytes);
  void* first = objects[0];
  for (int i = 0; i < kObjects; ++i) free(objects[i]);
  return first;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int steps = atoi(argv[1]);
  const long pause_ms = atol(argv[2]);
  static char buffer[1 << 16];  // stdout allocates nothing
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  for (int step = 0; step < steps; ++step) {
    int number = step;
    link8(&number);
    void* object = some_object();
    printf("%p %td %p %p\n", (void*)return_address, return_address - other_return_address, local_address, object);
    const struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
  }
  return 0;
}
