// What code of szc's calls before it gives a stack to makecontext, sigaltstack or clone, before assembly may switch to one, and
// where a function has an array that may be a stack (instrumenter/pass/stacks_in_frames.cc). Where what sigaltstack is given may
// be unreadable, it is called afterwards. An array in one of the thread's frames has room for the program's frames, not for
// pads. So pads end above it: they are taken below it alone, where what the function calls lies. That lasts, as nobody says when
// the array is gone. Safe in signal handlers.
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/sections_abi.h"
#include "runtime/stack/stack_start.h"
#include "runtime/sys.h"

namespace {

void keep_pads_out_of(const stack_t& stack) {
  const auto low = reinterpret_cast<uint64_t>(stack.ss_sp);
  if (low < stab_stack.base && low + stack.ss_size > stab_stack.lowest) stab_stack.base = low;
}

// Where a stack begins is not told. It lies above what runs now, unless that runs on a stack of its own.
void keep_pads_below_here(const void* end) {
  const auto high = reinterpret_cast<uint64_t>(end), here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (here > stab_stack.lowest && here < high && high <= stab_stack.base) stab_stack.base = here;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void stab_rt_context_stack(const ucontext_t* context) {
  if (context != nullptr) keep_pads_out_of(context->uc_stack);
}

__attribute__((visibility("default"))) void stab_rt_signal_stack(const stack_t* stack) {
  if (stack != nullptr && (stack->ss_flags & SS_DISABLE) == 0) keep_pads_out_of(*stack);
}

__attribute__((visibility("default"))) void stab_rt_signal_stack_set() {
  stack_t stack;
  if (stab::sys::call(SYS_sigaltstack, 0, stab::sys::word(&stack)) == 0) stab_rt_signal_stack(&stack);
}

__attribute__((visibility("default"))) void stab_rt_clone_stack(const void* end) {
  keep_pads_below_here(end);
}

// The caller's stack pointer lies behind the return address and the frame pointer.
__attribute__((visibility("default"))) void stab_rt_frame_of_stacks() {
  const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 2 * sizeof(uint64_t);
  if (frame <= stab_stack.base && frame >= stab_stack.lowest) stab_stack.base = frame;
}

}  // extern "C"
