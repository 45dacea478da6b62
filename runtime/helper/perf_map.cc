// perf looks up addresses in executable memory without a file in /tmp/perf-PID.map, at the time of the report. So the
// map is written as images are made, and stays behind. It tells nothing of time: while there is a map no slot is used
// twice (epochs.cc), and start.cc takes care that perf sees no file behind the ring.
//
// Everybody may write to /tmp: an old map is unlinked, never opened, and a new one made only where nothing is.
#include "runtime/helper/perf_map.h"

#include <elf.h>

#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// A table of this size in an executable names a hundred million functions.
constexpr uint64_t kMostBytes = uint64_t{1} << 31;

template <typename T>
T* read_part(int file, uint64_t offset, uint64_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  void* memory = sys::map(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(memory)) return nullptr;
  return sys::pread_full(file, memory, bytes, offset) == static_cast<long>(bytes) ? static_cast<T*>(memory) : nullptr;
}

}  // namespace

bool PerfMap::read_names(int executable, const code::Metadata& code) {
  const uint32_t all = code.header->function_count;
  const uint64_t bytes = uint64_t{all} * sizeof(uint32_t) + 1;
  void* names = sys::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(names)) return false;
  name_ = static_cast<uint32_t*>(names);
  Elf64_Ehdr header;
  if (sys::pread_full(executable, &header, sizeof header, 0) != sizeof header) return false;
  const auto* sections = read_part<Elf64_Shdr>(executable, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (sections == nullptr) return false;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header.e_shnum) continue;
    const Elf64_Shdr& text = sections[sections[i].sh_link];
    const auto* symbols = read_part<Elf64_Sym>(executable, sections[i].sh_offset, sections[i].sh_size);
    strings_ = read_part<char>(executable, text.sh_offset, text.sh_size);
    if (symbols == nullptr || strings_ == nullptr) return false;
    for (uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k) {
      const uint32_t function = code::function_at(code, symbols[k].st_value - code.header->text_start);
      if (function < all && ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_name < text.sh_size)
        name_[function] = symbols[k].st_name;
    }
    return true;  // there is one
  }
  return true;
}

bool PerfMap::open(int pid) {
  char path[64];
  Text(path, sizeof path) << "/tmp/perf-" << pid << ".map";
  sys::call(SYS_unlinkat, AT_FDCWD, sys::word(path), 0);
  file_ = sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  return file_ >= 0;
}

bool PerfMap::add(const code::Metadata& code, const code::ImageScratch& scratch, const uint8_t* image,
                  uint64_t slot) {
  if (file_ < 0) return true;
  constexpr size_t kLongestLine = 4096;  // longer names are cut
  static char buffer[16 * kLongestLine];
  const auto* entries = reinterpret_cast<const code::ImageEntry*>(image + sizeof(code::ImageHeader));
  size_t used = 0;
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    const uint32_t index = scratch.order[i];
    const code::ImageEntry& entry = entries[i];  // in the order of the scratch
    Text line(buffer + used, kLongestLine - 1);
    line.hex(slot + entry.prefix) << " ";
    line.hex(entry.body + entry.bytes - entry.prefix) << " ";
    if (const char* name = name_of(index))
      line << name;
    else
      (line << "fn_").hex(code.header->text_start + entry.start);
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
