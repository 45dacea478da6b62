// Which pages of a process's memory there are, as /proc/PID/pagemap tells.
#pragma once

#include <stdint.h>

#include "runtime/helper/watched_process.h"

namespace stab::helper {

// Pages one behind the other, in memory or swapped out.
struct PresentPages {
  uint64_t start = 0;
  uint64_t end = 0;
  bool own = false;  // of the process alone: no file's, and shared with no other mapping
};

// Those between `start` and `end`, upwards. pre: one at a time
class Pages {
 public:
  Pages(const Process& process, uint64_t start, uint64_t end);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // False: there are no more, or they can't be read (failed()).
  bool next(PresentPages& out);
  bool failed() const { return failed_; }

 private:
  bool fill();

  int file_;
  bool failed_;
  uint64_t at_;   // the page that entry `next_` tells of
  uint64_t end_;
  uint32_t next_ = 0, count_ = 0;
};

}  // namespace stab::helper
