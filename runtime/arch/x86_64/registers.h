// Where the kernel and libc leave a thread's registers.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::arch::x86_64 {

// A sample of perf_event_open: all general registers and the pc, by their numbers in asm/perf_regs.h: rax rbx rcx rdx rsi rdi rbp
// rsp rip, r8 to r15 from 16 on. A return address may be in one of them alone: code that is hardened against load value injection
// (-mlvi-cfi) takes it off the stack, fences, and jumps.
inline constexpr uint64_t kSampledRegisters = 0x1ff | 0xffu << 16;
inline constexpr uint32_t kSampledRegisterCount = 17, kSampledSp = 7, kSampledPc = 8;

// A signal's frame: the address of the trampoline, a mov and a syscall, then ucontext: flags, link, three words of uc_stack, then
// the registers r8-r15 rdi rsi rbp rbx rdx rax rcx rsp rip eflags, and the segments, cs first, which is 0x33 in 64-bit code.
inline constexpr uint64_t kTrampolineBytes = 16;
inline constexpr uint64_t kContextRegisters = 40;  // of ucontext
inline constexpr uint64_t kFrameRegisters = 8 + kContextRegisters;
inline constexpr uint32_t kFrameRegisterCount = 19;
// Where the frame of a thread begins that is in the trampoline, which has been returned to.
inline uint64_t frame_of_trampoline(uint64_t sp) {
  return sp - 8;
}
// The same address also lies about in copies of struct sigaction; those are followed by something else.
inline bool is_signal_frame(const uint64_t (&registers)[kFrameRegisterCount]) {
  return (registers[18] & 0xffff) == 0x33;
}
inline uint64_t interrupted_sp(const uint64_t (&registers)[kFrameRegisterCount]) {
  return registers[15];
}

// Of the context that a handler is given.
inline uint64_t interrupted_pc(const void* context) {
  uint64_t pc;
  __builtin_memcpy(&pc, static_cast<const uint8_t*>(context) + kContextRegisters + 16 * sizeof pc, sizeof pc);
  return pc;
}

// tcbhead_t, which lies at the end of a thread's stack: its own address, the table of thread-local storage, its own address.
inline constexpr size_t kDescriptorBytes = 24;
inline bool is_descriptor(const uint8_t* bytes, uint64_t address) {
  uint64_t word;
  __builtin_memcpy(&word, bytes + 16, 8);
  return word == address;
}

// Where the stack is at a jmp_buf's jump's end, which libc keeps mangled (its PTR_DEMANGLE).
inline uint64_t stack_of_jump(const void* place) {
  constexpr int kStackWord = 6;
  uint64_t stack = static_cast<const uint64_t*>(place)[kStackWord];
  __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(stack));
  return stack;
}

}  // namespace stab::arch::x86_64
