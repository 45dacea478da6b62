// Decoding x86-64: only the shape. Moving a function needs each instruction's length and the place of its
// PC-relative field; neither its meaning nor its operands. The encoding gives that in a few steps (prefixes,
// opcode, ModRM, SIB, displacement, immediate) with one property table for each of the two irregular opcode
// maps, which is thirty times faster than LLVM's disassembler and needs none of its libraries in the tool.
// LLVM remains the judge: tests/unit/instrumenter compares every decision with LLVM MC, on random encodings
// and on whole programs. What isn't known for sure is refused, and a function with a refused instruction
// doesn't move.
#include "runtime/arch/x86_64/instruction.h"

#include <array>

namespace stab::arch::x86_64 {
namespace {

// What follows an opcode.
enum Shape : uint8_t {
  kNone,       // nothing
  kInvalid,
  kModRm,      // ModRM and its displacement
  kModRm8,     // ... and an 8-bit immediate
  kModRmZ,     // ... and a 32-bit immediate (16-bit under prefix 66)
  kModRmReg,   // ModRM, always register to register whatever mod says (mov to and from control registers)
  kImm8,
  kImmZ,
  kImm16,
  kImm16And8,  // enter
  kImmV,       // mov $imm, %reg: 64-bit under REX.W
  kMoffs,      // 64-bit address (32-bit under prefix 67)
  kRel8,
  kRel32,
  kGroup3b,    // F6: test has an immediate, the others none
  kGroup3z,    // F7
  kPrefix,     // prefixes, escapes: handled before the table
};

using enum Shape;

constexpr std::array<Shape, 256> make_one_byte_map() {
  std::array<Shape, 256> map{};
  for (int row = 0; row < 0x40; row += 8) {
    for (int i = 0; i < 4; ++i) map[row + i] = kModRm;
    map[row + 4] = kImm8;
    map[row + 5] = kImmZ;
    map[row + 6] = map[row + 7] = kInvalid;
  }
  for (int i : {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65, 0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3})
    map[i] = kPrefix;
  for (int i = 0x40; i < 0x50; ++i) map[i] = kPrefix;
  for (int i : {0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea}) map[i] = kInvalid;
  map[0x63] = map[0x8f] = kModRm;
  map[0x68] = kImmZ;
  map[0x69] = kModRmZ;
  map[0x6a] = kImm8;
  map[0x6b] = kModRm8;
  for (int i = 0x70; i < 0x80; ++i) map[i] = kRel8;
  map[0x80] = map[0x83] = kModRm8;
  map[0x81] = kModRmZ;
  for (int i = 0x84; i < 0x8f; ++i) map[i] = kModRm;
  for (int i = 0xa0; i < 0xa4; ++i) map[i] = kMoffs;
  map[0xa8] = kImm8;
  map[0xa9] = kImmZ;
  for (int i = 0xb0; i < 0xb8; ++i) map[i] = kImm8;
  for (int i = 0xb8; i < 0xc0; ++i) map[i] = kImmV;
  map[0xc0] = map[0xc1] = map[0xc6] = kModRm8;
  map[0xc7] = kModRmZ;
  map[0xc2] = map[0xca] = kImm16;
  map[0xc8] = kImm16And8;
  map[0xcd] = kImm8;
  for (int i = 0xd0; i < 0xd4; ++i) map[i] = kModRm;
  for (int i = 0xd8; i < 0xe0; ++i) map[i] = kModRm;
  for (int i = 0xe0; i < 0xe4; ++i) map[i] = kRel8;
  for (int i = 0xe4; i < 0xe8; ++i) map[i] = kImm8;
  map[0xe8] = map[0xe9] = kRel32;
  map[0xeb] = kRel8;
  map[0xf6] = kGroup3b;
  map[0xf7] = kGroup3z;
  map[0xfe] = map[0xff] = kModRm;
  return map;
}

constexpr std::array<Shape, 256> make_0f_map() {
  std::array<Shape, 256> map{};
  for (Shape& shape : map) shape = kModRm;
  for (int i : {0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x37, 0x77, 0xa0,
                0xa1, 0xa2, 0xa8, 0xa9, 0xaa, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf})
    map[i] = kNone;
  for (int i : {0x04, 0x0a, 0x0c, 0x0e, 0x0f, 0x24, 0x25, 0x26, 0x27, 0x36, 0x39, 0x3b, 0x3c, 0x3d, 0x3e,
                0x3f, 0x7a, 0x7b, 0xa6, 0xa7})
    map[i] = kInvalid;
  map[0x38] = map[0x3a] = kPrefix;
  for (int i = 0x20; i < 0x24; ++i) map[i] = kModRmReg;
  for (int i : {0x70, 0x71, 0x72, 0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6}) map[i] = kModRm8;
  for (int i = 0x80; i < 0x90; ++i) map[i] = kRel32;
  return map;
}

constexpr std::array<Shape, 256> kOneByteMap = make_one_byte_map();
constexpr std::array<Shape, 256> k0fMap = make_0f_map();

// The architecture's limit; longer encodings fault.
constexpr size_t kMaxInstructionBytes = 15;

struct Prefixes {
  bool operand_size = false;  // 66
  bool address_size = false;  // 67
  bool repeat = false;        // F2 or F3
  bool lock = false;
  uint8_t last_repeat = 0;    // which of them
};

// Reads bytes and remembers whether it ran past the end.
class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> code)
      : code_(code.first(code.size() < kMaxInstructionBytes ? code.size() : kMaxInstructionBytes)) {}

