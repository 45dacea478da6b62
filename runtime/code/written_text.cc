// What code of szc's calls before it reads or writes the executable's text, or can let others write there
// (instrumenter/pass/told_calls.cc). The text is shared memory while code moves, which nobody may make writable: the kernel lets
// neither a tracer write there, nor /proc/PID/mem. A program that patches its code gets what a plain build has: its code goes
// home, and private memory with the same bytes is put over the text, by one system call, as other threads run there. One that
// reads its text reads originals. Of libraries the text stays as it is. Safe in signal handlers.
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

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

void own_text() {
  if (control().ring_address == 0) return;  // the executable's
  uint32_t expected = kShared;
  if (__atomic_compare_exchange_n(&state, &expected, kChanging, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    go_home(Degradation::kTextReplaced);
    const bool done = make_private(control().text_address, round_up(control().text_bytes, arch::kPage));
    __atomic_store_n(&state, done ? kPrivate : kShared, __ATOMIC_SEQ_CST);
    return;
  }
  while (__atomic_load_n(&state, __ATOMIC_SEQ_CST) == kChanging) sys::call(SYS_sched_yield);
}

// /proc/self/mem, /proc/thread-self/mem, or /proc/PID/mem of this process.
bool is_own_memory(const char* path) {
  constexpr char kBegin[] = "/proc/", kEnd[] = "/mem";
  const size_t length = strlen(path), begin = sizeof kBegin - 1, end = sizeof kEnd - 1;
  if (length <= begin + end || memcmp(path, kBegin, begin) != 0 || memcmp(path + length - end, kEnd, end) != 0) return false;
  const char* const whose = path + begin;
  const char* const behind = path + length - end;
  if (*whose < '0' || *whose > '9') return true;
  constexpr long kLargest = 1 << 22;  // PID_MAX_LIMIT of Linux
  long pid = 0;
  for (const char* digit = whose; digit < behind && *digit >= '0' && *digit <= '9' && pid <= kLargest; ++digit)
    pid = pid * 10 + (*digit - '0');
  return pid == sys::getpid();
}

}  // namespace
}  // namespace stab::code

extern "C" {

__attribute__((visibility("default"))) void stab_rt_before_protect(const void* start, size_t bytes, int protection) {
  using namespace stab;
  const auto low = reinterpret_cast<uint64_t>(start), text = control().text_address;
  const size_t text_bytes = round_up(control().text_bytes, arch::kPage);
  if ((protection & PROT_WRITE) != 0 && low < text + text_bytes && low + bytes > text) code::own_text();
}

// The kernel has read that path if it has opened the file; otherwise it may be one that can't be read. freopen takes none.
__attribute__((visibility("default"))) void stab_rt_opened(const char* path, int flags, int done) {
  if (done == 0 || (flags & O_ACCMODE) == O_RDONLY || path == nullptr) return;
  if (stab::code::is_own_memory(path)) stab::code::own_text();
}

__attribute__((visibility("default"))) void stab_rt_before_trace(int request) {
  if (request == PTRACE_TRACEME) stab::code::own_text();
}

__attribute__((visibility("default"))) void stab_rt_before_text_is_read() {
  if (stab::control().nonce != 0) stab::code::go_home(stab::Degradation::kTextRead);
}
}
