// By opcode maps: what most instructions of a row have in common first, then those that differ.
#include "runtime/arch/x86_64/instruction.h"

namespace stab::arch::x86_64 {
namespace {

// Of general registers. Two prefixes say how wide: REX.W goes before 66, which may stand beside F2 and F3.
unsigned general(const Instruction& i) { return i.is_wide ? 8 : i.prefix == 0x66 ? 2 : i.prefix == 0 ? 4 : 0; }
unsigned single_or_double(const Instruction& i) { return i.is_wide ? 8 : 4; }

// Of a whole vector, or of the element of it that is read for all.
unsigned vector(const Instruction& i) { return i.may_broadcast ? single_or_double(i) : i.vector_bytes; }

// One number for F3 and F2, or a vector.
unsigned scalar_or_vector(const Instruction& i) { return i.prefix == 0xf3 ? 4 : i.prefix == 0xf2 ? 8 : vector(i); }

unsigned of_x87(const Instruction& i) {
  const unsigned operation = i.modrm_reg();
  switch (i.opcode) {
    case 0xd8:
    case 0xda: return 4;
    case 0xd9: return operation == 0 || operation == 2 || operation == 3 ? 4 : 0;
    case 0xdb: return operation < 4 ? 4 : operation == 5 || operation == 7 ? 10 : 0;
    case 0xdc: return 8;
    case 0xdd: return operation < 4 ? 8 : 0;
    case 0xde: return 2;
    default: return operation < 4 ? 2 : operation == 5 || operation == 7 ? 8 : 0;  // DF
  }
}

unsigned of_one_byte_map(const Instruction& i) {
  const unsigned row = i.opcode >> 4;
  if (row < 4) return i.opcode & 1u ? general(i) : 1;
  if (i.opcode >= 0xd8 && i.opcode <= 0xdf) return of_x87(i);
  switch (i.opcode) {
    case 0x63: return 4;
    case 0x80: case 0x84: case 0x86: case 0x88: case 0x8a: case 0xc0: case 0xc6: case 0xd0: case 0xd2: case 0xf6: case 0xfe:
      return 1;
    case 0x69: case 0x6b: case 0x81: case 0x83: case 0x85: case 0x87: case 0x89: case 0x8b: case 0xc1: case 0xc7: case 0xd1:
    case 0xd3: case 0xf7: return general(i);
    case 0xff: return i.modrm_reg() < 2 ? general(i) : 0;
    default: return 0;
  }
}

// General registers in the map 0F.
unsigned of_two_bytes(const Instruction& i) {
  const unsigned row = i.opcode >> 4;
  if (row == 4) return general(i);  // cmov
  if (row == 9) return 1;           // setcc
  switch (i.opcode) {
    case 0xb6: case 0xbe: return 1;
    case 0xb7: case 0xbf: return 2;
    case 0xaf: return general(i);
    case 0xb8: case 0xbc: case 0xbd: return general(i);
    default: return 0;
  }
}

// SSE and AVX in the map 0F.
unsigned of_vectors(const Instruction& i) {
  const bool is_scalar = i.prefix == 0xf3 || i.prefix == 0xf2, is_66 = i.prefix == 0x66;
  switch (i.opcode) {
    case 0x10: case 0x11: return scalar_or_vector(i);
    case 0x12: return i.prefix == 0xf3 ? i.vector_bytes : i.prefix == 0xf2 && i.vector_bytes > 16 ? i.vector_bytes : 8;
    case 0x13: case 0x17: return 8;
    case 0x16: return i.prefix == 0xf3 ? i.vector_bytes : 8;
    case 0x14: case 0x15: case 0x28: case 0x29: case 0x54: case 0x55: case 0x56: case 0x57: return vector(i);
    case 0x2a: return is_scalar ? single_or_double(i) : 0;
    case 0x2c: case 0x2d: return is_scalar ? scalar_or_vector(i) : 0;
    case 0x2e: case 0x2f: return is_66 ? 8 : 4;
    case 0x52: case 0x53: return i.prefix == 0xf2 ? 0 : scalar_or_vector(i);
    case 0x51: case 0x58: case 0x59: case 0x5c: case 0x5d: case 0x5e: case 0x5f: case 0xc2:
      return scalar_or_vector(i);
    case 0x5a: return is_scalar || is_66 ? scalar_or_vector(i) : i.may_broadcast ? 4 : i.vector_bytes / 2u;
    case 0x5b: case 0xc6: return vector(i);
    case 0x70: return i.prefix != 0 ? vector(i) : 0;
    case 0x6e: return is_66 ? single_or_double(i) : 0;
    case 0x6f: case 0x7f: return is_66 || i.prefix == 0xf3 || i.is_vector ? i.vector_bytes : 0;
    case 0x7c: case 0x7d: case 0xd0: return i.vector_bytes;
    case 0x7e: return is_66 ? single_or_double(i) : i.prefix == 0xf3 ? 8 : 0;
    case 0xc4: return is_66 ? 2 : 0;
    case 0xd6: return is_66 ? 8 : 0;
    case 0xd1: case 0xd2: case 0xd3: case 0xe1: case 0xe2: case 0xf1: case 0xf2: case 0xf3: return is_66 ? 16 : 0;
    case 0xe6: return i.prefix == 0xf3 ? i.may_broadcast ? 4 : i.vector_bytes / 2u : vector(i);
    case 0xf0: return i.prefix == 0xf2 ? i.vector_bytes : 0;
    case 0xc5: case 0xd7: case 0xf7: return 0;
    default: break;
  }
  const bool is_packed_integer = (i.opcode >= 0x60 && i.opcode < 0x6e) || (i.opcode >= 0x71 && i.opcode < 0x77) ||
                                 i.opcode >= 0xd1;
  return is_packed_integer && is_66 ? vector(i) : 0;
}

bool is_fused_multiplication(uint8_t opcode) {
  const unsigned row = opcode >> 4, column = opcode & 15u;
  return row >= 9 && row <= 0xb && column >= 6;
}

// The map 0F38.
unsigned of_three_bytes(const Instruction& i) {
  if (i.prefix != 0x66) return i.is_vector && i.opcode >= 0xf2 && i.opcode != 0xf4 ? single_or_double(i) : 0;
  if (is_fused_multiplication(i.opcode)) {
    const bool is_one = (i.opcode & 1u) && (i.opcode & 15u) >= 9;
    return is_one ? single_or_double(i) : vector(i);
  }
  switch (i.opcode) {
    case 0x78: return 1;
    case 0x79: return 2;
    case 0x18: case 0x58: return 4;
    case 0x19: case 0x59: return 8;
    case 0x1a: case 0x5a: return 16;
    case 0x1b: case 0x5b: return 32;
    case 0x20: case 0x23: case 0x25: case 0x30: case 0x33: case 0x35: return i.vector_bytes / 2u;
    case 0x21: case 0x24: case 0x31: case 0x34: return i.vector_bytes / 4u;
    case 0x22: case 0x32: return i.vector_bytes / 8u;
    case 0xf7: return i.is_vector ? single_or_double(i) : 0;
    default: break;
  }
  // Shuffles and arithmetic of SSSE3, SSE4.1, AES and AVX2.
  const bool is_plain = i.opcode < 0x0c || (i.opcode >= 0x1c && i.opcode < 0x1f) || i.opcode == 0x28 || i.opcode == 0x29 ||
                        i.opcode == 0x2b || (i.opcode >= 0x36 && i.opcode <= 0x41) || (i.opcode >= 0x45 && i.opcode < 0x48) ||
                        (i.opcode >= 0xdb && i.opcode < 0xe0);
  const bool is_avx = i.is_vector && (i.opcode == 0x0c || i.opcode == 0x0d || i.opcode == 0x16);
  return is_plain || is_avx ? vector(i) : 0;
}

// The map 0F3A.
unsigned of_those_with_immediates(const Instruction& i) {
  if (i.prefix == 0xf2 && i.opcode == 0xf0) return single_or_double(i);  // rorx
  if (i.prefix != 0x66) return 0;
  switch (i.opcode) {
    case 0x0a: case 0x21: return 4;
    case 0x0b: return 8;
    case 0x20: return 1;
    case 0x22: return single_or_double(i);
    case 0x18: case 0x38: return 16;
    case 0x00: case 0x01: case 0x02: case 0x04: case 0x05: case 0x06: case 0x46: return i.is_vector ? vector(i) : 0;
    case 0x08: case 0x09: case 0x0c: case 0x0d: case 0x0e: case 0x0f: case 0x40: case 0x41: case 0x42: case 0x44: case 0x60:
    case 0x61: case 0x62: case 0x63: case 0xdf: return vector(i);
    default: return 0;
  }
}

}  // namespace

unsigned operand_bytes(const Instruction& i) {
  if (!i.has_modrm || i.names_registers()) return 0;
  switch (i.map) {
    case 0: return of_one_byte_map(i);
    case 1: {
      const unsigned bytes = i.is_vector ? 0 : of_two_bytes(i);
      return bytes != 0 ? bytes : of_vectors(i);
    }
    case 2: return of_three_bytes(i);
    case 3: return of_those_with_immediates(i);
    default: return 0;
  }
}

}  // namespace stab::arch::x86_64
