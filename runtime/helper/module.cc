// What is checked is a copy that nobody else can write or cut short: of the file, too, which its owner may replace as soon as the
// program execs something else.
#include "runtime/helper/module.h"

#include <string.h>
#include <sys/stat.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/session.h"
#include "runtime/round_up.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Of text and of metadata, that are read at all: the largest browsers have half of it. A file may promise more than there
// is, and what the helper reads of it is in no limit of the program's.
constexpr uint64_t kMostFileBytes = 512u << 20;

bool is_file(int fd) {
  struct stat status;
  return fd >= 0 && sys::call(SYS_fstat, fd, sys::word(&status)) == 0 && S_ISREG(status.st_mode);
}

// Copies the metadata, as much as its header says, and checks the copy.
code::MetadataFault read_section(int file, code::FileSpan span, ModuleMemory& memory, code::Metadata& out) {
  abi::CodeHeader header;
  if (span.bytes < sizeof header || !read_file_at(&file, &header, sizeof header, span.offset))
    return code::MetadataFault::kAbsent;
  const uint64_t bytes = code::metadata_bytes(header);
  if (bytes == 0) return code::MetadataFault::kAbsent;
  if (bytes > span.bytes || bytes > kMostFileBytes) return code::MetadataFault::kMalformed;
  uint8_t* copy = memory.allocate_to_fill(bytes);
  if (copy == nullptr || !read_file_at(&file, copy, bytes, span.offset)) return code::MetadataFault::kMalformed;
  return code::read_metadata(copy, bytes, out);
}

// Finds what describes frames of what moves; without it unwinders that read tables themselves end at a copy.
code::MovedFrames read_frames(const code::Metadata& code, int file, ModuleMemory& memory) {
  code::FrameTable table;
  if (!code::find_frame_table(read_file_at, &file, table)) return {};
  if (table.count > kMostFileBytes / sizeof(code::FrameRow)) return {};
  const uint64_t bytes = table.count * sizeof(code::FrameRow);
  auto* const rows = reinterpret_cast<code::FrameRow*>(memory.allocate(bytes));
  auto* const of_functions =
      reinterpret_cast<uint32_t*>(memory.allocate(uint64_t{code.header->function_count} * 2 * sizeof(uint32_t)));
  if (rows == nullptr || of_functions == nullptr || !read_file_at(&file, rows, bytes, table.rows_offset)) return {};
  return code::bind_frames(code, table, rows, of_functions);
}

}  // namespace

uint8_t* ModuleMemory::allocate(uint64_t bytes) {
  if (count_ == kMostParts) return nullptr;
  const uint64_t whole = round_up(bytes, arch::kPage);
  void* const memory = sys::map(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (!sys::is_address(memory)) return nullptr;
  parts_[count_++] = {memory, whole};
  return static_cast<uint8_t*>(memory);
}

uint8_t* ModuleMemory::allocate_to_fill(uint64_t bytes) {
  uint8_t* const memory = allocate(bytes);
  if (memory == nullptr) return nullptr;
  sys::call(SYS_madvise, sys::word(memory), static_cast<long>(round_up(bytes, arch::kPage)), MADV_HUGEPAGE);
  populate(memory, round_up(bytes, arch::kPage));
  return memory;
}

void ModuleMemory::release() {
  while (count_ > 0) {
    const Part& part = parts_[--count_];
    sys::unmap(part.at, part.bytes);
  }
}

bool read_file_at(void* file, void* to, size_t size, uint64_t offset) {
  return sys::pread_full(*static_cast<int*>(file), to, size, offset) == static_cast<long>(size);
}

code::MetadataFault read_module_metadata(int file, ModuleMemory& memory, code::Metadata& out) {
  code::FileSpan span;
  if (!is_file(file) || !code::find_code_section(read_file_at, &file, span)) return code::MetadataFault::kAbsent;
  return read_section(file, span, memory, out);
}

bool read_module_pointers(int file, ModuleMemory& memory, const code::Metadata& code, code::Pointers& out) {
  code::FileSpan span;
  if ((code.header->flags & abi::kCodePointers) == 0 || !code::find_code_section(read_file_at, &file, span)) return false;
  const uint64_t in_front = code::pointers_at(*code.header);
  if (span.bytes < in_front || span.bytes > kMostFileBytes) return false;
  const uint64_t bytes = span.bytes - in_front;
  uint8_t* const copy = memory.allocate_to_fill(bytes);
  if (copy == nullptr || !read_file_at(&file, copy, bytes, span.offset + in_front)) return false;
  return code::read_pointers(code, copy, bytes, out);
}

Degradation read_module(int file, ModuleMemory& memory, Module& out) {
  if (file < 0) return Degradation::kExecutableUnread;
  switch (read_module_metadata(file, memory, out.code)) {
    case code::MetadataFault::kNone: break;
    case code::MetadataFault::kAbsent: return Degradation::kNoMetadata;
    case code::MetadataFault::kMalformed: return Degradation::kMetadataMalformed;
  }
  const abi::CodeHeader& header = *out.code.header;
  uint64_t offset = 0;
  if (!code::find_text(read_file_at, &file, header.text_start, offset)) return Degradation::kTextDiffers;
  if (code::has_text_elsewhere(read_file_at, &file, header.text_start, header.text_bytes)) return Degradation::kTextDiffers;
  out.text_bytes = round_up(header.text_bytes, arch::kPage);
  if (out.text_bytes > kMostFileBytes) return Degradation::kNoNearMemory;
  // What the program executes now, the rest of the last page included, which is zero behind the file's end.
  uint8_t* const text = memory.allocate_to_fill(out.text_bytes);
  if (text == nullptr) return Degradation::kNoNearMemory;
  const long got = sys::pread_full(file, text, out.text_bytes, offset);
  if (got < static_cast<long>(header.text_bytes)) return Degradation::kTextDiffers;
  const uint64_t hashed_from = header.function_count == 0 ? header.text_bytes : out.code.functions[0].start;
  if (abi::hash64(text + hashed_from, header.text_bytes - hashed_from) != header.text_hash) return Degradation::kTextDiffers;
  out.original = text;
  out.scratch.frames = read_frames(out.code, file, memory);
  return Degradation::kCount;
}

bool bind_module(const code::LayoutScript* script, ModuleMemory& memory, Module& module) {
  const code::MovedFrames frames = module.scratch.frames;
  module.used_bytes = module.slot_bytes = code::slot_bytes(module.code, script, frames.total);
  void* const scratch = memory.allocate(code::scratch_bytes(module.code) + 8);
  if (module.slot_bytes == 0 || scratch == nullptr) return false;
  module.scratch = code::bind_scratch(module.code, scratch);
  module.scratch.frames = frames;
  if (script != nullptr) code::follow_script(*script, module.scratch);
  return true;
}

}  // namespace stab::helper
