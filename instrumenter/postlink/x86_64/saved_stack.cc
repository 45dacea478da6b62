// Registers are followed through the function: one holds an address of the own stack where it was copied from rsp, from another
// such register, made of one by lea, or loaded from the frame by rbp, where compilers spill what they saved. What only other
// values were stored to is no such place: code that isn't optimized keeps its arguments there. Of the places at a distance
// from rsp those count alone to which only addresses of the own stack were stored at the same distance. Whatever else may
// write a register, by the shape of its instruction, makes it unknown. Where two ways meet both must know. Ways that aren't seen
// (jump tables, landing pads) begin behind an instruction that nothing runs on from, with nothing known but rbp, where it is a
// frame pointer all through.
#include "instrumenter/postlink/x86_64/saved_stack.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/x86_64/branch_target.h"
#include "runtime/arch/x86_64/instruction.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

constexpr unsigned kRsp = 4, kRbp = 5;
constexpr Registers kAll = 0xffff;
constexpr Registers kStackPointer = 1u << kRsp;
// rax, rcx, rdx, rsi, rdi, r8 to r11: what calls leave as they like.
constexpr Registers kOfCalls = 0x0fc7;
// rax, rcx, rdx, rsi, rdi: what instructions write without naming them.
constexpr Registers kUnnamed = 0x00c7;
constexpr Registers kByCpuid = 0x000f;

struct Line {
  Instruction instruction;
  size_t at;
  const uint8_t* bytes;
  Registers written_by_call;
};

unsigned register_in_opcode(const Instruction& i) { return (i.opcode & 7u) | (i.rex & 1u) << 3; }
// disp(%rbp), without an index.
bool is_in_frame(const Instruction& i) { return i.has_modrm && (i.modrm >> 6 == 1 || i.modrm >> 6 == 2) && i.rm() == kRbp; }

bool is_nop(const Instruction& i) { return (i.plain(0x90) && !(i.rex & 1u)) || (!i.is_vector && i.map == 1 && i.opcode == 0x1f); }

bool is_push(const Instruction& i) { return !i.is_vector && i.map == 0 && i.opcode >= 0x50 && i.opcode < 0x58; }
bool is_pop(const Instruction& i) { return !i.is_vector && i.map == 0 && i.opcode >= 0x58 && i.opcode < 0x60; }

Registers with(Registers known, unsigned to, bool holds) {
  return static_cast<Registers>(holds ? known | 1u << to : known & ~(1u << to));
}

bool is_one_of(uint8_t opcode, std::initializer_list<uint8_t> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

// SSE, AVX and AVX-512: registers of their own, but for what compares, extracts and converts.
bool is_of_vectors(const Instruction& i) {
  if (i.is_vector || i.map == 2 || i.map == 3) return true;
  if (i.map != 1) return false;
  const uint8_t o = i.opcode;
  return (o >= 0x10 && o < 0x18) || (o >= 0x28 && o < 0x30) || (o >= 0x50 && o < 0x80) || o == 0xc2 ||
         (o >= 0xc4 && o < 0xc7) || o >= 0xd0;
}

Registers written_by_vectors(const Instruction& i) {
  const auto both = [](unsigned low) { return static_cast<Registers>(0x0101u << (low & 7u)); };  // a prefix may hold the high bit
  if ((i.map == 2 || i.map == 3) && i.opcode >= 0xe0) return kAll & ~kStackPointer;  // BMI, crc32, movbe, cmpccxadd
  if (i.map == 2 && i.is_vector) return 0;
  if (i.map == 3 && i.opcode >= 0x14 && i.opcode < 0x18) return both(i.modrm);                // pextrb and its like
  if (i.map == 3) return i.opcode >= 0x60 && i.opcode < 0x64 ? kUnnamed : Registers{0};       // pcmpistri and its like
  if (is_one_of(i.opcode, {0x2c, 0x2d, 0x50, 0x78, 0x79, 0x93, 0xc5, 0xd7})) return both(i.modrm_reg());
  return i.opcode == 0x7e ? both(i.modrm) : Registers{0};
}

// Whether the opcode itself names a register: push, pop, xchg, mov of a constant, bswap.
bool has_register_in_opcode(const Instruction& i) {
  if (i.map == 1) return i.opcode >= 0xc8 && i.opcode < 0xd0;
  return (i.opcode >= 0x50 && i.opcode < 0x60) || (i.opcode >= 0x90 && i.opcode < 0x98) || (i.opcode >= 0xb0 && i.opcode < 0xc0);
}

// Where the field for a register is a part of the opcode: arithmetic with a constant, shifts, mul and its like.
bool has_opcode_in_modrm(const Instruction& i) {
  if (i.map == 1) return i.opcode == 0xba;
  return is_one_of(i.opcode, {0x80, 0x81, 0x83, 0x8f, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff});
}

// Whether it writes no register but those that its bytes name: mov, lea, arithmetic but mul and div, shifts, cmov and their like.
bool names_all_it_writes(const Instruction& i) {
  const uint8_t o = i.opcode;
  if (i.is_vector || i.map > 1) return false;
  if (i.map == 1)
    return (o >= 0x40 && o < 0x50) || (o >= 0x90 && o < 0xa0) || (o >= 0xc8 && o < 0xd0) ||
           is_one_of(o, {0xa3, 0xa4, 0xa5, 0xab, 0xac, 0xad, 0xaf, 0xb3, 0xb6, 0xb7, 0xb8, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf});
  if (o < 0x40) return (o & 7u) < 4;
  if (o == 0xf6 || o == 0xf7) return i.modrm_reg() < 4;
  if (o == 0xfe || o == 0xff) return i.modrm_reg() < 2;
  if (o == 0xc6 || o == 0xc7) return i.modrm_reg() == 0;  // xbegin is a branch that writes eax
  return (o >= 0x84 && o < 0x8c) || (o >= 0xb0 && o < 0xc0) || is_pop(i) ||
         is_one_of(o, {0x63, 0x69, 0x6b, 0x80, 0x81, 0x83, 0x8d, 0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3});
}

}  // namespace

