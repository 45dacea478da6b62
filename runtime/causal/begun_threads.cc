// Threads that the program begins: each is counted before it runs, and samples itself.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/interposed.h"
#include "runtime/causal/moment.h"

// Those that are defined here.
#define STAB_THREADS(ONE) ONE(pthread_create) ONE(thrd_create)
STAB_THREADS(STAB_KEPT)

namespace stab::causal {

void find_real_threads() { STAB_THREADS(STAB_FIND) }

namespace {

pthread_key_t end_key;
bool end_key_made = false;

void thread_ends(void*) {
  if (program.is_silent) return;
  leave();
  end_thread_sampling();
  free_alternate_stack();
}

struct Start {
  void* (*function)(void*);
  int (*plain)(void*);
  void* argument;
  bool blocks_trap;  // its creator, which it takes after
};

void* enter_thread(void* given) {
  const Start start = *static_cast<Start*>(given);
  free(given);
  if (is_profiled()) {  // not where the program has gone into a sandbox meanwhile
    give_alternate_stack();
    unblock_trap(start.blocks_trap);
    arrive();
    start_thread_sampling();
    if (end_key_made) pthread_setspecific(end_key, &self);
  }
  if (start.plain != nullptr) return reinterpret_cast<void*>(static_cast<intptr_t>(start.plain(start.argument)));
  return start.function(start.argument);
}
int enter_plain_thread(void* given) { return static_cast<int>(reinterpret_cast<intptr_t>(enter_thread(given))); }

// The memory goes with the thread. nullptr: none is left, and the thread starts without us.
Start* start_of(void* (*function)(void*), int (*plain)(void*), void* argument) {
  auto* start = static_cast<Start*>(malloc(sizeof(Start)));
  if (start != nullptr) *start = {function, plain, argument, self.blocks_trap};
  return start;
}

}  // namespace

// In the thread that attached.
void follow_threads() {
  if (!end_key_made) end_key_made = pthread_key_create(&end_key, thread_ends) == 0;
  if (end_key_made) pthread_setspecific(end_key, &self);
}

}  // namespace stab::causal

STAB_INTERPOSED(int, pthread_create,
                (pthread_t * thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument)) {
  using namespace stab::causal;
  STAB_REAL(pthread_create, int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*));
  Start* const start = is_profiled() ? start_of(function, nullptr, argument) : nullptr;
  if (start == nullptr) return real(thread, attributes, function, argument);
  pay_first();
  count_threads(*program.area, *program.process, 1);
  const int failed = real(thread, attributes, enter_thread, start);
  if (failed != 0) {
    count_threads(*program.area, *program.process, -1);
    free(start);
  }
  return failed;
}

STAB_INTERPOSED(int, thrd_create, (thrd_t * thread, thrd_start_t function, void* argument)) {
  using namespace stab::causal;
  STAB_REAL(thrd_create, int (*)(thrd_t*, thrd_start_t, void*));
  Start* const start = is_profiled() ? start_of(nullptr, function, argument) : nullptr;
  if (start == nullptr) return real(thread, function, argument);
  pay_first();
  count_threads(*program.area, *program.process, 1);
  const int failed = real(thread, enter_plain_thread, start);
  if (failed != thrd_success) {
    count_threads(*program.area, *program.process, -1);
    free(start);
  }
  return failed;
}
