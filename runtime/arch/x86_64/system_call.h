// The way into the kernel. All return what the kernel returns: a value >= 0, or minus the error number.
#pragma once

#include <sys/syscall.h>

namespace stab::arch::x86_64 {

inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// Clones a process, with these flags, that clones another, with none, and ends. Returns 0 in the last, the pid of that process in
// the caller, or minus the error. The one between lives in the caller's memory until it ends: it only writes what its clone
// returned to `made`.
inline long clone_grandchild(long flags, long& made) {
  long result = SYS_clone;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %[clone], %%eax\n\t"
      "xor %%edi, %%edi\n\t"
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jz 1f\n\t"
      "mov %%rax, (%[made])\n\t"
      "mov %[exit], %%eax\n\t"
      "xor %%edi, %%edi\n\t"
      "syscall\n"
      "1:"
      : "+a"(result), "+D"(flags)
      : "S"(0L), "d"(0L), "r"(r10), "r"(r8), [made] "r"(&made), [clone] "i"(SYS_clone), [exit] "i"(SYS_exit)
      : "rcx", "r11", "cc", "memory");
  return result;
}

// clone(2) with a new stack can't return into compiled code: the clone calls `body`, which never returns, with that stack.
inline long clone_onto(long flags, char* top, void (*body)()) {
  long result;
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
      : [number] "i"(SYS_clone), "D"(flags), "S"(top), [body] "r"(body)
      : "rcx", "rdx", "r8", "r10", "r11", "memory");
  return result;
}

// The body of a program's first function, which is naked: hands over to `FUNCTION`, which never returns.
#define STAB_BEGIN_PROGRAM(FUNCTION) \
  __asm__(                           \
      "xor %ebp, %ebp\n\t"           \
      "and $-16, %rsp\n\t"           \
      "call " FUNCTION)

}  // namespace stab::arch::x86_64