Registers may_write(const Instruction& i) {
  if (is_nop(i) || is_push(i) || i.is_return()) return 0;
  const bool compares = i.plain(0x38) || i.plain(0x39) || i.plain(0x3a) || i.plain(0x3b) || i.plain(0x84) || i.plain(0x85);
  if (compares || (i.is_branch && !i.plain(0xc7))) return 0;
  // mov to its second operand, and arithmetic with a constant
  if (i.plain(0x88) || i.plain(0x89) || i.plain(0x81) || i.plain(0x83))
    return static_cast<Registers>(i.names_registers() ? 1u << i.rm() : 0u);
  if (i.plain(0xc9)) return 1u << kRbp;  // leave
  if (!i.is_vector && i.map == 1 && i.opcode == 0xa2) return kByCpuid;
  if (is_of_vectors(i)) return written_by_vectors(i);
  Registers written = names_all_it_writes(i) ? Registers{0} : kUnnamed;
  if (i.has_modrm && !has_opcode_in_modrm(i)) written |= static_cast<Registers>(1u << i.reg());
  if (i.names_registers()) written |= static_cast<Registers>(1u << i.rm());
  if (has_register_in_opcode(i)) written |= static_cast<Registers>(1u << register_in_opcode(i));
  return written;
}

namespace {

// An address of the own stack and a constant.
bool holds_base(const Instruction& i, Registers known) {
  return i.has_base_register && !i.has_index() && (known >> i.base_register() & 1) != 0;
}

int32_t displacement_of(const Line& line) {
  const uint8_t* field = line.bytes + line.instruction.displacement_at;
  if (line.instruction.displacement_bytes == 1) return read_as<int8_t>(field);
  return line.instruction.displacement_bytes == 4 ? read_as<int32_t>(field) : 0;
}

// By its distance from the code's start. pre: a branch or a direct call
int64_t target_of(const Line& line) {
  return static_cast<int64_t>(postlink::target_of(line.instruction, line.bytes, line.at));
}

bool stores_to_frame(const Instruction& i) { return i.plain(0x89) && i.has_rex_w() && is_in_frame(i); }

bool is_at_stack_pointer(const Instruction& i) { return i.has_base_register && !i.has_index() && i.base_register() == kRsp; }

// `others`: places in the frame, by their distance from rbp, that only other values are stored to.
Registers after(const Line& line, Registers known, const std::set<int32_t>& others) {
  const Instruction& i = line.instruction;
  known |= kStackPointer;
  if (i.plain(0x89) && i.has_rex_w() && i.names_registers()) return with(known, i.rm(), (known >> i.reg() & 1) != 0);
  if (i.plain(0x8b) && i.has_rex_w() && i.names_registers()) return with(known, i.reg(), (known >> i.rm() & 1) != 0);
  if (i.plain(0x8b) && i.has_rex_w() && is_in_frame(i))
    return with(known, i.reg(), (known >> kRbp & 1) != 0 && others.count(displacement_of(line)) == 0);
  if (i.is_lea() && i.has_rex_w()) return with(known, i.reg(), holds_base(i, known));
  if (i.is_call() || i.is_indirect_call()) return known & ~(kOfCalls & line.written_by_call);
  if (is_push(i) || is_nop(i)) return known;
  return known & ~(may_write(i) & ~kStackPointer);
}

bool moves(const Instruction& i, unsigned from, unsigned to) {
  if (!i.has_rex_w() || !i.names_registers()) return false;
  return (i.plain(0x89) && i.reg() == from && i.rm() == to) || (i.plain(0x8b) && i.reg() == to && i.rm() == from);
}

// rbp is a frame pointer all through where it is set from rsp, and otherwise only restored.
bool sets_frame_pointer(const std::vector<Line>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const Line& line) { return moves(line.instruction, kRsp, kRbp); });
}

