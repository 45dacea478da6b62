// .eh_frame_hdr, the linker's sorted table of functions and their frame descriptions: found by the loader, or in a static
// program by its program headers, and searched by halves. The description itself is read only for its function's size.
// The formats are the Linux Standard Base's, "Exception Frames"; of their many encodings the table has the one that all
// linkers write.
#include "runtime/code/frame_tables.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/code/frame_header.h"
#include "runtime/code/partition_point.h"
#include "runtime/libc_names.h"
#include "runtime/mapping.h"

// glibc 2.35 and later; takes no lock, and is what libgcc asks.
extern "C" int _dl_find_object(void* pc, dl_find_object* result) noexcept __attribute__((weak));

namespace stab::code {
namespace {

template <typename T>
T load(const uint8_t* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

void skip_leb128(const uint8_t*& at) {
  while ((*at++ & 0x80) != 0) {
  }
}

// Bytes of a pointer; 0: their number varies.
unsigned size_of(uint8_t encoding) {
  constexpr unsigned kSizes[] = {8, 0, 2, 4, 8, 0, 0, 0};  // absptr, uleb128, udata2, udata4, udata8; +8: signed
  return kSizes[encoding & 7];
}

// How a description writes addresses: the R of its common part's augmentation.
uint8_t address_encoding(const uint8_t* common) {
  const uint8_t version = common[8];
  const char* augmentation = reinterpret_cast<const char*>(common + 9);
  if (*augmentation != 'z') return 0;
  const uint8_t* at = common + 9 + strlen(augmentation) + 1;
  skip_leb128(at);  // code alignment
  skip_leb128(at);  // data alignment
  if (version == 1)
    ++at;  // return column
  else
    skip_leb128(at);
  skip_leb128(at);  // size of what follows
  for (const char* what = augmentation + 1; *what != 0; ++what) {
    if (*what == 'R') return *at;
    if (*what == 'L') ++at;
    if (*what == 'P') {
      const unsigned size = size_of(*at);
      if (size == 0) return 0;
      at += 1 + size;
    }
  }
  return 0;
}

bool covers(const uint8_t* description, uint64_t into_function) {
  const uint8_t encoding = address_encoding(description + 4 - load<int32_t>(description + 4));
  const unsigned size = size_of(encoding);
  const uint8_t* range = description + 8 + size;
  if (size == 4) return into_function < load<uint32_t>(range);
  return size == 8 && into_function < load<uint64_t>(range);
}

const void* find_fde_in_table(const uint8_t* header, void* pc, EhBases* bases) {
  const auto head = load<FrameHeader>(header);
  if (!has_sorted_rows(head)) return nullptr;
  const uint8_t* rows = header + sizeof(FrameHeader);
  const int64_t wanted = static_cast<uint8_t*>(pc) - header;
  const auto row_at = [rows](uint32_t i) { return load<FrameRow>(rows + i * sizeof(FrameRow)); };
  const uint32_t behind = partition_point(head.count, [&](uint32_t i) { return row_at(i).function <= wanted; });
  if (behind == 0) return nullptr;
  const FrameRow row = row_at(behind - 1);
  const uint8_t* description = header + row.description;
  if (!covers(description, static_cast<uint64_t>(wanted - row.function))) return nullptr;
  *bases = {nullptr, nullptr, const_cast<uint8_t*>(header + row.function)};
  return description;
}

}  // namespace

const void* find_fde_in_tables(void* pc, EhBases* bases) {
  dl_find_object object;
  if (_dl_find_object == nullptr || _dl_find_object(pc, &object) != 0 || object.dlfo_eh_frame == nullptr) return nullptr;
  return find_fde_in_table(static_cast<const uint8_t*>(object.dlfo_eh_frame), pc, bases);
}

const void* find_own_fde(void* pc, EhBases* bases) {
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(__getauxval(AT_PHDR));
  const uint64_t count = __getauxval(AT_PHNUM);
  Extent extent;
  if (!find_extent(extent)) return nullptr;
  for (uint64_t i = 0; i < count; ++i)
    if (segments[i].p_type == PT_GNU_EH_FRAME)
      return find_fde_in_table(reinterpret_cast<const uint8_t*>(extent.bias + segments[i].p_vaddr), pc, bases);
  return nullptr;
}

}  // namespace stab::code
