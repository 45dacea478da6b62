// The reservation is far larger than any use of it: PROT_NONE costs neither memory nor commit charge, and a
// pool becomes usable by one mprotect. Where the system refuses (ulimit -v, valgrind), the request is halved
// until it is granted, and further regions are added when the first is full, each again of the full size first: a
// shortage may have passed, and regions are few. An address in one of those is found by a short search instead of one
// comparison.
#include "runtime/heap/run_space.h"

#include <string.h>

#include "runtime/heap/bit_count.h"
#include "runtime/heap/os_memory.h"
#include "runtime/round_up.h"

namespace stab::heap {
namespace {

constexpr size_t kRecordsPerPool = sizeof(Run) * kRunsPerPool;
static_assert(kRecordsPerPool == kPage);

size_t pool_list_bytes(size_t region_bytes) {
  return round_up(region_bytes / kPoolBytes * sizeof(uint64_t[3]), kPage);
}

// Of a set of runs that isn't empty, the highest and those that lie below it without a gap.
uint64_t highest_neighbours(uint64_t runs) {
  const int top = 63 - __builtin_clzll(runs);
  int bottom = top;
  while (bottom > 0 && (runs >> (bottom - 1) & 1) != 0) --bottom;
  const int count = top - bottom + 1;
  return (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bottom;
}

}  // namespace

bool RunSpace::open() {
  Locked locked(lock_);
  heed_limit();
  return add_region(next_region_bytes_) != nullptr;
}

// Under a limit take a part of it: stacks, libraries and large objects need theirs.
void RunSpace::heed_limit() {
  next_region_bytes_ = kFirstRegionBytes;
  const size_t limit = os_address_space_limit();
  while (next_region_bytes_ > kPoolBytes && next_region_bytes_ > limit / 16) next_region_bytes_ /= 2;
}

// The first that is not in use; null: too many are.
RunSpace::Region* RunSpace::region_to_fill() {
  if (region_count_ == 0) return &first_;
  for (uint32_t i = 1; i < region_count_; ++i)
    if (more_[i - 1].bytes == 0) return &more_[i - 1];
  return region_count_ > kMaxRegions ? nullptr : &more_[region_count_ - 1];
}

RunSpace::Region* RunSpace::add_region(size_t bytes) {
  Region* const added = region_to_fill();
  if (added == nullptr) return nullptr;
  char* base = nullptr;
  char* records = nullptr;
  for (; bytes >= kPoolBytes; bytes /= 2) {
    base = os_reserve(bytes, kPoolBytes);
    if (base == nullptr) continue;
    records = os_reserve(bytes / kPoolBytes * kRecordsPerPool, kPage);
    if (records != nullptr) break;
    os_unmap(base, bytes);
    base = nullptr;
  }
  if (base == nullptr) return nullptr;
  char* pools = os_map(pool_list_bytes(bytes));
  if (pools == nullptr) {
    os_unmap(base, bytes);
    os_unmap(records, bytes / kPoolBytes * kRecordsPerPool);
    return nullptr;
  }
  static_assert(sizeof(Pool) == sizeof(uint64_t[3]));
  Region& region = *added;
  __atomic_store_n(&region.runs, reinterpret_cast<Run*>(records), __ATOMIC_RELEASE);
  region.pools = reinterpret_cast<Pool*>(pools);
  region.opened = 0;
  region.first_with_free = 0;
  __atomic_store_n(&region.base, base, __ATOMIC_RELEASE);
  region.bytes = bytes;
  __atomic_store_n(&region.version, (region.version + 1) & ~1u, __ATOMIC_RELEASE);
  if (added == &first_ || added == &more_[region_count_ - 1])
    __atomic_store_n(&region_count_, region_count_ + 1, __ATOMIC_RELEASE);
  return added;
}

bool RunSpace::open_pool(Region& region) {
  const uint32_t index = region.opened;
  if (index == region.pool_count()) return false;
  if (!os_commit(reinterpret_cast<char*>(region.runs) + index * kRecordsPerPool, kRecordsPerPool)) return false;
  // Near a limit of data (ulimit -d), a part of the pool: the rest of it stays unused.
  int runs = kRunsPerPool;
  while (!os_commit(region.base + index * kPoolBytes, static_cast<size_t>(runs) * kRunBytes))
    if ((runs /= 2) == 0) return false;
  region.pools[index] = Pool{~uint64_t{0} >> (kRunsPerPool - runs), 0, 0};
  ++region.opened;
  __atomic_store_n(&region.usable, region.opened * kPoolBytes, __ATOMIC_RELEASE);
  return true;
}

RunSpace::Region* RunSpace::region_with_free() {
  for (uint32_t i = 0; i < region_count_; ++i) {
    Region& region = i == 0 ? first_ : more_[i - 1];
    while (region.first_with_free < region.opened && region.pools[region.first_with_free].free == 0)
      ++region.first_with_free;
    if (region.first_with_free < region.opened || open_pool(region)) return &region;
    if (region.opened < region.pool_count()) return nullptr;  // refused: another region would be, too
  }
  Region* added = add_region(next_region_bytes_);
  return added != nullptr && open_pool(*added) ? added : nullptr;
}

RunSpace::Acquired RunSpace::acquire(Choice choice, Draws& draws) {
  Locked locked(lock_);
  Region* region = region_with_free();
  if (region == nullptr) return {};
  Pool& pool = region->pools[region->first_with_free];
  uint64_t candidates = pool.free;
  const bool reuse = choice == Choice::kReuse || (choice == Choice::kTurn && dirty_runs_ >= kDirtyAllowance);
  if (reuse && pool.dirty != 0) candidates = pool.dirty;
  const int index = choice == Choice::kLowest ? __builtin_ctzll(candidates) : draw_bit(draws, candidates);
  const uint64_t bit = uint64_t{1} << index;
  const bool clean = (pool.dirty & bit) == 0;
  if (!clean) --dirty_runs_;
  if ((pool.kept & bit) != 0) --kept_runs_;
  pool.free &= ~bit;
  pool.dirty &= ~bit;
  pool.kept &= ~bit;
  ++used_runs_;
  const size_t number = size_t{region->first_with_free} * kRunsPerPool + static_cast<size_t>(index);
  Run* run = static_cast<Run*>(memset(&region->runs[number], 0, sizeof(Run)));
  return {run, region->base + number * kRunBytes, clean};
}

void RunSpace::release(Run* run) {
  Locked locked(lock_);
  for (uint32_t i = 0; i < region_count_; ++i) {
    Region& region = i == 0 ? first_ : more_[i - 1];
    const size_t number = static_cast<size_t>(run - region.runs);
    if (run < region.runs || number >= region.bytes / kRunBytes) continue;
    const uint32_t index = static_cast<uint32_t>(number / kRunsPerPool);
    const uint64_t bit = uint64_t{1} << (number % kRunsPerPool);
    region.pools[index].free |= bit;
    region.pools[index].dirty |= bit;
    if (index < region.first_with_free) region.first_with_free = index;
    --used_runs_;
    ++dirty_runs_;
    // An eighth of what is in use: a heap that breathes keeps its pages, one that shrinks gives them back.
    const uint64_t allowance = kDirtyAllowance + used_runs_ / 8;
    if (dirty_runs_ <= allowance) return;
    demote(allowance / 2);
    const uint64_t most = most_kept();
    if (kept_runs_ > most) purge(most - most / 4);
    return;
  }
}

uint64_t RunSpace::most_kept() const {
  const uint64_t allowance = kKeptAllowance + used_runs_ / 2;
  return allowance < kMostKept ? allowance : kMostKept;
}

template <class Act>
void RunSpace::lower(uint64_t Pool::*set, uint64_t& count, uint64_t most, const Act& act) {
  for (uint32_t i = region_count_; i-- > 0;) {
    Region& region = i == 0 ? first_ : more_[i - 1];
    for (uint32_t index = region.opened; index-- > 0;) {
      Pool& pool = region.pools[index];
      while (pool.*set != 0) {
        if (count <= most) return;
        const uint64_t bits = highest_neighbours(pool.*set);
        pool.*set &= ~bits;
        count -= static_cast<uint64_t>(bit_count(bits));
        act(pool, region.base + index * kPoolBytes + static_cast<size_t>(__builtin_ctzll(bits)) * kRunBytes, bits);
      }
    }
  }
}

// Until at most so many runs are dirty. The others keep their pages, and are drawn like clean ones. Neighbours are kept together,
// also those that are too many: they will be given back in one call.
void RunSpace::demote(uint64_t most_dirty) {
  lower(&Pool::dirty, dirty_runs_, most_dirty, [this](Pool& pool, char*, uint64_t bits) {
    pool.kept |= bits;
    kept_runs_ += static_cast<uint64_t>(bit_count(bits));
  });
}

// Gives pages back, until at most so many runs keep theirs that are not dirty.
void RunSpace::purge(uint64_t most_kept) {
  lower(&Pool::kept, kept_runs_, most_kept, [](Pool&, char* start, uint64_t bits) {
    os_purge(start, static_cast<size_t>(bit_count(bits)) * kRunBytes);
  });
}

bool RunSpace::trim() {
  Locked locked(lock_);
  const bool any = dirty_runs_ + kept_runs_ > 0;
  demote(0);
  purge(0);
  return any;
}

bool RunSpace::give_back() {
  Locked locked(lock_);
  bool any = false;
  for (uint32_t i = 1; i < region_count_; ++i) {
    Region& region = more_[i - 1];
    uint32_t unused = 0;
    while (unused < region.opened && region.pools[unused].free == ~uint64_t{0}) ++unused;
    if (region.bytes == 0 || unused < region.opened) continue;
    unmap(region);
    any = true;
  }
  return cut_first() || any;
}

// A process may lower its own limit: what the first region has reserved beyond its part and never opened is in its way
// then. Without that it stays whole, however large a request is refused: what lies outside of it is freed slowly.
bool RunSpace::cut_first() {
  heed_limit();
  const size_t opened = first_.opened * kPoolBytes;
  const size_t kept = opened > next_region_bytes_ ? opened : next_region_bytes_;
  if (first_.bytes <= kept) return false;
  os_unmap(first_.base + kept, first_.bytes - kept);
  os_unmap(reinterpret_cast<char*>(first_.runs) + kept / kPoolBytes * kRecordsPerPool,
           (first_.bytes - kept) / kPoolBytes * kRecordsPerPool);
  first_.bytes = kept;
  return true;
}

// pre: every run is free.
void RunSpace::unmap(Region& region) {
  __atomic_store_n(&region.version, region.version + 1, __ATOMIC_RELAXED);  // seen by whoever sees what follows
  __atomic_store_n(&region.usable, 0, __ATOMIC_RELEASE);
  for (uint32_t pool = 0; pool < region.opened; ++pool) {
    dirty_runs_ -= static_cast<uint64_t>(bit_count(region.pools[pool].dirty));
    kept_runs_ -= static_cast<uint64_t>(bit_count(region.pools[pool].kept));
  }
  os_unmap(region.base, region.bytes);
  os_unmap(reinterpret_cast<char*>(region.runs), region.pool_count() * kRecordsPerPool);
  os_unmap(reinterpret_cast<char*>(region.pools), pool_list_bytes(region.bytes));
  region.bytes = 0;
  region.opened = 0;
  region.first_with_free = 0;
}

Run* RunSpace::find_elsewhere(const void* address) const {
  const uint32_t count = __atomic_load_n(&region_count_, __ATOMIC_ACQUIRE);
  for (uint32_t i = 1; i < count; ++i) {
    const Region& region = more_[i - 1];
    for (;;) {
      const uint32_t version = __atomic_load_n(&region.version, __ATOMIC_ACQUIRE);
      const size_t usable = __atomic_load_n(&region.usable, __ATOMIC_ACQUIRE);
      const char* base = __atomic_load_n(&region.base, __ATOMIC_ACQUIRE);
      Run* runs = __atomic_load_n(&region.runs, __ATOMIC_ACQUIRE);
      if (version != __atomic_load_n(&region.version, __ATOMIC_ACQUIRE)) continue;
      const size_t at = static_cast<size_t>(static_cast<const char*>(address) - base);
      if (version % 2 == 0 && at < usable) return &runs[at / kRunBytes];
      break;
    }
  }
  return nullptr;
}

}  // namespace stab::heap