bool gives_up_frame_pointer(const std::vector<Line>& lines) {
  const auto gives_up = [](const Line& line) { return line.instruction.loads_frame_pointer_from_elsewhere(); };
  return std::any_of(lines.begin(), lines.end(), gives_up);
}

// gcc's frames of larger alignment than the stack's begin with lea 16(%rsp), %r13 and and $-32, %rsp. They end with
// lea -16(%rdx), %rsp behind pop %rbp or leave, where rdx may be any register that was popped from where r13 was saved.
int32_t distance_of_aligned_frame(const std::vector<Line>& lines) {
  for (size_t n = 0; n + 1 < lines.size(); ++n) {
    const Instruction &i = lines[n].instruction, &next = lines[n + 1].instruction;
    const bool of_stack = i.is_lea() && i.has_base_register && !i.has_index() && i.base_register() == kRsp;
    const bool ands = (next.plain(0x83) || next.plain(0x81)) && next.modrm_reg() == 4;
    const bool aligns = ands && next.names_registers() && next.rm() == kRsp;
    if (of_stack && aligns) return displacement_of(lines[n]);
  }
  return 0;
}

bool ends_aligned_frame(const std::vector<Line>& lines, size_t n, int32_t distance) {
  if (n == 0 || distance <= 0 || displacement_of(lines[n]) != -distance) return false;
  const Instruction &i = lines[n].instruction, &before = lines[n - 1].instruction;
  const bool restores_frame = before.plain(0xc9) || (is_pop(before) && register_in_opcode(before) == kRbp);
  return i.is_lea() && i.has_base_register && !i.has_index() && restores_frame;
}

// Whether what a load of rsp from disp(%rsp) finds is an address of the own stack. `before`: what is known before each line.
bool was_saved_at_stack_pointer(const std::vector<Line>& lines, const std::vector<Registers>& before, const Line& load) {
  bool saved = false;
  for (size_t n = 0; n < lines.size(); ++n) {
    const Instruction& i = lines[n].instruction;
    const bool stores = i.plain(0x89) && is_at_stack_pointer(i) && displacement_of(lines[n]) == displacement_of(load);
    if (!stores) continue;
    if (!i.has_rex_w() || (before[n] >> i.reg() & 1) == 0) return false;
    saved = true;
  }
  return saved;
}

// mov %rbp, %rsp and pop %rsp: the end of a frame that assembly aligned, which keeps what rsp was where rbp leads. It begins
// with mov %rax, (%rsp) and mov %rsp, %rbp.
bool pops_what_was_saved(const std::vector<Line>& lines, const std::vector<Registers>& before, size_t n) {
  if (n == 0 || !moves(lines[n - 1].instruction, kRbp, kRsp) || (before[n] >> kRbp & 1) == 0) return false;
  bool saved = false;
  for (size_t k = 0; k < lines.size(); ++k) {
    const Instruction& i = lines[k].instruction;
    if (i.plain(0x89) && is_in_frame(i) && displacement_of(lines[k]) == 0) return false;
    if (i.is_lea() && i.reg() == kRbp) return false;
    if (!moves(i, kRsp, kRbp)) continue;
    if (k == 0) return false;
    const Instruction& store = lines[k - 1].instruction;
    saved = store.plain(0x89) && store.has_rex_w() && is_at_stack_pointer(store) && displacement_of(lines[k - 1]) == 0 &&
            (before[k - 1] >> store.reg() & 1) != 0;
    if (!saved) return false;
  }
  return saved;
}

