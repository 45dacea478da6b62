// Text is replaced by shared pages with the same bytes while this very code runs in it: each replacement is one system
// call, and before it returns the new pages are there. The ring must lie within reach of 32-bit displacements, so
// addresses are tried until one is free.
#include "runtime/mapping.h"

#include <elf.h>
#include <string.h>

#include "runtime/control.h"
#include "runtime/progress/points.h"
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

// Tries the addresses from `first` in steps of `step` until one is free; `tries` bounds it. 0: none.
uint64_t map_ring_near(uint64_t first, int64_t step, uint64_t tries, uint64_t bytes, int images, uint64_t offset) {
  constexpr int kFixedNoReplace = 0x100000;
  uint64_t at = first & ~(kRingGrain - 1);
  for (; tries > 0; --tries, at += static_cast<uint64_t>(step)) {
    void* mapped = sys::map(pointer_to(at), bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE | kFixedNoReplace,
                            images, offset);
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

// The ring lies within reach of all of the executable: below a PIE, which leaves the heap's end free to grow, or
// above it where below is taken; above one at a fixed low address, near the top of the low 2 GiB that its 32-bit
// absolute fields reach. Fewer slots where address space is scarce.
uint64_t map_ring(const Extent& extent, const Plan& plan, int images, uint32_t& slots) {
  constexpr int64_t kStep = 16 << 20;
  constexpr uint64_t kGap = 16 * kPage;
  for (slots = static_cast<uint32_t>(plan.slot_limit); slots >= 2; slots /= 2) {
    const uint64_t bytes = slots * plan.slot_bytes;
    if (extent.high - extent.low + bytes + kGap >= kReach) continue;
    const uint64_t tries = (kReach - (extent.high - extent.low) - bytes - kGap) / kStep + 1;
    uint64_t found = 0;
    if (extent.high < 0x80000000u) {
      found = map_ring_near(kReach - bytes, -kStep, tries, bytes, images, plan.ring_offset);
    } else {
      found = map_ring_near(extent.low - bytes - kGap, -kStep, tries, bytes, images, plan.ring_offset);
      if (found == 0) found = map_ring_near(extent.high + kGap + kRingGrain, kStep, tries, bytes, images, plan.ring_offset);
    }
    if (found != 0) return found;
  }
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

bool map_board(int fd) {
  void* mapped = sys::map(nullptr, progress::kBoardBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  if (!sys::is_address(mapped)) return false;
  progress::use_board(static_cast<progress::Board*>(mapped));
  return true;
}

}  // namespace

bool find_extent(Extent& out) {
  if (&__ehdr_start == nullptr) return false;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(address_of(&__ehdr_start) + __ehdr_start.e_phoff);
  const Elf64_Dyn* dynamic = nullptr;
  bool based = false;
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_offset == 0) {
      out.bias = address_of(&__ehdr_start) - segment.p_vaddr;
      based = true;
    }
    if (segment.p_vaddr < out.low) out.low = segment.p_vaddr;
    if (segment.p_vaddr + segment.p_memsz > out.high) out.high = segment.p_vaddr + segment.p_memsz;
  }
  for (int i = 0; i < __ehdr_start.e_phnum; ++i)
    if (segments[i].p_type == PT_DYNAMIC)
      dynamic = static_cast<const Elf64_Dyn*>(pointer_to(out.bias + segments[i].p_vaddr));
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic)
    if (dynamic->d_tag == DT_TEXTREL || (dynamic->d_tag == DT_FLAGS && (dynamic->d_un.d_val & DF_TEXTREL) != 0))
      out.text_relocations = true;
  out.low += out.bias;
  out.high += out.bias;
  return based;
}

void map_planned(const Extent& extent, const Hello& hello, const Plan& plan, int images, int control_fd,
                 int board, Mapped& mapped) {
  mapped.control = share_control(control_fd);
  if (mapped.control == 0) return;
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

}  // namespace stab
