// The file is read, not the program's memory: that would give it pages which it has not touched yet.
#include "runtime/helper/foreign_code.h"

#include <sys/stat.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/look.h"
#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// As the program sees it, whose folders may be others than ours; and only if it is still the file that is mapped. -1: it can't be
// had.
int open_mapped(const Process& process, const MappingOfKind& mapping, const MappedFile& mapped) {
  static char path[sizeof "root" + sizeof mapped.path];
  Text(path, sizeof path) << "root" << mapped.path;
  const int file = sys::open_at(process.directory, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return -1;
  struct stat status;
  const bool is_known = sys::call(SYS_fstat, file, sys::word(&status)) == 0 && S_ISREG(status.st_mode);
  if (is_known && status.st_ino == mapping.file) return file;
  sys::close(file);
  return -1;
}

// Pieces overlap by as much as a switch may take.
bool holds_switch(int file, uint64_t from, uint64_t bytes) {
  constexpr uint64_t kAtATime = 64 * 1024;
  static uint8_t piece[kAtATime];
  for (uint64_t at = 0; at < bytes; at += kAtATime - arch::kMostSwitchBytes) {
    const uint64_t step = bytes - at < kAtATime ? bytes - at : kAtATime;
    const long got = sys::pread_full(file, piece, step, from + at);
    if (got <= 0) return false;
    if (arch::holds_stack_switch({piece, static_cast<size_t>(got)})) return true;
    if (bytes - at <= kAtATime) return false;
  }
  return false;
}

}  // namespace

bool code_switches_stacks(const Process& process, const MappingOfKind& mapping, uint8_t* buffer) {
  static MappedFile mapped;
  Mapping found;
  const uint64_t bytes = mapping.end - mapping.start;
  const bool is_named = find_mapping(process, mapping.start, buffer, found, &mapped) && mapped.path[0] == '/';
  const int file = is_named ? open_mapped(process, mapping, mapped) : -1;
  if (file < 0) return holds_switch(process.memory, mapping.start, bytes);
  const bool holds = holds_switch(file, mapped.offset, bytes);
  sys::close(file);
  return holds;
}

}  // namespace stab::helper