  uint8_t next() {
    if (at_ < code_.size()) return code_[at_++];
    overrun_ = true;
    return 0;
  }
  uint8_t peek() const { return at_ < code_.size() ? code_[at_] : 0; }
  void skip(size_t count) {
    at_ += count;
    if (at_ > code_.size()) overrun_ = true;
  }
  uint8_t at() const { return static_cast<uint8_t>(at_); }
  bool overrun() const { return overrun_; }

 private:
  std::span<const uint8_t> code_;
  size_t at_ = 0;
  bool overrun_ = false;
};

// True when `byte` is a legacy prefix, which is then noted.
bool take_prefix(uint8_t byte, Prefixes& prefixes) {
  switch (byte) {
    case 0x66: return prefixes.operand_size = true;
    case 0x67: return prefixes.address_size = true;
    case 0xf2:
    case 0xf3:
      prefixes.last_repeat = byte;
      return prefixes.repeat = true;
    case 0xf0: return prefixes.lock = true;
    case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: return true;
    default: return false;
  }
}

void read_modrm(Cursor& cursor, Instruction& out, bool register_only) {
  out.has_modrm = true;
  out.modrm = cursor.next();
  const unsigned mod = out.modrm >> 6, rm = out.modrm & 7u;
  if (mod == 3 || register_only) return;
  unsigned bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
  out.has_base_register = true;
  if (rm == 4) {
    const uint8_t sib = cursor.next();
    out.sib = sib;
    if (mod == 0 && (sib & 7u) == 5) {
      bytes = 4;
      out.has_base_register = false;
      out.indexes_words = sib >> 6 == 3;
    }
  } else if (mod == 0 && rm == 5) {
    bytes = 4;
    out.rip_relative = true;
    out.has_base_register = false;
  }
  if (bytes == 0) return;
  out.displacement_at = cursor.at();
  out.displacement_bytes = static_cast<uint8_t>(bytes);
  cursor.skip(bytes);
}

void read_immediate(Cursor& cursor, Instruction& out, unsigned bytes) {
  out.immediate_at = cursor.at();
  out.immediate_bytes = static_cast<uint8_t>(bytes);
  cursor.skip(bytes);
}

bool read_operands(Cursor& cursor, Shape shape, const Prefixes& prefixes, Instruction& out) {
  const bool wide = out.rex & 8u;
  const unsigned z = prefixes.operand_size && !wide ? 2 : 4;
  // LLVM reads 32 bits under 66 with xrelease, where the manual says 16; nothing compiled has both.
  const bool has_z = shape == kModRmZ || shape == kImmZ || shape == kImmV || shape == kGroup3z;
  if (has_z && prefixes.operand_size && prefixes.repeat) return false;
  switch (shape) {
    case kNone: return true;
    case kInvalid:
    case kPrefix: return false;
    case kModRm: read_modrm(cursor, out, false); return true;
    case kModRmReg: read_modrm(cursor, out, true); return true;
    case kModRm8:
      read_modrm(cursor, out, false);
      read_immediate(cursor, out, 1);
      return true;
    case kModRmZ:
      read_modrm(cursor, out, false);
      read_immediate(cursor, out, z);
      return true;
    case kImm8: read_immediate(cursor, out, 1); return true;
    case kImmZ: read_immediate(cursor, out, z); return true;
    case kImm16: read_immediate(cursor, out, 2); return true;
    case kImm16And8: read_immediate(cursor, out, 3); return true;
    case kImmV: read_immediate(cursor, out, wide ? 8 : z); return true;
    case kMoffs: read_immediate(cursor, out, prefixes.address_size ? 4 : 8); return true;
    case kRel8:
      out.is_branch = true;
      read_immediate(cursor, out, 1);
      return true;
    case kRel32:
      // Under prefix 66 AMD reads 16 bits and Intel 32; only the padded call of TLS sequences (REX.W) is certain.
      if (z != 4 || (prefixes.operand_size && !out.plain(0xe8))) return false;
      out.is_branch = true;
      read_immediate(cursor, out, 4);
      return true;
    case kGroup3b:
    case kGroup3z:
      read_modrm(cursor, out, false);
      if (out.modrm_reg() < 2) read_immediate(cursor, out, shape == kGroup3b ? 1 : z);
      return true;
  }
  return false;
}

