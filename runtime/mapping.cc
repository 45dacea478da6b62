// Text is replaced by shared pages with the same bytes while this very code runs in it: each replacement is one system
// call, and before it returns the new pages are there. The ring must lie within reach of 32-bit displacements, so
// addresses are tried until one is free.
#include "runtime/mapping.h"

#include <elf.h>
#include <string.h>

#include "runtime/control.h"
#include "runtime/progress/points.h"
#include "runtime/settings.h"
#include "runtime/sys.h"

extern "C" {
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));
}

namespace stab {
namespace {

using helper::Hello;
using helper::Mapped;
using helper::Plan;

constexpr uint64_t kReach = 0x7fff0000;  // of a 32-bit displacement, less a little
// The ring begins at a multiple of this: an offset in a slot of images that are matched with another build's is then the same
// place to whatever looks at an address's lower bits (code::kMatchStride).
constexpr uint64_t kRingGrain = uint64_t{2} << 20;

// What a ring is mapped from. Without a file the address space alone is taken.
struct RingMemory {
  int file = -1;
  uint64_t offset = 0;
  int protection = PROT_READ | PROT_EXEC;

  int flags() const { return (file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) | MAP_NORESERVE; }
};

// Tries the addresses from `first` in steps of `step` until one is free; `tries` bounds it. 0: none.
uint64_t map_ring_near(uint64_t first, int64_t step, uint64_t tries, uint64_t bytes, const RingMemory& memory) {
  constexpr int kFixedNoReplace = 0x100000;
  uint64_t at = first & ~(kRingGrain - 1);
  for (; tries > 0; --tries, at += static_cast<uint64_t>(step)) {
    const int flags = memory.flags() | kFixedNoReplace;
    void* mapped = sys::map(pointer_to(at), bytes, memory.protection, flags, memory.file, memory.offset);
    if (sys::is_address(mapped) && address_of(mapped) == at) return at;
    if (sys::is_address(mapped)) {  // a kernel before 4.17 takes the address for a hint
      sys::unmap(mapped, bytes);
      continue;
    }
    if (sys::error_of(mapped) == -EEXIST) continue;
    if (sys::error_of(mapped) != -ENOMEM) degrade(control(), Degradation::kMapDenied);
    return 0;
  }
  return 0;
}

// Within reach of all of the file: below one that is loaded anywhere, which leaves the heap's end free to grow, or above it where
// below is taken; above one at a fixed low address, near the top of the low 2 GiB that its 32-bit absolute fields reach.
uint64_t map_in_reach(const Extent& extent, uint64_t bytes, const RingMemory& memory) {
  constexpr int64_t kStep = 16 << 20;
  constexpr uint64_t kGap = 16 * kPage;
  if (extent.high - extent.low + bytes + kGap >= kReach) return 0;
  const uint64_t tries = (kReach - (extent.high - extent.low) - bytes - kGap) / kStep + 1;
  if (extent.high < 0x80000000u) return map_ring_near(kReach - bytes, -kStep, tries, bytes, memory);
  const uint64_t below = map_ring_near(extent.low - bytes - kGap, -kStep, tries, bytes, memory);
  return below != 0 ? below : map_ring_near(extent.high + kGap + kRingGrain, kStep, tries, bytes, memory);
}

// Whether there is as much address space anywhere.
bool may_map(uint64_t bytes) {
  void* const found = sys::map(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (!sys::is_address(found)) return false;
  sys::unmap(found, bytes);
  return true;
}

// Fewer slots where address space is scarce.
uint64_t map_ring(const Extent& extent, const Plan& plan, int images, uint32_t& slots) {
  for (slots = static_cast<uint32_t>(plan.slot_limit); slots >= 2; slots /= 2)
    if (const uint64_t found = map_in_reach(extent, slots * plan.slot_bytes, {images, plan.ring_offset})) return found;
  degrade(control(), Degradation::kNoNearMemory);
  return 0;
}

bool map_over(uint64_t address, uint64_t bytes, int protection, int fd, uint64_t offset) {
  return sys::is_address(sys::map(pointer_to(address), bytes, protection, MAP_SHARED | MAP_FIXED, fd, offset));
}

bool move_over(void* from, uint64_t to, uint64_t bytes) {
  constexpr long kMayMoveFixed = 1 | 2;  // MREMAP_MAYMOVE | MREMAP_FIXED
  const long size = static_cast<long>(bytes);
  return sys::call(SYS_mremap, sys::word(from), size, size, kMayMoveFixed, static_cast<long>(to)) ==
         static_cast<long>(to);
}

// A second mapping of the pages that a shared one begins with, and of those behind: mremap gives one for a size of 0.
void* map_again(const void* shared, uint64_t bytes, uint64_t to = 0) {
  constexpr long kMayMove = 1, kFixed = 2;
  const long flags = to == 0 ? kMayMove : kMayMove | kFixed;
  return reinterpret_cast<void*>(
      sys::call(SYS_mremap, sys::word(shared), 0, static_cast<long>(bytes), flags, static_cast<long>(to)));
}

// The same for code. perf learns of a mapping when it is made, not when it moves: so it goes on to see what was mapped
// at `address` before, the executable, and finds its names.
bool map_code_over(uint64_t address, uint64_t bytes, int fd, uint64_t offset) {
  void* mapped = sys::map(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE, fd, offset);
  if (!sys::is_address(mapped)) return false;
  if (move_over(mapped, address, bytes)) return true;
  sys::unmap(mapped, bytes);
  return false;
}

// perf looks into a map of names only for executable memory without a file: that is what it sees the ring become.
bool hide_file(uint64_t address, uint64_t bytes, int fd, uint64_t offset) {
  void* bare = sys::map(pointer_to(address), bytes, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
  return sys::is_address(bare) && map_code_over(address, bytes, fd, offset);
}

// Moves what was counted so far into the shared block, then that block over the static one.
bool share_control(int fd) {
  void* shared = sys::map(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  if (!sys::is_address(shared)) return false;
  Control& theirs = *static_cast<Control*>(shared);
  const CodeDose code = theirs.code;  // the helper has begun to fill these in
  const StackDose stack = theirs.stack;
  const uint64_t degradations = theirs.degradations;
  memcpy(shared, stab_control_pages.bytes, kControlBytes);
  theirs.code = code;
  theirs.stack = stack;
  theirs.degradations |= degradations;
  return move_over(shared, address_of(stab_control_pages.bytes), kControlBytes);
}

// A page of the libraries' memory, which any part of it is mapped again from: no descriptor stays with the program.
const void* library_memory;
bool keep_library_memory(int fd) {
  void* const page = sys::map(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE, fd);
  if (!sys::is_address(page)) return false;
  library_memory = page;
  return true;
}

bool map_board(int fd) {
  void* mapped = sys::map(nullptr, progress::kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  if (!sys::is_address(mapped)) return false;
  progress::use_board(static_cast<progress::Board*>(mapped));
  return true;
}

}  // namespace

Extent extent_of(uint64_t bias, const Elf64_Phdr* segments, int count) {
  Extent out;
  out.bias = bias;
  const Elf64_Dyn* dynamic = nullptr;
  for (int i = 0; i < count; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type == PT_DYNAMIC) dynamic = static_cast<const Elf64_Dyn*>(pointer_to(bias + segment.p_vaddr));
    if (segment.p_type == PT_INTERP) out.has_loader = true;
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr < out.low) out.low = segment.p_vaddr;
    if (segment.p_vaddr + segment.p_memsz > out.high) out.high = segment.p_vaddr + segment.p_memsz;
  }
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic)
    if (dynamic->d_tag == DT_TEXTREL || (dynamic->d_tag == DT_FLAGS && (dynamic->d_un.d_val & DF_TEXTREL) != 0))
      out.text_relocations = true;
  out.low += bias;
  out.high += bias;
  return out;
}

bool find_extent(Extent& out) {
  if (&__ehdr_start == nullptr) return false;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(address_of(&__ehdr_start) + __ehdr_start.e_phoff);
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD || segments[i].p_offset != 0) continue;
    out = extent_of(address_of(&__ehdr_start) - segments[i].p_vaddr, segments, __ehdr_start.e_phnum);
    return true;
  }
  return false;
}

