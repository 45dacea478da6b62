/* A pointer to a function is one value, wherever it is made: in tables, code that moves and code that stays, threads' variables,
   assembly, a library, by dlsym. Where code is direct, those that nobody else can make lead to a copy.
   flags: -rdynamic -ldl -pthread
   library: -DLIBRARY
   not: -static -static-pie */
#define _GNU_SOURCE
#ifdef LIBRARY
extern int exported(int);
int (*from_library(void))(int) { return exported; }
#else
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include "repeat.h"
typedef int (*Function)(int);
/* No function is so short that it stays. */
static volatile int zero;
static inline int work(int x) { return x + zero * x; }
NOINLINE int exported(int x) { return work(x + 1); }
NOINLINE static int table_only(int x) { return work(x * 2); }
NOINLINE static int data_only(int x) { return work(x * 17); }
NOINLINE static int of_thread(int x) { return work(x * 3); }
NOINLINE static int of_code_that_stays(int x) { return work(x * 5); }
NOINLINE static int of_assembly(int x) __attribute__((used));
NOINLINE static int of_assembly(int x) { return work(x * 7); }
NOINLINE static int counted_by_distance(int x) __attribute__((used));
NOINLINE static int counted_by_distance(int x) { return work(x * 11); }
NOINLINE static int written_early(int x) { return work(x * 13); }
static Function const table[] = {table_only, exported, of_thread, of_code_that_stays, written_early};
static Function volatile changed = data_only;
static __thread Function volatile mine = of_thread;
__asm__(".pushsection .data.words,\"aw\"\n.globl of_assembly_word\nof_assembly_word: .quad of_assembly\n"
        ".globl distance_word\ndistance_word: .long counted_by_distance - .\n.popsection\n");
extern Function of_assembly_word;
extern int distance_word;
extern char __executable_start, etext;
static jmp_buf place;
/* Calls setjmp, so it never moves. */
NOINLINE static Function made_by_code_that_stays(void) {
  if (setjmp(place)) return 0;
  return of_code_that_stays;
}
NOINLINE static Function made_by_code_that_moves(int which) {
  switch (which) {
    case 0: return table_only;
    case 1: return exported;
    case 2: return of_thread;
    case 3: return of_code_that_stays;
    case 4: return of_assembly;
    default: return counted_by_distance;
  }
}
static volatile sig_atomic_t signals;
static void on_signal(int number) { signals += number == SIGUSR1; }
static void* of_other_thread(void* unused) {
  (void)unused;
  return (void*)mine;
}
static int is_copy(Function f) { return (char*)f < &__executable_start || (char*)f >= &etext; }
int main(void) {
  const char* code = getenv("STAB_CODE");
  const int direct = code && strcmp(code, "direct") == 0;
  void* const library = dlopen("./library.so", RTLD_NOW);
  CHECK(library);
  Function (*const from_library)(void) = (Function (*)(void))dlsym(library, "from_library");
  CHECK(from_library);
  CHECK(is_copy(changed) == direct);  /* of others code makes the address, which at a fixed one can't lead elsewhere */
  CHECK(!is_copy(exported));
  CHECK(!is_copy(made_by_code_that_stays()));
  CHECK(!is_copy(mine));
  REPEAT {
    for (int i = 0; i < 4; ++i) CHECK(made_by_code_that_moves(i) == table[i] && table[i](2) == made_by_code_that_moves(i)(2));
    CHECK(changed(2) == 34 && table[4](1) == 13);
    CHECK(from_library() == exported && from_library()(1) == 2 && dlsym(RTLD_DEFAULT, "exported") == (void*)table[1]);
    CHECK(made_by_code_that_stays() == made_by_code_that_moves(3) && mine == made_by_code_that_moves(2));
    CHECK(of_assembly_word == made_by_code_that_moves(4) && of_assembly_word(1) == 7);
    CHECK((Function)((intptr_t)&distance_word + distance_word) == made_by_code_that_moves(5));
    CHECK((uintptr_t)table[0] % 16 == (uintptr_t)table_only % 16);
    pthread_t thread;
    void* theirs = 0;
    CHECK(pthread_create(&thread, 0, of_other_thread, 0) == 0 && pthread_join(thread, &theirs) == 0 && theirs == (void*)mine);
    const int before = signals;
    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR && raise(SIGUSR1) == 0 && signals == before + 1);
    struct sigaction action;
    CHECK(sigaction(SIGUSR1, 0, &action) == 0 && action.sa_handler == on_signal);
    Dl_info info;
    CHECK(dladdr((void*)(uintptr_t)exported, &info) && strcmp(info.dli_sname, "exported") == 0);
  }
  puts("pointers of all ok");
}
#endif
