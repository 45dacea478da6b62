// Finding and mapping an area: the program's and the companion's first step.
#pragma once

#include "runtime/causal/causal_abi.h"
#include "runtime/causal/clock.h"
#include "runtime/sys.h"

namespace stab::causal {

inline void degrade(Area& area, Degraded what) {
  __atomic_fetch_or(&area.state.degradations, uint64_t{1} << static_cast<unsigned>(what), __ATOMIC_RELAXED);
}

// Maps the area of that path, shared. nullptr: `fault` says why.
inline Area* map_area(const char* path, const char*& fault) {
  const int fd = sys::open(path, O_RDWR | O_NOCTTY);
  if (fd < 0) {
    fault = fd == -ENOENT ? "there is no such file" : fd == -EACCES ? "permission is denied" : "it can't be opened";
    return nullptr;
  }
  const long bytes = sys::call(SYS_lseek, fd, 0, SEEK_END);
  void* const at = bytes == static_cast<long>(sizeof(Area))
                       ? sys::map(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, fd)
                       : nullptr;
  sys::close(fd);
  if (bytes != static_cast<long>(sizeof(Area))) {
    fault = "it is no causal area of this version: its size is another";
    return nullptr;
  }
  if (!sys::is_address(at)) {
    fault = "it can't be mapped";
    return nullptr;
  }
  return static_cast<Area*>(at);
}

inline Clock clock_of(Area& area) {
  const uint32_t limit = area.state.cpu_limit;
  return Clock{area.state.global, area.cpus, limit == 0 || limit > kMaxCpus ? 1 : limit,
               area.state.pauses == Pauses::kCpuTime};
}

}  // namespace stab::causal