void map_planned(const Extent& extent, const Hello& hello, const Plan& plan, int images, int control_fd,
                 int board, int libraries, Mapped& mapped) {
  mapped.control = share_control(control_fd);
  if (mapped.control == 0) return;
  if (libraries >= 0) mapped.libraries = keep_library_memory(libraries);
  if (board >= 0) mapped.board = map_board(board);
  if (plan.text_bytes > 0) {
    mapped.ring_address = map_ring(extent, plan, images, mapped.slots);
    if (mapped.ring_address != 0 &&
        (!hello.settings.perf_map ||
         hide_file(mapped.ring_address, mapped.slots * plan.slot_bytes, images, plan.ring_offset)))
      mapped.text = map_code_over(plan.text_address, plan.text_bytes, images, plan.text_offset);
    if (mapped.ring_address != 0 && mapped.text == 0) {
      sys::unmap(pointer_to(mapped.ring_address), mapped.slots * plan.slot_bytes);
      degrade(control(), Degradation::kMapDenied);
    }
  }
  if (plan.pads_bytes > 0)
    mapped.pads = map_over(hello.pads_address, plan.pads_bytes, PROT_READ, images, plan.pads_offset);
}

bool has_library_memory() { return library_memory != nullptr; }

bool map_library(const Extent& extent, code::LibraryMove& library) {
  const uint64_t ring_bytes = library.slots * library.slot_bytes;
  // perf is to see memory without a file there, as where the executable's images are.
  const RingMemory bare{-1, 0, settings().perf_map ? PROT_READ | PROT_EXEC : PROT_NONE};
  const uint64_t ring = map_in_reach(extent, ring_bytes + kControlBytes, bare);
  if (ring == 0) {
    degrade(control(), may_map(ring_bytes + kControlBytes) ? Degradation::kLibraryOutOfReach : Degradation::kLibraryNoMemory);
    return false;
  }
  void* const all = map_again(library_memory, library.ring_offset + ring_bytes);
  const bool is_there = sys::is_address(all);
  const auto part = [all](uint64_t offset) { return pointer_to(address_of(all) + offset); };
  const bool has_ring = is_there && move_over(part(library.ring_offset), ring, ring_bytes);
  const bool done = has_ring && sys::is_address(map_again(stab_control_pages.bytes, kControlBytes, ring + ring_bytes)) &&
                    move_over(part(library.text_offset), library.text_address, library.text_bytes);
  // What has moved away leaves a gap, and by now that may be another thread's: the rest alone is unmapped.
  if (is_there && library.text_offset > 0) sys::unmap(all, library.text_offset);
  if (is_there && !done) sys::unmap(part(library.text_offset), library.text_bytes);
  if (is_there && !has_ring) sys::unmap(part(library.ring_offset), ring_bytes);
  if (!done) {
    sys::unmap(pointer_to(ring), ring_bytes + kControlBytes);
    degrade(control(), Degradation::kLibraryNoMemory);
    return false;
  }
  library.ring_address = ring;
  library.control_address = ring + ring_bytes;
  return true;
}

void unmap_library_ring(const code::MovedLibrary& library) {
  sys::unmap(pointer_to(library.ring_address), library.ring_bytes + kControlBytes);
}

}  // namespace stab
