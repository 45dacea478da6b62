// Going through the mappings of a process by their kind.
#pragma once

#include <stdint.h>

#include "runtime/helper/watched_process.h"

namespace stab::helper {

inline constexpr uint64_t kWritableMapping = 2;  // as PROCMAP_QUERY names them
inline constexpr uint64_t kExecutableMapping = 4;
inline constexpr uint64_t kSharedMapping = 8;

struct MappingOfKind {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t kind = 0;    // bits as above
  uint64_t file = 0;    // its inode; 0: memory of no file
  uint64_t device = 0;  // as stat has it
};

// The mappings of a process that are of all the kinds in `wanted`, upwards.
class Mappings {
 public:
  Mappings(const Process& process, uint64_t wanted) : process_(process), wanted_(wanted) {}

  // False: there are no more, or they can't be read (failed()).
  bool next(MappingOfKind& out);
  bool failed() const { return failed_; }

 private:
  bool ask(MappingOfKind& out);
  bool read(MappingOfKind& out);
  bool next_line(const char*& line);

  const Process& process_;
  const uint64_t wanted_;
  uint64_t at_ = 0;       // where the next one begins, at least
  bool as_text_ = false;  // an older kernel
  bool failed_ = false;
  // Of the text: what was read, which part of that are lines to come, and where the file goes on.
  uint32_t begin_ = 0, end_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace stab::helper
