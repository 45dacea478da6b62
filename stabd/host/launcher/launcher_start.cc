// What takes libc's place in the launcher: where the kernel jumps to, and the memory functions that compilers call
// even in freestanding code. Small loops: the longest thing they see is an environment.
#include <stddef.h>

// The stack is 16-byte aligned at entry; the call makes it what a function expects.
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  call launcher_main\n");

extern "C" {

// By one instruction: a loop would be turned into a call of the very function.
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
