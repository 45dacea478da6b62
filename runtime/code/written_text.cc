// What code of szc's calls before mprotect makes memory writable (instrumenter/pass/told_calls.cc). The executable's text is
// shared memory while code moves, which nobody may make writable. A program that patches its code gets what a plain build has:
// its code goes home, and private memory with the same bytes is put over the text, by one system call, as other threads run
// there. Of libraries the text stays as it is. Safe in signal handlers.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/arch/arch.h"
#include "runtime/code/home.h"
#include "runtime/control.h"
#include "runtime/round_up.h"
#include "runtime/sys.h"

namespace stab::code {
namespace {

// Of this process and those that it forks afterwards.
enum State : uint32_t { kShared, kChanging, kPrivate };
uint32_t state = kShared;

// False: there was no memory. All is as it was then.
bool make_private(uint64_t text, size_t bytes) {
  void* const made = sys::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(made)) return false;
  memcpy(made, reinterpret_cast<const void*>(text), bytes);
  const bool may_run = sys::call(SYS_mprotect, sys::word(made), static_cast<long>(bytes), PROT_READ | PROT_EXEC) == 0;
  const long put = may_run ? sys::call(SYS_mremap, sys::word(made), static_cast<long>(bytes), static_cast<long>(bytes),
                                       MREMAP_MAYMOVE | MREMAP_FIXED, static_cast<long>(text))
                           : -1;
  if (put == static_cast<long>(text)) return true;
  sys::unmap(made, bytes);
  return false;
}

}  // namespace
}  // namespace stab::code

extern "C" __attribute__((visibility("default"))) void stab_rt_before_protect(const void* start, size_t bytes, int protection) {
  using namespace stab;
  using namespace stab::code;
  const auto low = reinterpret_cast<uint64_t>(start), text = control().text_address;
  const size_t text_bytes = round_up(control().text_bytes, arch::kPage);
  if ((protection & PROT_WRITE) == 0 || !has_images() || low >= text + text_bytes || low + bytes <= text) return;
  uint32_t expected = kShared;
  if (__atomic_compare_exchange_n(&state, &expected, kChanging, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    go_home(Degradation::kTextReplaced);
    __atomic_store_n(&state, make_private(text, text_bytes) ? kPrivate : kShared, __ATOMIC_SEQ_CST);
    return;
  }
  while (__atomic_load_n(&state, __ATOMIC_SEQ_CST) == kChanging) sys::call(SYS_sched_yield);
}
