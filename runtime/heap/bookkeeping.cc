// Records are few sizes, many times: arrays of groups (one length a class), lists that double. A bump pointer
// with a list of unused records for each size in lines is enough; nothing is given back but large ones.
#include "runtime/heap/bookkeeping.h"

#include <string.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/os_memory.h"
#include "runtime/round_up.h"

namespace stab::heap {
namespace {

// Under a limit that was lowered, what small objects have reserved beyond their part may be in the way.
// pre: the locks of Bookkeeping and of RunSpace are not held.
char* map_or_make_room(size_t bytes) {
  char* got = os_map(bytes);
  return got == nullptr && shared.space.give_back() ? os_map(bytes) : got;
}

}  // namespace

void* Bookkeeping::allocate(size_t bytes) {
  if (bytes > kLargestPooled) return map_or_make_room(round_up(bytes, 4096));
  const size_t units = round_up(bytes, kUnit) / kUnit;
  if (void* got = take(units)) return got;
  char* chunk = map_or_make_room(kChunkBytes);
  if (chunk == nullptr) return nullptr;
  {
    Locked locked(lock_);
    next_ = chunk;  // what another thread has mapped meanwhile stays unused: a chunk at most
    left_ = kChunkBytes;
  }
  return allocate(bytes);
}

// Null: a chunk is needed.
void* Bookkeeping::take(size_t units) {
  Locked locked(lock_);
  if (Unused* reused = unused_[units]) {
    unused_[units] = reused->next;
    return memset(reused, 0, units * kUnit);
  }
  if (left_ < units * kUnit) return nullptr;
  char* made = next_;
  next_ += units * kUnit;
  left_ -= units * kUnit;
  return made;
}

void Bookkeeping::free(void* record, size_t bytes) {
  if (bytes > kLargestPooled) {
    os_unmap(static_cast<char*>(record), round_up(bytes, 4096));
    return;
  }
  const size_t units = round_up(bytes, kUnit) / kUnit;
  Locked locked(lock_);
  Unused* unused = static_cast<Unused*>(record);
  unused->next = unused_[units];
  unused_[units] = unused;
}

}  // namespace stab::heap
