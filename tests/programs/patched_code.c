/* A program that makes its own text writable and patches it, again and again, while another thread runs there. Children that it
   forks have the patches, and patch on their own.
   other-compilers: no */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"

enum { kConstant = 0x11223344 };
NOINLINE static int constant(void) { return kConstant; }
static int (*volatile asked)(void) = constant;
NOINLINE static int passes(int number) { return number * 3 + 1; }
static int (*volatile passing)(int) = passes;
static volatile int ended;

static void* runs(void* nothing) {
  while (!ended) CHECK(passing(2) == 7);
  return nothing;
}

static unsigned char* place;

static void find_place(void) {
  unsigned char* const code = (unsigned char*)constant;
  for (int i = 0; i < 48 && place == NULL; ++i) {
    const int wanted = kConstant;
    if (memcmp(code + i, &wanted, sizeof wanted) == 0) place = code + i;
  }
  CHECK(place != NULL);
}

static void protect(int protection) {
  const long page = sysconf(_SC_PAGESIZE);
  const uintptr_t low = (uintptr_t)place & -page, high = ((uintptr_t)place + sizeof(int) + page - 1) & -page;
  CHECK(mprotect((void*)low, high - low, protection) == 0);
}

/* It stays and has no pad, as its bytes may change, and is heard all the same. */
NOINLINE static int protect_itself(int protection) {
  return mprotect((void*)((uintptr_t)protect_itself & -sysconf(_SC_PAGESIZE)), sizeof(int), protection);
}

NOINLINE static void patch(int number) {
  memcpy(place, &number, sizeof number);
  __builtin___clear_cache((char*)place, (char*)place + sizeof number);
  CHECK(asked() == number);
}

int main(void) {
  pthread_t other;
  CHECK(pthread_create(&other, NULL, runs, NULL) == 0);
  REPEAT CHECK(asked() == kConstant && passing(2) == 7);
  CHECK(protect_itself(PROT_READ | PROT_WRITE | PROT_EXEC) == 0 && protect_itself(PROT_READ | PROT_EXEC) == 0);
  find_place();
  protect(PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int i = 0; i < 100; ++i) patch(i);
  REPEAT CHECK(asked() == 99 && passing(2) == 7);
  protect(PROT_READ | PROT_EXEC);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(asked() == 99);
    protect(PROT_READ | PROT_WRITE | PROT_EXEC);
    patch(1000);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0 && asked() == 99);
  ended = 1;
  CHECK(pthread_join(other, NULL) == 0);
  puts("patched");
  return 0;
}
