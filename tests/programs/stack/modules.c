// Pads of a linked library and of one that comes by dlopen: drawn at once, drawn anew with each layout, and forgotten
// at dlclose, so that what is mapped there next is left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stab/stab.h>

enum { kLayouts = 200 };

long frame_bytes(void);  // of the linked library

static void fail(const char* what) {
  printf("FAIL: %s\n", what);
  exit(1);
}

static int compare(const void* a, const void* b) {
  const long x = *(const long*)a, y = *(const long*)b;
  return (x > y) - (x < y);
}

// How many values `frame` has over the layouts.
static int distinct(long (*frame)(void)) {
  static long seen[kLayouts];
  for (int i = 0; i < kLayouts; ++i) {
    seen[i] = frame();
    if (stab_new_layout() != STAB_OK) fail("no new layout");
  }
  qsort(seen, kLayouts, sizeof *seen, compare);
  int count = 1;
  for (int i = 1; i < kLayouts; ++i) count += seen[i] != seen[i - 1];
  return count;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  struct stab_dose before, with, after;
  stab_read_dose(&before);
  // 200 draws from 256 values: 139 distinct ones are expected, with a deviation of 5.
  if (distinct(frame_bytes) < 110) fail("a linked library's pads are not drawn anew");

  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail(dlerror());
    long (*frame)(void) = (long (*)(void))dlsym(library, "frame_bytes");
    uint32_t* slot = ((uint32_t * (*)(void)) dlsym(library, "first_slot"))();
    const size_t count = (size_t)(((uint32_t * (*)(void)) dlsym(library, "end_of_slots"))() - slot);
    uint32_t drawn = 0;
    for (size_t i = 0; i < count; ++i) drawn |= slot[i];
    if (drawn == 0) fail("a loaded library's pads are 0 when dlopen returns");
    if (frame == frame_bytes) fail("the library is the linked one");
    stab_read_dose(&with);
    if (with.pads != before.pads + count) fail("the dose does not count a loaded library's pads");
    if (distinct(frame) < 110) fail("a loaded library's pads are not drawn anew");

    const pid_t child = fork();  // a child that closes its copy takes nothing from the parent
    if (child == 0) {
      dlclose(library);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    if (distinct(frame) < 110) fail("a child's dlclose stopped its parent's pads");

    dlclose(library);
    stab_read_dose(&after);
    if (after.pads != before.pads) fail("the dose counts the pads of a library that is gone");
    char* page = (char*)((uintptr_t)slot & ~(uintptr_t)4095);
    char* mine = mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mine != page) fail("the library is still mapped");
    memset(mine, 0x5a, 4096);
    for (int i = 0; i < 50; ++i) stab_new_layout();
    for (int i = 0; i < 4096; ++i)
      if (mine[i] != 0x5a) fail("memory where a library was is written");
    munmap(mine, 4096);
  }
  printf("modules ok\n");
  return 0;
}
