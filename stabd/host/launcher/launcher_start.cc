// What takes libc's place in the launcher: where the kernel jumps to, and the memory functions that compilers call
// even in freestanding code. Small loops: the longest thing they see is an environment.
#include <stddef.h>

// The stack is 16-byte aligned at entry; the call makes it what a function expects.
#if defined(__aarch64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  bl launcher_main\n");
#else
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  call launcher_main\n");
#endif

extern "C" {

// In assembly: a loop would be turned into a call of the very function.
#if defined(__aarch64__)
void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) {
  void* at = to;
  __asm__ volatile(
      "1: cbz %2, 2f\n\t"
      "ldrb w9, [%1], #1\n\t"
      "strb w9, [%0], #1\n\t"
      "sub %2, %2, #1\n\t"
      "b 1b\n"
      "2:"
      : "+r"(at), "+r"(from), "+r"(bytes)
      :
      : "x9", "memory");
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  void* at = to;
  __asm__ volatile(
      "1: cbz %1, 2f\n\t"
      "strb %w2, [%0], #1\n\t"
      "sub %1, %1, #1\n\t"
      "b 1b\n"
      "2:"
      : "+&r"(at), "+&r"(bytes)
      : "r"(value)
      : "memory");
  return to;
}
#else
void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) {
  void* at = to;
  __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  void* at = to;
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
  return to;
}
#endif

int memcmp(const void* a, const void* b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const int difference = static_cast<const unsigned char*>(a)[i] - static_cast<const unsigned char*>(b)[i];
    if (difference != 0) return difference;
  }
  return 0;
}

void* memchr(const void* in, int value, size_t bytes) {
  const char* at = static_cast<const char*>(in);
  for (size_t i = 0; i < bytes; ++i)
    if (at[i] == static_cast<char>(value)) return const_cast<char*>(at + i);
  return nullptr;
}

}
