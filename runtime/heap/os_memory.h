// The memory calls of the system, each with its contract. All keep errno; sizes and addresses are multiples
// of the page; a refusal is a null pointer or false, never a signal or an exit.
#pragma once

#include <stddef.h>

namespace stab::heap {

// Address space that nobody may touch yet: costs no memory and no commit charge. alignment: power of two.
char* os_reserve(size_t bytes, size_t alignment);
// Makes reserved space readable and writable; it reads as zero.
bool os_commit(char* start, size_t bytes);
// Readable, writable, zero.
char* os_map(size_t bytes);
// False: refused, because a mapping would fall into two and the process has vm.max_map_count of them. The address space
// stays, readable and writable as it was; its pages are given back all the same.
bool os_unmap(char* start, size_t bytes);
// Resizes a mapping, perhaps elsewhere; null leaves it as it was.
char* os_remap(char* start, size_t old_bytes, size_t new_bytes);
// Gives the pages back; they read as zero afterwards.
void os_purge(char* start, size_t bytes);
// Takes the page faults of a range now, in one call; a kernel that can't (before 5.14) leaves them for later.
void os_populate(char* start, size_t bytes);
// RLIMIT_AS, or all of it.
size_t os_address_space_limit();

}  // namespace stab::heap