// The VEX and EVEX maps 1, 2, 3 mirror the legacy ones; EVEX maps 5 and 6 (half precision) have no immediates.
Shape vector_shape(uint8_t map, uint8_t opcode) {
  switch (map) {
    case 1: {
      if (opcode == 0x77) return kNone;
      const Shape shape = k0fMap[opcode];
      // Where the legacy map has branches or nothing, the vector maps have mask moves with ModRM.
      return shape == kModRm8 && opcode != 0xa4 && opcode != 0xac && opcode != 0xba ? kModRm8 : kModRm;
    }
    case 2:
    case 5:
    case 6: return kModRm;
    case 3: return kModRm8;
    default: return kInvalid;
  }
}

bool decode_vector(Cursor& cursor, uint8_t escape, const Prefixes& prefixes, Instruction& out) {
  if (prefixes.operand_size || prefixes.repeat || prefixes.lock || out.rex != 0) return false;
  constexpr uint8_t kPrefixes[] = {0, 0x66, 0xf3, 0xf2};
  out.is_vector = true;
  const uint8_t first = cursor.next();
  uint8_t second = first;  // the last byte of VEX, the middle one of EVEX: it ends with the prefix
  if (escape == 0xc5) {
    out.map = 1;
  } else if (escape == 0xc4) {
    out.map = first & 0x1f;
    second = cursor.next();
    out.is_wide = second & 0x80;
    if (out.map > 3) return false;
  } else {
    out.map = first & 7u;
    if (first & 8u) return false;                // APX
    second = cursor.next();
    out.is_wide = second & 0x80;
    if (!(second & 4u)) return false;            // fixed to 1 except for APX and AVX10.2
    const uint8_t third = cursor.next();
    out.may_broadcast = third & 0x10;
    out.vector_bytes = third & 0x40 ? 64 : third & 0x20 ? 32 : 16;
  }
  if (escape != 0x62 && (second & 4u)) out.vector_bytes = 32;
  out.prefix = kPrefixes[second & 3u];
  out.opcode = cursor.next();
  return read_operands(cursor, vector_shape(out.map, out.opcode), {.address_size = prefixes.address_size}, out);
}

bool decode_legacy(Cursor& cursor, uint8_t opcode, const Prefixes& prefixes, Instruction& out) {
  Shape shape = kOneByteMap[opcode];
  if (opcode == 0x0f) {
    opcode = cursor.next();
    shape = k0fMap[opcode];
    out.map = 1;
    // SSE4a's extrq and insertq carry two immediates under 66 and F2.
    if (opcode == 0x78 && (prefixes.operand_size || prefixes.repeat)) return false;
    if (opcode == 0x38 || opcode == 0x3a) {
      out.map = opcode == 0x38 ? 2 : 3;
      shape = opcode == 0x38 ? kModRm : kModRm8;
      opcode = cursor.next();
    }
  }
  out.opcode = opcode;
  // 8F with a map in the low bits of its "ModRM" is AMD's XOP.
  if (out.map == 0 && opcode == 0x8f && (cursor.peek() & 0x38u) != 0) return false;
  if (!read_operands(cursor, shape, prefixes, out)) return false;
  // xbegin: C7 F8 rel32.
  if (out.plain(0xc7) && out.modrm == 0xf8) {
    if (out.immediate_bytes != 4) return false;
    out.is_branch = true;
  }
  return true;
}

}  // namespace

