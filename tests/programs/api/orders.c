// Every call of <stab/stab.h>, from C. argv[1]: `on` where layouts change, `still` where the runtime is there but
// changes nothing, `absent` where it is not there.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stab/stab.h>

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("FAIL: %s\n", what);
  exit(1);
}

__attribute__((noinline)) static uintptr_t leaf(void) {
  char local;
  uintptr_t address = (uintptr_t)&local;
  __asm__ volatile("" : "+r"(address) : : "memory");
  return address;
}
__attribute__((noinline)) static uintptr_t caller(void) {
  const uintptr_t address = leaf();
  __asm__ volatile("");
  return address;
}
__attribute__((noinline)) static uintptr_t caller_of_caller(void) {
  const uintptr_t address = caller();
  __asm__ volatile("");
  return address;
}

static void rest_ms(long ms) {
  const struct timespec rest = {0, ms * 1000000};
  nanosleep(&rest, NULL);
}

static void* in_another_thread(void* unused) {
  (void)unused;
  expect(stab_region_begin() == STAB_OTHER_THREAD, "a second thread's region is refused");
  expect(stab_region_end(NULL) == STAB_OTHER_THREAD, "a region is ended by its own thread only");
  return NULL;
}

static void check_layouts(void) {
  expect(stab_active() == 1, "active");
  int moved = 0;
  for (int i = 0; i < 50; ++i) {
    const uint64_t epoch = stab_epoch();
    const uintptr_t before = caller_of_caller();
    expect(stab_new_layout() == STAB_OK, "a new layout");
    expect(stab_epoch() > epoch, "a new layout is a new epoch");
    moved += caller_of_caller() != before;
  }
  expect(moved > 40, "each new layout moves the stack");

  expect(stab_resume() == STAB_NOT_BEGUN, "resume without pause");
  expect(stab_pause() == STAB_OK && stab_pause() == STAB_OK, "pause twice");
  uint64_t epoch = stab_epoch();
  uintptr_t before = caller_of_caller();
  rest_ms(30);
  expect(stab_epoch() == epoch && caller_of_caller() == before, "nothing changes in a pause");
  expect(stab_resume() == STAB_OK, "resume once");
  rest_ms(30);
  expect(stab_epoch() == epoch, "pauses count");
  expect(stab_new_layout() == STAB_OK && stab_epoch() == epoch + 1, "a new layout in a pause");
  expect(stab_resume() == STAB_OK, "resume");
  for (int i = 0; i < 100 && stab_epoch() < epoch + 3; ++i) rest_ms(30);
  expect(stab_epoch() >= epoch + 3, "epochs go on after a pause");

  struct stab_dose dose;
  expect(stab_read_dose(&dose) == STAB_OK, "read the dose");
  expect(dose.layouts >= 54 && dose.pad_refills >= 54 && dose.pads > 5, "the dose is what happened");
  expect(stab_read_dose(NULL) == STAB_BAD_ARGUMENT, "a dose without a place for it");

  const pid_t child = fork();
  if (child == 0) _exit(stab_new_layout() == STAB_UNAVAILABLE && stab_pause() == STAB_UNAVAILABLE ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  expect(status == 0, "a forked child can't order its parent's helper");
  expect(stab_new_layout() == STAB_OK, "the parent still can");
}

static void check_still(int status) {
  expect(stab_active() == 0 && stab_epoch() == 0, "not active");
  expect(stab_new_layout() == status && stab_pause() == status && stab_resume() == status, "nothing to order");
}

static void check_region(void) {
  struct stab_region region;
  expect(stab_region_end(&region) == STAB_NOT_BEGUN, "an end without its beginning");
  expect(stab_region_begin() == STAB_OK, "begin");
  expect(stab_region_begin() == STAB_NESTED, "a nested region is refused");
  pthread_t thread;
  pthread_create(&thread, NULL, in_another_thread, NULL);
  pthread_join(thread, NULL);
  volatile uint64_t spin = 0;
  struct timespec from, to;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
  do {
    for (int i = 0; i < 10000; ++i) spin += 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
  } while ((to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec < 20000000);
  rest_ms(20);
  volatile char* fresh = malloc(8 << 20);
  for (int i = 0; i < 8 << 20; i += 4096) fresh[i] = 1;
  expect(stab_region_end(&region) == STAB_OK, "end");
  free((char*)fresh);
  expect(region.wall_ns >= 40000000 && region.wall_ns < 20000000000, "wall time of spin and rest");
  expect(region.cpu_ns >= 20000000 && region.cpu_ns < region.wall_ns, "cpu time of the spin alone");
  const uint32_t process = 1u << STAB_PAGE_FAULTS | 1u << STAB_CONTEXT_SWITCHES;
  expect((region.counted & process) == process, "page faults and context switches are counted");
  expect(region.counters[STAB_PAGE_FAULTS] >= 2, "page faults of fresh memory");
  expect(region.counters[STAB_CONTEXT_SWITCHES] >= 1, "the rest is a context switch");
  for (int i = STAB_CYCLES; i <= STAB_BRANCH_MISSES; ++i)
    expect((region.counted >> i & 1) || region.counters[i] == 0, "an unavailable counter is 0");
  expect(stab_region_end(&region) == STAB_NOT_BEGUN, "it has ended");
  expect(stab_region_begin() == STAB_OK && stab_region_end(NULL) == STAB_OK, "another one, unread");
}

int main(int argc, char** argv) {
  const char* where = argc == 2 ? argv[1] : "";
  if (!strcmp(where, "on")) {
    check_layouts();
    check_region();
  } else if (!strcmp(where, "still")) {
    check_still(STAB_ABSENT);
    check_region();
  } else if (!strcmp(where, "absent")) {
    struct stab_dose dose;
    check_still(STAB_ABSENT);
    expect(stab_region_begin() == STAB_ABSENT && stab_region_end(NULL) == STAB_ABSENT, "no region");
    expect(stab_read_dose(&dose) == STAB_ABSENT, "no dose");
    expect(stab_fiber_register(&dose, 1) == STAB_ABSENT && stab_fiber_enter(&dose) == STAB_ABSENT, "no fibers");
  } else {
    return 2;
  }
  printf("%s ok\n", where);
  return 0;
}
