// Instruction: the shape of one x86-64 instruction, as far as moving it matters: its length, and where its
// displacement and immediate lie. And how many bytes of memory it reads or writes.
#pragma once

#include <cstdint>
#include <span>

namespace stab::arch::x86_64 {

struct Instruction {
  uint8_t length = 0;
  uint8_t map = 0;         // 0 one-byte, 1 0F, 2 0F38, 3 0F3A, 5 and 6 EVEX only
  uint8_t opcode = 0;
  uint8_t modrm = 0;       // valid when has_modrm
  uint8_t sib = 0;         // valid when has_sib()
  uint8_t rex = 0;         // W R X B in the low 4 bits; for VEX and EVEX not filled in
  uint8_t prefix = 0;      // that is a part of the opcode: 66, F3 or F2; of VEX and EVEX what stands for it
  uint8_t vector_bytes = 16;       // of its vectors: 32 and 64 with VEX and EVEX alone
  uint8_t displacement_at = 0;
  uint8_t displacement_bytes = 0;  // 0, 1 or 4: of a memory operand
  uint8_t immediate_at = 0;
  uint8_t immediate_bytes = 0;     // of an immediate or a branch displacement
  bool has_modrm = false;
  bool is_vector = false;          // VEX or EVEX encoded
  bool is_wide = false;            // REX.W, VEX.W or EVEX.W
  bool may_broadcast = false;      // EVEX's bit b: with a memory operand, one element of it is read for all
  bool rip_relative = false;       // the displacement is relative to the next instruction
  bool has_base_register = false;  // the memory operand has a base register (not rip)
  bool indexes_words = false;      // the memory operand is disp32(,%reg,8)
  bool is_branch = false;          // the immediate is relative to the next instruction
  bool address_size_32 = false;    // 67 prefix

  unsigned modrm_reg() const { return (modrm >> 3) & 7u; }
  // Numbers of registers, 0 to 15: that of the reg field, and that of the rm field where names_registers().
  unsigned reg() const { return modrm_reg() | (rex & 4u) << 1; }
  unsigned rm() const { return (modrm & 7u) | (rex & 1u) << 3; }
  bool names_registers() const { return has_modrm && modrm >> 6 == 3; }
  bool has_rex_w() const { return (rex & 8u) != 0; }  // of 64 bits, but for vectors
  bool has_sib() const { return has_modrm && modrm >> 6 != 3 && (modrm & 7u) == 4; }
  bool has_index() const { return has_sib() && (((sib >> 3) & 7u) != 4 || (rex & 2u) != 0); }
  // Of a memory operand with has_base_register.
  unsigned base_register() const { return (has_sib() ? sib & 7u : modrm & 7u) | (rex & 1u) << 3; }
  bool plain(uint8_t one_byte_opcode) const {
    return !is_vector && map == 0 && opcode == one_byte_opcode;
  }
  bool is_call() const { return plain(0xe8); }
  // jmp rel8, jmp rel32
  bool is_jump() const { return plain(0xe9) || plain(0xeb); }
  // jmp *operand: near only
  bool is_indirect_jump() const { return plain(0xff) && modrm_reg() == 4; }
  bool is_indirect_call() const { return plain(0xff) && modrm_reg() == 2; }
  bool is_lea() const { return plain(0x8d); }
  bool is_return() const { return plain(0xc3) || plain(0xc2); }
  // Control never reaches the next instruction: ret, jmp, ud2, hlt, int3.
  bool ends_flow() const;
  // Moves a value into rsp that comes from memory, but for a constant distance from rbp or rsp (compilers spill a saved rsp to
  // the frame, so those are ordinary), from a vector register, or from pop, xchg, xadd, lss or iret. Or moves rsp by what isn't
  // constant, other than by sub, with which compilers make variable arrays, and or (below).
  bool loads_stack_from_elsewhere() const;
  // or %reg, %rsp: speculative load hardening puts what it knows into the stack pointer's upper bits, and compares each return
  // address with the one of the function's original.
  bool marks_stack_pointer() const;
  // mov %reg, %rsp with a register other than rbp: ordinary in functions with variable-sized frames. And lea with another base
  // than rsp and rbp, or an index: ordinary where main aligns its frame.
  bool loads_stack_from_register() const;
  // mov disp(%rbp), %rsp: ordinary where a function with variable-sized frames saved rsp there.
  bool loads_stack_from_frame() const;
  // mov disp(%rsp), %rsp: of assembly, which so ends a frame that it aligned, or loads a variable. Compilers don't.
  bool loads_stack_from_variable() const;
  // mov %rbp, %rsp, or leave, or lea disp(%rbp), %rsp: how functions with a frame pointer end. And a load from the frame.
  bool loads_stack_from_frame_pointer() const;
  // Moves a value into rbp that is no place in the frame and wasn't saved there: where rbp is a frame pointer nothing does.
  bool loads_frame_pointer_from_elsewhere() const;
};

// How many bytes the memory operand has (Intel's manual, volume 2). 0: there is none, or it is not known: of MMX, of instructions
// for the system, and of those of AVX-512 that no other vector instruction is like.
unsigned operand_bytes(const Instruction& instruction);

// Decodes the instruction at the start of `code`. False for bytes that are no 64-bit mode instruction, that
// run past `code`, or that this decoder doesn't know (AMD's XOP, 3DNow! and SSE4a, APX, 16-bit branches):
// the caller must then leave the code alone.
bool decode(std::span<const uint8_t> code, Instruction& out);

}  // namespace stab::arch::x86_64
