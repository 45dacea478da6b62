// perf looks up addresses in executable memory without a file in /tmp/perf-PID.map, at the time of the report. So the
// map is written as images are made, and stays behind. It tells nothing of time: while there is a map no slot is used
// twice (epochs.cc), and start.cc takes care that perf sees no file behind the ring.
//
// Everybody may write to /tmp: an old map is unlinked, never opened, and a new one made only where nothing is.
#include "runtime/helper/perf_map.h"

#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {

bool PerfMap::open(int pid) {
  char path[64];
  Text(path, sizeof path) << "/tmp/perf-" << pid << ".map";
  sys::call(SYS_unlinkat, AT_FDCWD, sys::word(path), 0);
  file_ = sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  return file_ >= 0;
}

bool PerfMap::add(Module& module, int slot) {
  if (file_ < 0) return true;
  constexpr size_t kLongestLine = 4096;  // longer names are cut
  static char buffer[16 * kLongestLine];
  const code::ImageScratch& scratch = module.scratch;
  const uint64_t slot_address = module.slot_address(slot);
  const auto* entries = reinterpret_cast<const code::ImageEntry*>(module.slot_memory(slot) + sizeof(code::ImageHeader));
  size_t used = 0;
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t index = scratch.order[i];
    const code::ImageEntry& entry = entries[i];  // in the order of the scratch
    Text line(buffer + used, kLongestLine - 1);
    line.hex(slot_address + entry.prefix) << " ";
    line.hex(entry.body + entry.bytes - entry.prefix) << " ";
    if (const char* name = module.names.name_of(index))
      line << name;
    else
      (line << "fn_").hex(module.code.header->text_start + entry.start);
    used += line.size();
    buffer[used++] = '\n';
    if (used + kLongestLine <= sizeof buffer && i + 1 < scratch.order_count) continue;
    if (sys::write_full(file_, buffer, used) != 0) {
      sys::close(file_);
      file_ = -1;
      return false;
    }
    used = 0;
  }
  return true;
}

}  // namespace stab::helper
