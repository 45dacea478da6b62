// clone(2) with a new stack can't return into compiled code, so the few instructions between are written here.
#include "runtime/helper/thread.h"

#include <stddef.h>

#include "runtime/sys.h"

namespace stab::helper {

bool start_thread(void (*body)()) {
  alignas(16) static char stack[16 * 1024];
  long result;
  char* const top = stack + sizeof stack;
  __asm__ volatile(
      "mov %[number], %%eax\n\t"
      "xor %%r10d, %%r10d\n\t"
      "xor %%r8d, %%r8d\n\t"
      "xor %%edx, %%edx\n\t"
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "call *%[body]\n\t"
      "ud2\n"
      "1:"
      : "=&a"(result)
      : [number] "i"(SYS_clone), "D"(kThreadFlags), "S"(top), [body] "r"(body)
      : "rcx", "rdx", "r8", "r10", "r11", "memory");
  return result > 0;
}

}  // namespace stab::helper
