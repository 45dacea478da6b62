// What differs between processors in one word or one instruction.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::arch::x86_64 {

inline constexpr uint16_t kElfMachine = 62;                                // EM_X86_64
inline constexpr uint32_t kAuditArchitecture = 0xc0000000u | kElfMachine;  // AUDIT_ARCH_X86_64
inline constexpr uint64_t kNoRelocation = 0;                               // R_X86_64_NONE

// The version that libc's symbols of this processor began with, which libc keeps.
#define STAB_FIRST_LIBC_VERSION "GLIBC_2.2.5"
// A function that only libunwind has (not LLVM's), and that by which its interface for all processes begins with the own one.
#define STAB_LIBUNWIND_STEP _ULx86_64_step
#define STAB_LIBUNWIND_STEP_NAME "_ULx86_64_step"
#define STAB_LIBUNWIND_BEGIN _Ux86_64_init_local
#define STAB_LIBUNWIND_BEGIN_NAME "_Ux86_64_init_local"

inline constexpr uint64_t kPage = 4096;

// One instruction, so that a signal handler that comes between loses nothing.
inline void add_one(uint64_t* cell) {
  __asm__ volatile("incq %0" : "+m"(*cell) : : "cc");
}

// Without libc.
inline void copy_bytes(void* to, const void* from, size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
inline void fill_bytes(void* to, int value, size_t bytes) {
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}

// A request to valgrind (valgrind.h, on amd64): instructions that change nothing on a processor. `answer` is what it leaves.
inline uint64_t ask_simulator(const uint64_t (&words)[6], uint64_t answer) {
  // The four rotations are by 128 bits together, and rbx changes places with itself.
  __asm__ volatile(
      "rolq $3, %%rdi\n\t"
      "rolq $13, %%rdi\n\t"
      "rolq $61, %%rdi\n\t"
      "rolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(answer)
      : "a"(&words[0])
      : "cc", "memory");
  return answer;
}

}  // namespace stab::arch::x86_64