bool decode(std::span<const uint8_t> code, Instruction& out) {
  out = {};
  Cursor cursor(code);
  Prefixes prefixes;
  uint8_t byte = cursor.next();
  while (!cursor.overrun() && take_prefix(byte, prefixes)) byte = cursor.next();
  if ((byte & 0xf0) == 0x40) {
    out.rex = byte & 0x0f;
    byte = cursor.next();
    // A prefix after REX cancels it; no compiler writes that.
    Prefixes ignored;
    if ((byte & 0xf0) == 0x40 || take_prefix(byte, ignored)) return false;
  }
  out.is_wide = out.rex & 8u;
  out.prefix = prefixes.repeat ? prefixes.last_repeat : prefixes.operand_size ? 0x66 : 0;
  const bool vector = byte == 0xc4 || byte == 0xc5 || byte == 0x62;
  const bool known = vector ? decode_vector(cursor, byte, prefixes, out)
                            : decode_legacy(cursor, byte, prefixes, out);
  out.address_size_32 = prefixes.address_size;
  out.length = cursor.at();
  return known && !cursor.overrun();
}

bool Instruction::ends_flow() const {
  if (is_return() || is_jump() || is_indirect_jump()) return true;
  if (plain(0xf4) || plain(0xcc)) return true;
  return !is_vector && map == 1 && opcode == 0x0b;
}

namespace {
constexpr unsigned kRsp = 4, kRbp = 5;

// disp(%rsp) or disp(%rbp).
bool is_in_frame(const Instruction& i) {
  return i.has_base_register && !i.has_index() && (i.base_register() == kRsp || i.base_register() == kRbp);
}
}  // namespace

bool Instruction::loads_stack_from_elsewhere() const {
  if (plain(0x5c) || plain(0x94)) return !(rex & 1u);  // pop %rsp, xchg %rax, %rsp
  if (plain(0xcf)) return has_rex_w();                 // iretq
  const bool register_is_rsp = reg() == kRsp, operand_is_rsp = names_registers() && rm() == kRsp;
  if (plain(0x87)) return register_is_rsp || operand_is_rsp;
  if (!is_vector && map == 1 && (opcode & 0xf0u) == 0x40) return register_is_rsp;          // cmov
  if (!is_vector && map == 1 && opcode == 0x7e && has_rex_w()) return operand_is_rsp;      // movq %xmm
  if (!is_vector && map == 1 && opcode == 0xb2) return register_is_rsp;                    // lss
  if (!is_vector && map == 1 && opcode == 0xc1) return register_is_rsp || operand_is_rsp;  // xadd
  const unsigned operation = opcode >> 3;
  const bool sums = !is_vector && map == 0 && operation != 1 && (operation < 4 || operation == 6);  // add, adc, sbb, xor
  if (sums && (opcode & 7u) == 1) return operand_is_rsp;
  if (sums && (opcode & 7u) == 3) return register_is_rsp;
  return plain(0x8b) && has_rex_w() && !names_registers() && register_is_rsp && !is_in_frame(*this);
}

bool Instruction::marks_stack_pointer() const {
  return names_registers() && ((plain(0x09) && rm() == kRsp) || (plain(0x0b) && reg() == kRsp));
}

bool Instruction::loads_stack_from_frame() const {
  return plain(0x8b) && reg() == kRsp && is_in_frame(*this) && base_register() == kRbp;
}

bool Instruction::loads_stack_from_variable() const {
  return plain(0x8b) && reg() == kRsp && is_in_frame(*this) && base_register() == kRsp;
}

bool Instruction::loads_stack_from_register() const {
  if (is_lea()) return reg() == kRsp && !is_in_frame(*this);
  if (!names_registers()) return false;
  return (plain(0x8b) && reg() == kRsp && rm() != kRbp) || (plain(0x89) && rm() == kRsp && reg() != kRbp);
}

bool Instruction::loads_stack_from_frame_pointer() const {
  if (plain(0xc9) || loads_stack_from_frame()) return true;
  if (is_lea()) return reg() == kRsp && is_in_frame(*this) && base_register() == kRbp;
  if (!names_registers()) return false;
  return (plain(0x89) && reg() == kRbp && rm() == kRsp) || (plain(0x8b) && reg() == kRsp && rm() == kRbp);
}

bool Instruction::loads_frame_pointer_from_elsewhere() const {
  if (!has_modrm || !has_rex_w()) return false;
  if (plain(0x89)) return names_registers() && rm() == kRbp && reg() != kRsp;
  if (plain(0x8b) && names_registers()) return reg() == kRbp && rm() != kRsp;
  return (plain(0x8b) || is_lea()) && reg() == kRbp && !is_in_frame(*this);
}

}  // namespace stab::arch::x86_64
