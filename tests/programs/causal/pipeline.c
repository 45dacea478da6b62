/* One producer, 1.0 ms an item, and one consumer, 1.3 ms, with a queue of 8 between them. On two CPUs an item takes
 * max(a, b), on one a + b. */
#include "work.h"

LINE(line_a)
LINE(line_b)

enum { kRoom = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_item = PTHREAD_COND_INITIALIZER, has_room = PTHREAD_COND_INITIALIZER;
static int items = 0, ended = 0;

static void* produce(void* nothing) {
  const uint64_t mine = rounds("line_a", 1000);
  while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < run_seconds) {
    line_a(mine);
    pthread_mutex_lock(&lock);
    while (items == kRoom) pthread_cond_wait(&has_room, &lock);
    items++;
    pthread_cond_signal(&has_item);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  ended = 1;
  pthread_cond_signal(&has_item);
  pthread_mutex_unlock(&lock);
  return nothing;
}

int main(int argc, char** argv) {
  read_options(argc, argv, line_a);
  const uint64_t mine = rounds("line_b", 1300);
  pthread_t thread;
  if (pthread_create(&thread, NULL, produce, NULL) != 0) return 1;
  long done = 0;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (items == 0 && !ended) pthread_cond_wait(&has_item, &lock);
    if (items == 0) break;
    items--;
    pthread_cond_signal(&has_room);
    pthread_mutex_unlock(&lock);
    line_b(mine);
    COZ_PROGRESS_NAMED("round");
    done++;
  }
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  printf("%ld rounds\n", done);
  return 0;
}