bool is_store_of_what_was_subtracted(const std::vector<Line>& lines, size_t n) {
  const Instruction& i = lines[n].instruction;
  if (n == 0 || !i.has_rex_w()) return false;
  const Instruction& sub = lines[n - 1].instruction;
  return sub.plain(0x29) && sub.has_rex_w() && sub.names_registers() && sub.rm() == kRsp && sub.reg() == i.reg();
}

// mov 64(%rsp), %r11 and add %r11, %rsp: qhasm's functions align their frame by sub %r11, %rsp and mov %r11, 64(%rsp). `led_to`:
// where branches lead.
bool adds_what_was_subtracted(const std::vector<Line>& lines, const std::vector<bool>& led_to, size_t n) {
  const Instruction& add = lines[n].instruction;
  if (!add.plain(0x01) || !add.has_rex_w() || !add.names_registers()) return false;
  const auto loads = [&](const Instruction& i) {
    return i.plain(0x8b) && i.has_rex_w() && is_at_stack_pointer(i) && i.reg() == add.reg();
  };
  size_t load = n;
  do {
    const Instruction& i = lines[load].instruction;
    const bool changes = load < n && (may_write(i) & (kStackPointer | 1u << add.reg())) != 0;
    if (load == 0 || led_to[load] || changes || is_push(i) || is_pop(i) || i.is_branch || i.ends_flow() || i.is_indirect_call())
      return false;
    --load;
  } while (!loads(lines[load].instruction));
  bool saved = false;
  for (size_t k = 0; k < lines.size(); ++k) {
    const Instruction& i = lines[k].instruction;
    if (!i.plain(0x89) || !is_at_stack_pointer(i) || displacement_of(lines[k]) != displacement_of(lines[load])) continue;
    if (!is_store_of_what_was_subtracted(lines, k)) return false;
    saved = true;
  }
  return saved;
}

// A function's instructions, and what leads to each.
struct Flow {
  std::vector<Line> lines;
  std::map<size_t, size_t> line_at;  // by offset
  std::vector<bool> led_to;          // by branches and entries
  std::vector<bool> begins;          // reached by nothing that is seen

  // The line that this one branches to; lines.size(): to none of these.
  size_t after_branch(const Line& line) const {
    if (!line.instruction.is_branch || line.instruction.is_call()) return lines.size();
    return at(static_cast<size_t>(target_of(line)));
  }
  size_t at(size_t offset) const {
    const auto found = line_at.find(offset);
    return found == line_at.end() ? lines.size() : found->second;
  }
};

std::span<const size_t> entries_of(const Surroundings* around) {
  return around != nullptr ? around->entries : std::span<const size_t>();
}

// Nothing: not all of it is instructions.
std::optional<Flow> flow_of(std::span<const uint8_t> code, const Surroundings* around) {
  Flow out;
  std::vector<Line>& lines = out.lines;
  Instruction instruction;
  for (size_t at = 0; at < code.size(); at += instruction.length) {
    if (!decode(code.subspan(at), instruction)) return {};
    out.line_at[at] = lines.size();
    lines.push_back({instruction, at, code.data() + at, kAll});
    if (instruction.is_call() && around != nullptr && around->written_by)
      lines.back().written_by_call = around->written_by(target_of(lines.back()));
  }
  out.led_to.resize(lines.size());
  out.begins.resize(lines.size());
  for (size_t n = 0; n < lines.size(); ++n)
    out.begins[n] = n == 0 || lines[n - 1].instruction.ends_flow() ||
                    (n > 1 && out.begins[n - 1] && is_nop(lines[n - 1].instruction));
  for (const Line& line : lines)
    if (const size_t target = out.after_branch(line); target > 0 && target < lines.size()) {
      out.begins[target] = false;
      out.led_to[target] = true;
    }
  for (const size_t entry : entries_of(around))
    if (const size_t n = out.at(entry); n < lines.size()) out.led_to[n] = true;
  return out;
}

