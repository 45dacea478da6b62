// LargeObjects: requests above the largest class, a mapping each, at a random line of its first page; in `base` a
// fixed number of lines later than the one before.
//
// Mappings start at page boundaries, so without that the first line of every large array would share one set
// of the L1 and a few of the L2, and loads from one array would seem to depend on stores to another. Freed
// mappings are kept for a while, because a program that allocates and frees a buffer in a loop would otherwise
// pay for fresh zeroed pages each time; a bounded number of bytes. Neighbours among mappings are one to the kernel, and
// it may refuse to unmap a part of it: such spans cost no pages and wait, to be used or unmapped later.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/heap/bookkeeping.h"
#include "runtime/heap/heap_draws.h"

namespace stab::heap {

// start <= user, user + usable() == start + bytes.
struct LargeObject {
  char* start;
  size_t bytes;
  char* user;
  LargeObject* next;  // of its bucket
  size_t usable() const { return static_cast<size_t>(start + bytes - user); }
};

class LargeObjects {
 public:
  // Before the first allocation. random: off for `base`.
  void configure(uint64_t seed, bool random);

  // alignment: power of two. zeroed: the memory reads as zero. Null: no memory, or more than PTRDIFF_MAX.
  void* allocate(size_t bytes, size_t alignment, bool& zeroed);
  // False: not the start of a live large object.
  bool free(void* user);
  // 0: not the start of a live large object.
  size_t usable(const void* user);
  // Grows or shrinks, perhaps elsewhere; contents stay. Null: nothing changed.
  void* resize(void* user, size_t bytes);
  // The live object an address lies in, for messages.
  bool contains(const void* address);

  // Unmaps what is kept, and what could not be unmapped before. True if there was anything.
  bool trim();
  void branch(uint64_t which) { draws_.branch(which); }

  Lock& lock() { return lock_; }

 private:
  struct Kept {
    char* start;
    size_t bytes;
  };
  static constexpr int kMostKept = 32;
  // How much is kept: as glibc, which trims above twice the largest block freed so far, up to 32 MiB; half of what is
  // in use, for programs with many buffers; at least 2 MiB. With 32 MiB in any case Lua's dead tables took twice the
  // memory of all the rest, at no gain.
  static constexpr size_t kKeepBytes = size_t{32} << 20;
  static constexpr size_t kKeepAtLeast = size_t{2} << 20;
  size_t keep_limit() const;
  // Waiting spans that one allocation looks at: there may be tens of thousands, most of the same size.
  static constexpr size_t kWaitingLooks = 64;

  bool resize_in_place(LargeObject* object, size_t bytes, Kept& other);
  void* move(LargeObject* object, Kept to, size_t bytes);
  // What frees address space when the system refuses some. False: nothing is left to free.
  bool make_room();
  bool take_kept(size_t bytes, Kept& taken);
  void drop_kept(int index);
  void keep(char* start, size_t bytes);
  void unmap(Kept span);
  bool unmap_waiting(size_t count);
  bool take_waiting(size_t bytes, size_t most, size_t looks, Kept& taken);
  uint32_t place(uint32_t places);
  LargeObject** bucket_of(const void* user);
  void insert(LargeObject* object);
  LargeObject* remove(const void* user);
  bool grow_table();

  Lock lock_;
  Draws draws_;
  bool random_ = false;
  // Odd, so that all lines come up; few arrays that are made together then lie some 500 bytes apart.
  static constexpr uint32_t kStagger = 9;
  uint32_t staggered_ = 0;
  LargeObject** buckets_ = nullptr;  // by page of user, a power of two of them
  size_t bucket_count_ = 0;
  size_t count_ = 0;
  Kept kept_[kMostKept] = {};  // oldest first
  int kept_count_ = 0;
  size_t kept_bytes_ = 0;
  size_t largest_kept_ = 0;  // ever
  size_t live_bytes_ = 0;    // of the objects in the table
  LargeObject* waiting_ = nullptr;  // spans that the system refused to unmap, without their pages; oldest first
  LargeObject** waiting_end_ = &waiting_;
  size_t waiting_count_ = 0;
};
extern LargeObjects large_objects;

}  // namespace stab::heap
