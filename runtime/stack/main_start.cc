// The main thread's stack. crt1.o calls __libc_start_main(main, ...); ours hands on a main of our own that moves
// the stack pointer by the random offset first, so that the frame of the program's main is moved, too, which a pad
// inside main couldn't do. argv, environ and what libc knows of the stack's ends stay as they are.
#include <sys/resource.h>

#include "runtime/stack/interposed.h"
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
  begin_stack(start.offset_bytes == 0 ? __builtin_frame_address(0) : base, start);
  return program_main(argc, argv, environment);
}

}  // namespace

int start_main(LibcStart real, Main main, int argc, char** argv, void (*init)(), void (*fini)(),
               void (*loader_fini)(), void* stack_end) {
  program_main = main;
  return real(main_with_offset, argc, argv, init, fini, loader_fini, stack_end);
}

}  // namespace stab