// Which registers hold an address of the own stack before each line. `where_it_begins`: those that do where a way begins that
// isn't seen; `others`: distances from rsp at which other values are stored.
std::vector<Registers> known_before(const Flow& flow, std::span<const size_t> entries, Registers where_it_begins,
                                    const std::set<int32_t>& others) {
  const std::vector<Line>& lines = flow.lines;
  std::vector<Registers> before(lines.size(), kAll);
  for (size_t n = 0; n < lines.size(); ++n)
    if (flow.begins[n] && (n == 0 || !is_nop(lines[n].instruction)))  // what fills a gap runs for nobody
      before[n] = n == 0 ? kStackPointer : where_it_begins;
  for (const size_t entry : entries)
    if (const size_t n = flow.at(entry); n < lines.size()) before[n] = kStackPointer;
  for (bool changed = true; changed;) {
    changed = false;
    const auto meet = [&](size_t n, Registers known) {
      if (n >= lines.size() || (before[n] & known) == before[n]) return;
      before[n] &= known;
      changed = true;
    };
    for (size_t n = 0; n < lines.size(); ++n) {
      const Registers known = after(lines[n], before[n], others);
      meet(flow.after_branch(lines[n]), known);
      if (!lines[n].instruction.ends_flow()) meet(n + 1, known);
    }
  }
  return before;
}

// What is known in a function, once the places that other values are stored to are.
struct Known {
  std::vector<Registers> before;
  std::set<int32_t> others;
};

Known known_in(const Flow& flow, std::span<const size_t> entries, Registers where_it_begins) {
  Known out;
  for (const Line& line : flow.lines)
    if (stores_to_frame(line.instruction)) out.others.insert(displacement_of(line));
  for (size_t left = out.others.size() + 1; out.others.size() < left;) {
    out.before = known_before(flow, entries, where_it_begins, out.others);
    left = out.others.size();
    for (size_t n = 0; n < flow.lines.size(); ++n) {
      const Line& line = flow.lines[n];
      if (stores_to_frame(line.instruction) && (out.before[n] >> line.instruction.reg() & 1) != 0)
        out.others.erase(displacement_of(line));
    }
  }
  return out;
}

// Whether what this line makes the stack pointer, if it does, is an address of the own stack.
bool stays_on_its_stack(const Flow& flow, const Known& known, size_t n, int32_t aligned) {
  const std::vector<Line>& lines = flow.lines;
  const Registers before = known.before[n];
  const Instruction& i = lines[n].instruction;
  const bool returns = is_pop(i) ? pops_what_was_saved(lines, known.before, n) : adds_what_was_subtracted(lines, flow.led_to, n);
  if (i.loads_stack_from_elsewhere() && !returns) return false;
  if (i.loads_stack_from_variable()) return i.has_rex_w() && was_saved_at_stack_pointer(lines, known.before, lines[n]);
  // What was saved there, or rbp is the address of a context.
  if (i.loads_stack_from_frame()) return i.has_rex_w() && (after(lines[n], before, known.others) >> kRsp & 1) != 0;
  if (!i.loads_stack_from_register() || ends_aligned_frame(lines, n, aligned)) return true;
  const unsigned from = i.plain(0x8b) ? i.rm() : i.reg();
  return i.has_rex_w() && (i.is_lea() ? holds_base(i, before) : (before >> from & 1) != 0);
}

}  // namespace

bool goes_back_on_its_stack(std::span<const uint8_t> code, const Surroundings* around) {
  const std::optional<Flow> flow = flow_of(code, around);
  if (!flow) return false;
  const std::vector<Line>& lines = flow->lines;
  const bool loses_frame_pointer = gives_up_frame_pointer(lines);
  const bool keeps_frame_pointer = around == nullptr && sets_frame_pointer(lines) && !loses_frame_pointer;
  const Known known = known_in(*flow, entries_of(around), with(kStackPointer, kRbp, keeps_frame_pointer));
  const int32_t aligned = distance_of_aligned_frame(lines);
  for (size_t n = 0; n < lines.size(); ++n) {
    const bool holds_frame = (known.before[n] >> kRbp & 1) != 0;
    if (loses_frame_pointer && lines[n].instruction.loads_stack_from_frame_pointer() && !holds_frame) return false;
    if (!stays_on_its_stack(*flow, known, n, aligned)) return false;
  }
  return true;
}

}  // namespace stab::postlink
