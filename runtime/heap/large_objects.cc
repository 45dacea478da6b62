// One lock guards all of it but copies: a mapping costs microseconds, a look into a hash table nothing beside it.
#include "runtime/heap/large_objects.h"

#include <string.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/os_memory.h"
#include "runtime/round_up.h"

namespace stab::heap {
namespace {

// At once: four additions beside a mapping.
void report(size_t bytes) {
  HeapDose& dose = control().heap;
  add(dose.mallocs);
  add(dose.bytes, bytes);
  add(dose.mallocs_mmapped);
  add(dose.bytes_mmapped, bytes);
  raise(dose.largest_mmapped, bytes);
}

}  // namespace

constinit LargeObjects large_objects;

void LargeObjects::configure(uint64_t seed, bool random) {
  draws_ = Draws(seed, ~uint64_t{0});
  random_ = random;
}

// One of `places`, a power of two.
uint32_t LargeObjects::place(uint32_t places) {
  if (random_) return draws_.below(places);
  staggered_ += kStagger;
  return staggered_ % places;
}

void* LargeObjects::allocate(size_t bytes, size_t alignment, bool& zeroed) {
  // Lines (or units of the alignment, if larger) that the object may start later than its mapping.
  const size_t step = alignment > kLine ? alignment : kLine;
  const size_t spread = step < kPage ? kPage - step : 0;
  const size_t spare = spread + (alignment > kPage ? alignment - kPage : 0);
  constexpr size_t kMost = PTRDIFF_MAX;
  if (alignment > kMost / 2 || bytes > kMost - spare - kPage) return nullptr;
  const size_t wanted = round_up(bytes + spare, kPage);

  Locked locked(lock_);
  if (bucket_count_ <= count_ && !grow_table()) return nullptr;
  Kept span{};
  zeroed = !take_kept(wanted, span);
  if (zeroed) {
    span = {os_map(wanted), wanted};
    while (span.start == nullptr && make_room()) span.start = os_map(wanted);
    if (span.start == nullptr) {
      zeroed = false;
      if (!take_waiting(wanted, SIZE_MAX, SIZE_MAX, span)) return nullptr;
    }
  }
  LargeObject* object = static_cast<LargeObject*>(shared.bookkeeping.allocate(sizeof(LargeObject)));
  if (object == nullptr) {
    unmap(span);
    return nullptr;
  }
  const uintptr_t start = reinterpret_cast<uintptr_t>(span.start);
  const size_t shift = round_up(start, alignment) - start;
  const size_t later = spread > 0 ? place(static_cast<uint32_t>(spread / step + 1)) * step : 0;
  *object = {span.start, span.bytes, span.start + shift + later, nullptr};
  insert(object);
  report(bytes);
  return object->user;
}

bool LargeObjects::free(void* user) {
  Locked locked(lock_);
  LargeObject* object = remove(user);
  if (object == nullptr) return false;
  const LargeObject freed = *object;
  shared.bookkeeping.free(object, sizeof(LargeObject));  // first: unmap() may want a record
  keep(freed.start, freed.bytes);
  return true;
}

size_t LargeObjects::usable(const void* user) {
  Locked locked(lock_);
  if (bucket_count_ == 0) return 0;
  for (LargeObject* object = *bucket_of(user); object != nullptr; object = object->next)
    if (object->user == user) return object->usable();
  return 0;
}

void* LargeObjects::resize(void* user, size_t bytes) {
  LargeObject* object = nullptr;
  Kept other{};
  {
    Locked locked(lock_);
    object = remove(user);
    if (object == nullptr) return nullptr;
    if (resize_in_place(object, bytes, other)) {
      insert(object);
      return object->user;
    }
    if (other.start == nullptr) {
      insert(object);
      return nullptr;
    }
  }
  return move(object, other, bytes);
}

// Where it is, or by moving its pages. False: `other` is the mapping to copy it to, if there is any.
bool LargeObjects::resize_in_place(LargeObject* object, size_t bytes, Kept& other) {
  const size_t offset = static_cast<size_t>(object->user - object->start);
  if (bytes > static_cast<size_t>(PTRDIFF_MAX) - offset - kPage) return false;
  const size_t wanted = round_up(offset + bytes, kPage);
  // A little smaller stays as it is.
  const size_t spare = object->bytes / 8 < kKeepAtLeast ? object->bytes / 8 : kKeepAtLeast;
  if (wanted <= object->bytes && object->bytes - wanted <= spare) return true;
  // Copying is cheaper than page faults, and what is left behind serves the next array that grows.
  if (wanted > object->bytes && take_kept(wanted, other)) return false;
  char* start = os_remap(object->start, object->bytes, wanted);
  while (start == nullptr && make_room()) start = os_remap(object->start, object->bytes, wanted);
  if (start == nullptr) {
    // A refusal to take a mapping apart: it stays whole, or there may be another way to grow.
    if (wanted > object->bytes) other = {os_map(wanted), wanted};
    return wanted <= object->bytes;
  }
  *object = {start, wanted, start + offset, nullptr};
  report(bytes);
  return true;
}

// Copies without the lock, which others may want meanwhile: nobody finds the object until it is inserted again.
void* LargeObjects::move(LargeObject* object, Kept to, size_t bytes) {
  const size_t offset = static_cast<size_t>(object->user - object->start);
  memcpy(to.start + offset, object->user, object->usable());
  Locked locked(lock_);
  keep(object->start, object->bytes);
  *object = {to.start, to.bytes, to.start + offset, nullptr};
  report(bytes);
  insert(object);
  return object->user;
}

bool LargeObjects::contains(const void* address) {
  Locked locked(lock_);
  const char* at = static_cast<const char*>(address);
  for (size_t i = 0; i < bucket_count_; ++i)
    for (LargeObject* object = buckets_[i]; object != nullptr; object = object->next)
      if (at >= object->start && at < object->start + object->bytes) return true;
  return false;
}

// The smallest kept one that fits and isn't more than a quarter too large.
bool LargeObjects::take_kept(size_t bytes, Kept& taken) {
  int best = -1;
  for (int i = 0; i < kept_count_; ++i) {
    if (kept_[i].bytes < bytes || kept_[i].bytes > bytes + bytes / 4) continue;
    if (best < 0 || kept_[i].bytes < kept_[best].bytes) best = i;
  }
  if (best < 0) {
    // Smaller ones of the same order are what a growing array left behind; nobody will want them again.
    for (int i = kept_count_; i-- > 0;)
      if (kept_[i].bytes < bytes && kept_[i].bytes >= bytes / 4 && bytes > kKeepBytes / 8) drop_kept(i);
    return take_waiting(bytes, bytes + bytes / 4, kWaitingLooks, taken);
  }
  taken = kept_[best];
  kept_bytes_ -= taken.bytes;
  memmove(&kept_[best], &kept_[best + 1], static_cast<size_t>(--kept_count_ - best) * sizeof(Kept));
  return true;
}

// Kept mappings one by one, then regions of small objects that nobody uses.
bool LargeObjects::make_room() {
  if (kept_count_ == 0) return shared.space.give_back();
  drop_kept(0);
  return true;
}

void LargeObjects::drop_kept(int index) {
  const Kept dropped = kept_[index];
  kept_bytes_ -= dropped.bytes;
  memmove(&kept_[index], &kept_[index + 1], static_cast<size_t>(--kept_count_ - index) * sizeof(Kept));
  unmap(dropped);
}

void LargeObjects::unmap(Kept span) {
  if (os_unmap(span.start, span.bytes)) {
    unmap_waiting(2);  // more than one, so that they grow fewer
    return;
  }
  LargeObject* waiting = static_cast<LargeObject*>(shared.bookkeeping.allocate(sizeof(LargeObject)));
  if (waiting == nullptr) return;  // lost address space, but no memory
  *waiting = {span.start, span.bytes, nullptr, nullptr};
  *waiting_end_ = waiting;
  waiting_end_ = &waiting->next;
  ++waiting_count_;
}

// Tries the oldest ones; what is refused again goes to the end. True if any went.
bool LargeObjects::unmap_waiting(size_t count) {
  bool any = false;
  for (count = count < waiting_count_ ? count : waiting_count_; count > 0; --count) {
    LargeObject* oldest = waiting_;
    waiting_ = oldest->next;
    if (waiting_ == nullptr) waiting_end_ = &waiting_;
    if (os_unmap(oldest->start, oldest->bytes)) {
      shared.bookkeeping.free(oldest, sizeof(LargeObject));
      --waiting_count_;
      any = true;
      continue;
    }
    oldest->next = nullptr;
    *waiting_end_ = oldest;
    waiting_end_ = &oldest->next;
  }
  return any;
}

// The first of `bytes` to `most` among so many.
bool LargeObjects::take_waiting(size_t bytes, size_t most, size_t looks, Kept& taken) {
  for (LargeObject** at = &waiting_; *at != nullptr && looks > 0; at = &(*at)->next, --looks) {
    LargeObject* found = *at;
    if (found->bytes < bytes || found->bytes > most) continue;
    taken = {found->start, found->bytes};
    *at = found->next;
    if (*at == nullptr) waiting_end_ = at;
    --waiting_count_;
    shared.bookkeeping.free(found, sizeof(LargeObject));
    return true;
  }
  return false;
}

size_t LargeObjects::keep_limit() const {
  size_t limit = kKeepAtLeast;
  if (limit < 2 * largest_kept_) limit = 2 * largest_kept_;
  if (limit < live_bytes_ / 2) limit = live_bytes_ / 2;
  return limit < kKeepBytes ? limit : kKeepBytes;
}

void LargeObjects::keep(char* start, size_t bytes) {
  if (bytes > kKeepBytes) return unmap({start, bytes});
  if (bytes > largest_kept_) largest_kept_ = bytes;
  const size_t limit = keep_limit();
  while (kept_count_ == kMostKept || kept_bytes_ + bytes > limit) drop_kept(0);
  kept_[kept_count_++] = {start, bytes};
  kept_bytes_ += bytes;
}

bool LargeObjects::trim() {
  Locked locked(lock_);
  const bool any = kept_count_ > 0;
  while (kept_count_ > 0) drop_kept(0);
  return unmap_waiting(waiting_count_) || any;
}

// pre: the table exists.
LargeObject** LargeObjects::bucket_of(const void* user) {
  return &buckets_[mix(reinterpret_cast<uintptr_t>(user) / kPage) & (bucket_count_ - 1)];
}

void LargeObjects::insert(LargeObject* object) {
  LargeObject** bucket = bucket_of(object->user);
  object->next = *bucket;
  *bucket = object;
  ++count_;
  live_bytes_ += object->bytes;
}

LargeObject* LargeObjects::remove(const void* user) {
  if (bucket_count_ == 0) return nullptr;
  for (LargeObject** at = bucket_of(user); *at != nullptr; at = &(*at)->next) {
    if ((*at)->user != user) continue;
    LargeObject* found = *at;
    *at = found->next;
    --count_;
    live_bytes_ -= found->bytes;
    return found;
  }
  return nullptr;
}

bool LargeObjects::grow_table() {
  const size_t old_count = bucket_count_;
  LargeObject** old = buckets_;
  const size_t new_count = old_count == 0 ? 512 : old_count * 2;
  void* made = shared.bookkeeping.allocate(new_count * sizeof(LargeObject*));
  if (made == nullptr) return old_count != 0;  // longer chains are better than a refusal
  buckets_ = static_cast<LargeObject**>(made);
  bucket_count_ = new_count;
  count_ = 0;
  live_bytes_ = 0;
  for (size_t i = 0; i < old_count; ++i)
    for (LargeObject *object = old[i], *after; object != nullptr; object = after) {
      after = object->next;
      insert(object);
    }
  if (old != nullptr) shared.bookkeeping.free(old, old_count * sizeof(LargeObject*));
  return true;
}

}  // namespace stab::heap
