// A few questions to the kernel for each look: what is executable is few mappings.
#include "runtime/helper/made_code.h"

#include <sys/stat.h>

#include "runtime/helper/foreign_code.h"
#include "runtime/helper/look.h"
#include "runtime/helper/mappings.h"
#include "runtime/helper/pages.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

bool is_of(int memory_fd, const MappingOfKind& mapping) {
  struct stat ours;
  return memory_fd >= 0 && sys::call(SYS_fstat, memory_fd, sys::word(&ours)) == 0 && mapping.file == ours.st_ino &&
         mapping.device == ours.st_dev;
}

// The kernel's own: [vdso], [uprobes], [vsyscall].
bool is_the_kernels(const Process& process, const MappingOfKind& mapping, uint8_t* buffer) {
  static MappedFile file;
  Mapping found;
  if (mapping.start >> 63 != 0) return true;
  if (!find_mapping(process, mapping.start, buffer, found, &file)) return false;
  return file.path[0] == '[' && (file.path[1] == 'v' || file.path[1] == 'u');
}

}  // namespace

bool MadeCode::has_written_pages(const Process& process, uint64_t start, uint64_t end) {
  Pages pages(process, start, end);
  for (PresentPages present; pages.next(present);)
    if (present.own) return true;
  return false;  // also where the kernel has no pagemap: else no program's images would be used again there
}

bool MadeCode::has(const Process& process, const Images& images, uint8_t* buffer) {
  Mappings mappings(process, kExecutableMapping);
  for (MappingOfKind mapping; mappings.next(mapping);) {
    if (mapping.file == 0) {
      if (!is_the_kernels(process, mapping, buffer)) return true;
      continue;
    }
    if (is_of(images.memory_fd, mapping) || is_of(images.libraries.memory_fd, mapping)) continue;
    if ((mapping.kind & (kWritableMapping | kSharedMapping)) != 0) return true;
    bool is_known = false;
    for (uint32_t i = 0; i < known_count_ && !is_known; ++i)
      is_known = known_[i].start == mapping.start && known_[i].end == mapping.end && known_[i].file == mapping.file;
    if (is_known) continue;
    if (has_written_pages(process, mapping.start, mapping.end)) return true;
    if (known_count_ == kMostKnown) continue;
    known_[known_count_++] = {mapping.start, mapping.end, mapping.file};
    file_switches_ = file_switches_ || code_switches_stacks(process, mapping, buffer);
  }
  return mappings.failed();
}

bool MadeCode::is_there(const Family& family, const Images& images, uint8_t* buffer) {
  seen_ = seen_ || has(family.program, images, buffer);
  for (const Process& kin : family.kin) seen_ = seen_ || (kin.pid != 0 && has(kin, images, buffer));
  return seen_;
}

}  // namespace stab::helper
