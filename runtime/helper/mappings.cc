#include "runtime/helper/mappings.h"

#include <string.h>

#include "runtime/helper/look.h"
#include "runtime/helper/text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr uint32_t kTextBytes = 16 * 1024;  // a line has a path at its end, of 4096 bytes at most
char text[kTextBytes];

// "start-end perms offset major:minor inode   path"
bool take_line(const char* at, MappingOfKind& out) {
  constexpr uint64_t kReadable = 1;
  constexpr char kLetters[] = "rwx";
  if (!take_hex(at, out.start) || *at++ != '-' || !take_hex(at, out.end) || *at++ != ' ') return false;
  out.kind = 0;
  for (int i = 0; i < 3; ++i, ++at)
    if (*at == kLetters[i]) out.kind |= kReadable << i;
  if (*at++ == 's') out.kind |= kSharedMapping;
  uint64_t offset, major, minor;
  if (*at++ != ' ' || !take_hex(at, offset) || *at++ != ' ' || !take_hex(at, major) || *at++ != ':' || !take_hex(at, minor))
    return false;
  out.device = device_number(major, minor);
  return *at++ == ' ' && take_number(at, out.file);
}

}  // namespace

bool Mappings::next(MappingOfKind& out) {
  if (failed_) return false;
  if (!as_text_ && ask(out)) return true;
  return as_text_ && read(out);
}

bool Mappings::ask(MappingOfKind& out) {
  constexpr uint64_t kOrNext = 0x10;  // PROCMAP_QUERY_COVERING_OR_NEXT_VMA
  MapQuery query{};
  query.size = sizeof query;
  query.query_flags = kOrNext | wanted_;
  query.query_addr = at_;
  const long asked = sys::call(SYS_ioctl, process_.maps, static_cast<long>(kProcmapQuery), sys::word(&query));
  if (asked == -ENOENT || asked == -ESRCH) return false;
  as_text_ = asked != 0;
  if (as_text_) return false;
  out = {query.vma_start, query.vma_end, query.vma_flags, query.inode, device_number(query.dev_major, query.dev_minor)};
  at_ = query.vma_end;
  return true;
}

bool Mappings::next_line(const char*& line) {
  for (;;) {
    for (uint32_t i = begin_; i < end_; ++i) {
      if (text[i] != '\n') continue;
      line = text + begin_;
      begin_ = i + 1;
      return true;
    }
    end_ -= begin_;
    memmove(text, text + begin_, end_);
    begin_ = 0;
    const long got = end_ < kTextBytes ? sys::pread(process_.maps, text + end_, kTextBytes - end_, offset_) : -ENOBUFS;
    failed_ = got < 0 && got != -ESRCH;
    if (got <= 0) return false;
    offset_ += static_cast<uint64_t>(got);
    end_ += static_cast<uint32_t>(got);
  }
}

bool Mappings::read(MappingOfKind& out) {
  for (const char* line; next_line(line);) {
    if (!take_line(line, out)) {
      failed_ = true;
      return false;
    }
    if (out.start < at_ || (out.kind & wanted_) != wanted_) continue;
    at_ = out.end;
    return true;
  }
  return false;
}

}  // namespace stab::helper
