// Code of a library reads how far the record is from the thread pointer, in a word that the dynamic linker fills in by the
// record's name. Where the library's link hides that name, post-link has made the relocation one that does nothing, so the word
// is 0, and has marked it (abi::kRecordWordMark). The distance is the same in all threads, as the record is in static
// thread-local storage. The dynamic linker has made most such words read-only (PT_GNU_RELRO) before constructors run.
#include "runtime/api/hidden_record.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/api/loaded_file.h"
#include "runtime/arch/arch.h"
#include "runtime/stack/stack_start.h"
#include "runtime/sys.h"

namespace stab::api {
namespace {

struct Relocations {
  const Elf64_Rela* first = nullptr;
  uint64_t count = 0;
};

Relocations relocations_of(const LoadedFile& file) {
  uint64_t address = 0, bytes = 0;
  for (int i = 0; i < file.segment_count; ++i) {
    if (file.segments[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = static_cast<const Elf64_Dyn*>(pointer_to(file.extent.bias + file.segments[i].p_vaddr));
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_RELA) address = entry->d_un.d_ptr;
      if (entry->d_tag == DT_RELASZ) bytes = entry->d_un.d_val;
    }
  }
  // glibc relocates the entry itself, other loaders don't.
  if (address < file.extent.low) address += file.extent.bias;
  if (address < file.extent.low || bytes > file.extent.high - address) return {};
  return {static_cast<const Elf64_Rela*>(pointer_to(address)), bytes / sizeof(Elf64_Rela)};
}

// Whether the dynamic linker has protected the page: whole pages of the segment, as glibc does. A last one that is not whole
// holds data of the library, too.
bool is_read_only(const LoadedFile& file, uint64_t address) {
  const uint64_t offset = address - file.extent.bias;
  for (int i = 0; i < file.segment_count; ++i) {
    const Elf64_Phdr& segment = file.segments[i];
    if (segment.p_type != PT_GNU_RELRO) continue;
    const uint64_t first = segment.p_vaddr & ~(kPage - 1), end = (segment.p_vaddr + segment.p_memsz) & ~(kPage - 1);
    if (offset >= first && offset < end) return true;
  }
  return false;
}

// Of a damaged file nothing is believed: a word is written only within the file.
bool holds_word(const LoadedFile& file, uint64_t word) {
  return word % sizeof(uint64_t) == 0 && word >= file.extent.low && word - file.extent.low < file.extent.high - file.extent.low;
}

bool protect(uint64_t page, int access) {
  return sys::call(SYS_mprotect, static_cast<long>(page), static_cast<long>(kPage), access) == 0;
}

bool write_distance(const LoadedFile& file, uint64_t word, uint64_t distance) {
  const bool is_protected = is_read_only(file, word);
  const uint64_t page = word & ~(kPage - 1);
  if (is_protected && !protect(page, PROT_READ | PROT_WRITE)) return false;
  __atomic_store_n(static_cast<uint64_t*>(pointer_to(word)), distance, __ATOMIC_RELEASE);
  return !is_protected || protect(page, PROT_READ);
}

}  // namespace

bool lead_to_record(const void* inside) {
  const LoadedFile file = file_holding(address_of(inside));
  if (!file.found) return false;
  const uint64_t distance = address_of(&stab_stack) - address_of(__builtin_thread_pointer());
  const Relocations relocations = relocations_of(file);
  bool is_led = false;
  for (uint64_t i = 0; i < relocations.count; ++i) {
    const Elf64_Rela& relocation = relocations.first[i];
    if (relocation.r_info != arch::kNoRelocation || relocation.r_addend != abi::kRecordWordMark) continue;
    const uint64_t word = file.extent.bias + relocation.r_offset;
    if (!holds_word(file, word) || !write_distance(file, word, distance)) return false;
    is_led = true;
  }
  return is_led;
}

}  // namespace stab::api
