// The main thread's stack. crt1.o calls __libc_start_main(main, ...); ours hands on a main of our own that moves
// the stack pointer by the random offset first, so that the frame of the program's main is moved, too, which a pad
// inside main couldn't do. argv, environ and what libc knows of the stack's ends stay as they are.
#include <sys/resource.h>

#include "runtime/stack/interposed.h"
#include "runtime/control.h"
#include "runtime/stack/stack_start.h"
#include "runtime/sys.h"

namespace stab {
namespace {

Main program_main;

// Unlike a thread's, this stack can't be enlarged. Below this size offset and budget are too large a share of it.
constexpr size_t kSmallestStackBytes = 1 << 20;

StackStart plan_main_stack() {
  rlimit limit{};
  if (sys::call(SYS_prlimit64, 0, RLIMIT_STACK, 0, sys::word(&limit)) != 0) return {};
  if (limit.rlim_cur < kSmallestStackBytes) return {};
  constexpr size_t kUnlimited = size_t{1} << 30;  // RLIM_INFINITY is a large stack, too
  return plan_stack(limit.rlim_cur < kUnlimited ? limit.rlim_cur : kUnlimited, 0);
}

int main_with_offset(int argc, char** argv, char** environment) {
  const StackStart start = plan_main_stack();
  void* base = __builtin_alloca(start.offset_bytes);
  __asm__ volatile("" : : "r"(base));
  if (start.offset_bytes == 0) base = __builtin_frame_address(0);
  begin_stack(base, start);
  // Who looks for return addresses needs to look no higher than this. Handlers that exit() runs after main has
  // returned may lie higher.
  __atomic_store_n(&control().main_base, reinterpret_cast<uint64_t>(base), __ATOMIC_RELEASE);
  const int status = program_main(argc, argv, environment);
  __atomic_store_n(&control().main_base, uint64_t{0}, __ATOMIC_SEQ_CST);
  return status;
}

}  // namespace

int start_main(LibcStart real, Main main, int argc, char** argv, void (*init)(), void (*fini)(),
               void (*loader_fini)(), void* stack_end) {
  program_main = main;
  return real(main_with_offset, argc, argv, init, fini, loader_fini, stack_end);
}

}  // namespace stab
