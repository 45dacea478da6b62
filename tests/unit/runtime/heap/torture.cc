// torture OPERATIONS [THREADS]: threads allocate, check, pass on and free blocks of all sizes and alignments,
// while others end and start and the process forks. Exit 0: every stamp was right and every heap consistent.
//
// Each block carries its size and a stamp made from its address, at its start and its end; whoever frees it
// checks them. Half of the blocks are freed by another thread than the one that allocated them. Now and then a thread
// gives back what nobody uses, of the others' heaps, too.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "runtime/heap/heap_api.h"
#include "runtime/heap/threads.h"

namespace {

using namespace stab::heap;

constexpr int kSlotsPerThread = 512;
constexpr int kExchange = 1024;
std::atomic<char*> exchange[kExchange];  // blocks on their way to another thread
std::atomic<bool> failed{false};

struct Random {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

struct Header {
  uint64_t stamp;
  uint64_t bytes;
};

uint64_t stamp_of(const char* block, uint64_t bytes) { return reinterpret_cast<uint64_t>(block) * 0x9e3779b97f4a7c15u ^ bytes; }

void complain(const char* what, const void* block) {
  fprintf(stderr, "torture: %s at %p\n", what, block);
  failed = true;
}

void sign(char* block, uint64_t bytes) {
  const Header header{stamp_of(block, bytes), bytes};
  memcpy(block, &header, sizeof header);
  memcpy(block + bytes - 8, &header.stamp, 8);
}

uint64_t verify(const char* block) {
  Header header;
  uint64_t tail = 0;
  memcpy(&header, block, sizeof header);
  if (header.stamp != stamp_of(block, header.bytes)) return complain("a changed start", block), 0;
  memcpy(&tail, block + header.bytes - 8, 8);
  if (tail != header.stamp) return complain("a changed end", block), 0;
  return header.bytes;
}

uint64_t draw_bytes(Random& random) {
  const uint64_t kind = random.next() % 1000;
  if (kind < 800) return 24 + random.next() % 240;
  if (kind < 970) return 24 + random.next() % 4000;
  if (kind < 998) return 24 + random.next() % 18000;
  return 24 + random.next() % 200000;
}

char* make(Random& random) {
  const uint64_t bytes = draw_bytes(random);
  char* block = nullptr;
  if (random.next() % 32 == 0) {
    const size_t alignment = size_t{32} << random.next() % 8;
    block = static_cast<char*>(stab_heap_memalign(alignment, bytes));
    if (reinterpret_cast<uintptr_t>(block) % alignment != 0) complain("a misaligned block", block);
  } else {
    block = static_cast<char*>(stab_heap_malloc(bytes));
    if (reinterpret_cast<uintptr_t>(block) % 16 != 0) complain("a misaligned block", block);
  }
  if (block == nullptr) {
    complain("no block", block);
    abort();
  }
  if (stab_heap_malloc_usable_size(block) < bytes) complain("a block that is too small", block);
  sign(block, bytes);
  return block;
}

void destroy(char* block) {
  if (block == nullptr) return;
  verify(block);
  stab_heap_free(block);
}

struct Worker {
  uint64_t seed;
  uint64_t operations;
};

void* work(void* argument) {
  const Worker* worker = static_cast<Worker*>(argument);
  Random random{worker->seed * 0x9e3779b97f4a7c15u + 1};
  char* mine[kSlotsPerThread] = {};
  for (uint64_t i = 0; i < worker->operations && !failed; ++i) {
    const uint64_t draw = random.next();
    if ((draw >> 40) % 16384 == 0) stab_heap_malloc_trim(0);
    char*& slot = mine[draw % kSlotsPerThread];
    if (slot == nullptr) {
      slot = make(random);
    } else if ((draw >> 20) % 16 == 0) {
      const uint64_t had = verify(slot);
      const uint64_t bytes = draw_bytes(random);
      char* moved = static_cast<char*>(stab_heap_realloc(slot, bytes));
      Header header;
      memcpy(&header, moved, sizeof header);
      if (header.bytes != had) complain("lost contents", moved);
      sign(moved, bytes);
      slot = moved;
    } else if ((draw >> 20) % 2 == 0) {
      destroy(exchange[(draw >> 30) % kExchange].exchange(slot));
      slot = nullptr;
    } else {
      destroy(slot);
      slot = nullptr;
    }
  }
  for (char* block : mine) destroy(block);
  if (my_heap != &no_heap && !my_heap->consistent()) complain("an inconsistent heap", my_heap);
  return nullptr;
}

// In a child of a threaded process: only what this thread does. Blocks of the threads that are gone are freed.
void fork_once(uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    for (auto& place : exchange) destroy(place.exchange(nullptr));
    Worker worker{seed, 3000};
    work(&worker);
    _exit(failed ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) complain("a failed child", nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t operations = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000000;
  const uint64_t threads = argc > 2 ? strtoull(argv[2], nullptr, 10) : 4;
  // Generations of threads, so that heaps are handed on.
  constexpr uint64_t kGenerations = 8;
  for (uint64_t generation = 0; generation < kGenerations && !failed; ++generation) {
    pthread_t handles[64];
    Worker workers[64];
    for (uint64_t i = 0; i < threads && i < 64; ++i) {
      workers[i] = {generation * 64 + i + 1, operations / kGenerations / threads};
      pthread_create(&handles[i], nullptr, work, &workers[i]);
    }
    for (uint64_t i = 0; i < 6; ++i) fork_once(generation * 100 + i + 1000);
    for (uint64_t i = 0; i < threads && i < 64; ++i) pthread_join(handles[i], nullptr);
    stab_heap_malloc_trim(0);
  }
  for (auto& place : exchange) destroy(place.exchange(nullptr));
  if (!failed) printf("torture: %llu operations\n", static_cast<unsigned long long>(operations));
  return failed ? 1 : 0;
}
