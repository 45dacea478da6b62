// The system's side of the heap: nothing else in this folder maps memory. See os_memory.h for the contracts.
#include "runtime/heap/os_memory.h"

#include <stdint.h>
#include <sys/resource.h>

#include "runtime/sys.h"

namespace stab::heap {
namespace {

char* map(size_t bytes, int protection, int flags) {
  void* got = sys::map(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags);
  return sys::is_address(got) ? static_cast<char*>(got) : nullptr;
}

// 24 TiB below what the kernel chooses, and so as random. The kernel lays what a program maps, and all libraries, within one TiB,
// of which the heap's space is a large part. A program that wants a mapping where another process had it would often find it
// taken.
char* reserve_aside(size_t bytes) {
  constexpr uintptr_t kAside = uintptr_t{24} << 40;
  char* const chosen = map(bytes, PROT_NONE, MAP_NORESERVE);
  if (reinterpret_cast<uintptr_t>(chosen) <= kAside) return chosen;
  void* const aside = sys::map(chosen - kAside, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (!sys::is_address(aside)) return chosen;
  sys::unmap(chosen, bytes);
  return static_cast<char*>(aside);
}

}  // namespace

char* os_reserve(size_t bytes, size_t alignment) {
  if (bytes + alignment < bytes) return nullptr;
  char* got = reserve_aside(bytes + alignment);
  if (got == nullptr) return nullptr;
  const uintptr_t at = reinterpret_cast<uintptr_t>(got);
  const size_t head = (alignment - at % alignment) % alignment;
  if (head > 0) sys::unmap(got, head);
  sys::unmap(got + head + bytes, alignment - head);
  return got + head;
}

bool os_commit(char* start, size_t bytes) {
  return sys::call(SYS_mprotect, sys::word(start), static_cast<long>(bytes), PROT_READ | PROT_WRITE) == 0;
}

char* os_map(size_t bytes) { return map(bytes, PROT_READ | PROT_WRITE, 0); }

bool os_unmap(char* start, size_t bytes) {
  if (sys::unmap(start, bytes) == 0) return true;
  os_purge(start, bytes);
  return false;
}

char* os_remap(char* start, size_t old_bytes, size_t new_bytes) {
  const long got = sys::call(SYS_mremap, sys::word(start), static_cast<long>(old_bytes),
                             static_cast<long>(new_bytes), MREMAP_MAYMOVE);
  void* address = reinterpret_cast<void*>(got);
  return sys::is_address(address) ? static_cast<char*>(address) : nullptr;
}

void os_purge(char* start, size_t bytes) {
  sys::call(SYS_madvise, sys::word(start), static_cast<long>(bytes), MADV_DONTNEED);
}

void os_populate(char* start, size_t bytes) {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers don't name
  sys::call(SYS_madvise, sys::word(start), static_cast<long>(bytes), kPopulateWrite);
}

size_t os_address_space_limit() {
  struct rlimit limit {};
  if (sys::call(SYS_prlimit64, 0, RLIMIT_AS, 0, sys::word(&limit)) != 0) return SIZE_MAX;
  return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : limit.rlim_cur;
}

}  // namespace stab::heap
