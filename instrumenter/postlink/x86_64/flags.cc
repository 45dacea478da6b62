// Following a function from its entry, both ways of each branch, until all flags are written, or something uses one that
// isn't. Compiled functions need a few instructions for that.
#include "instrumenter/postlink/x86_64/flags.h"

#include <algorithm>
#include <vector>

#include "instrumenter/postlink/x86_64/branch_target.h"

namespace stab::postlink {
namespace {

using arch::x86_64::decode;
using arch::x86_64::Instruction;

// Instructions looked at; a function that needs more counts as one that uses flags.
constexpr int kMostSteps = 2000;

constexpr FlagUse kNothing{}, kSetsAll{0, kAllFlags}, kReadsAll{kAllFlags, 0}, kReadsCarry{kCarry, kAllFlags};

bool is_between(unsigned value, unsigned first, unsigned last) { return value >= first && value <= last; }

// Of jcc, setcc and cmovcc, by the lower half of their opcode.
uint8_t condition_flags(unsigned opcode) {
  constexpr uint8_t kFlags[] = {kOverflow, kCarry, kZero, kCarry | kZero, kSign, kParity, kSign | kOverflow,
                                kZero | kSign | kOverflow};
  return kFlags[(opcode & 15u) / 2];
}

// rol, ror, rcl, rcr, shl, shr, shl, sar. By a count that is 0 they set nothing.
FlagUse shift(unsigned operation, bool count_is_known) {
  if (operation == 2 || operation == 3) return {kCarry, 0};
  if (!count_is_known) return kNothing;
  return operation < 2 ? FlagUse{0, kCarry | kOverflow} : kSetsAll;
}

FlagUse one_byte(const Instruction& instruction, std::span<const uint8_t> code) {
  const unsigned opcode = instruction.opcode, operation = instruction.modrm_reg();
  // Eight rows of arithmetic: add, or, adc, sbb, and, sub, xor, cmp; in each six opcodes.
  if (opcode < 0x40 && opcode % 8 < 6) return opcode / 8 == 2 || opcode / 8 == 3 ? kReadsCarry : kSetsAll;
  if (is_between(opcode, 0x80, 0x83)) return operation == 2 || operation == 3 ? kReadsCarry : kSetsAll;
  if (is_between(opcode, 0x70, 0x7f)) return {condition_flags(opcode), 0};
  if (is_between(opcode, 0x84, 0x85) || is_between(opcode, 0xa8, 0xa9)) return kSetsAll;  // test
  if (is_between(opcode, 0xf6, 0xf7)) return operation == 2 ? kNothing : kSetsAll;        // but for not
  if (opcode == 0x69 || opcode == 0x6b) return kSetsAll;                                  // imul
  // push, pop, movsxd, xchg, mov, lea, nop, movs, stos, leave, int3, jrcxz, cld, std
  if (is_between(opcode, 0x50, 0x5f) || opcode == 0x63 || opcode == 0x68 || opcode == 0x6a || is_between(opcode, 0x86, 0x99) ||
      is_between(opcode, 0xa0, 0xa5) || is_between(opcode, 0xaa, 0xab) || is_between(opcode, 0xb0, 0xbf) ||
      is_between(opcode, 0xc6, 0xc9) || opcode == 0xe3 || is_between(opcode, 0xfc, 0xfd))
    return kNothing;
  // Counts are taken modulo 32 or 64.
  if (is_between(opcode, 0xc0, 0xc1)) return shift(operation, (code[instruction.immediate_at] & 31u) != 0);
  if (is_between(opcode, 0xd0, 0xd1)) return shift(operation, true);
  if (is_between(opcode, 0xd2, 0xd3)) return shift(operation, false);
  // Of the x87's some move by flags, and some compare into them: in registers alone.
  if (is_between(opcode, 0xd8, 0xdf)) {
    if (instruction.modrm >> 6 != 3) return kNothing;
    if ((opcode == 0xdb || opcode == 0xdf) && (operation == 5 || operation == 6)) return {0, kCarry | kZero | kParity};
    return opcode == 0xda || opcode == 0xdb ? kReadsAll : kNothing;
  }
  if (opcode == 0xf8 || opcode == 0xf9) return {0, kCarry};  // clc, stc
  if (opcode == 0xfe || opcode == 0xff)                      // inc, dec, push
    return operation < 2 ? FlagUse{0, kAllFlags & ~kCarry} : operation == 6 ? kNothing : kReadsAll;
  return kReadsAll;
}

FlagUse two_bytes(const Instruction& instruction) {
  const unsigned opcode = instruction.opcode;
  if (is_between(opcode, 0x40, 0x4f) || is_between(opcode, 0x80, 0x9f)) return {condition_flags(opcode), 0};
  // ucomis, comis, imul, cmpxchg, xadd
  if (is_between(opcode, 0x2e, 0x2f) || opcode == 0xaf || is_between(opcode, 0xb0, 0xb1) || is_between(opcode, 0xc0, 0xc1))
    return kSetsAll;
  if (opcode == 0xa3 || opcode == 0xab || opcode == 0xb3 || opcode == 0xbb || opcode == 0xba) return {0, kCarry};  // bt and kin
  if (opcode == 0xbc || opcode == 0xbd) return {0, kZero};  // bsf, bsr, tzcnt, lzcnt
  // syscall, prefetches, vectors, hints, rdtsc, emms, cpuid, shld, shrd, fences, movzx, popcnt, movsx, bswap
  if (opcode == 0x05 || opcode == 0x0d || is_between(opcode, 0x10, 0x1f) || is_between(opcode, 0x28, 0x2d) || opcode == 0x31 ||
      is_between(opcode, 0x50, 0x77) || is_between(opcode, 0x7c, 0x7f) || opcode == 0xa2 || is_between(opcode, 0xa4, 0xa5) ||
      is_between(opcode, 0xac, 0xae) || is_between(opcode, 0xb6, 0xb8) || is_between(opcode, 0xbe, 0xbf) ||
      is_between(opcode, 0xc2, 0xc6) || is_between(opcode, 0xc8, 0xfe))
    return kNothing;
  return kReadsAll;
}

class EntryWalk {
 public:
  EntryWalk(const ElfImage& image, const FunctionTable& functions) : image_(image), functions_(functions) {}

  bool uses_flags(const Function& function) {
    take(&function, function.start, 0);
    for (int steps = 0; !open_.empty(); ++steps) {
      const Place place = open_.back();
      open_.pop_back();
      if (steps == kMostSteps || step(place)) return true;
    }
    return false;
  }

 private:
  struct Place {
    const Function* function;
    uint64_t address;
    uint8_t written;
    bool operator==(const Place&) const = default;
  };

  void take(const Function* function, uint64_t address, uint8_t written) {
    const Place place{function, address, written};
    if (written == kAllFlags || std::find(seen_.begin(), seen_.end(), place) != seen_.end()) return;
    seen_.push_back(place);
    open_.push_back(place);
  }

  // True when a flag is used there that nothing has written, or may be.
  bool step(const Place& place) {
    if (!place.function->contains(place.address)) return true;
    Instruction instruction;
    const auto code = image_.text_at(place.address, place.function->end() - place.address);
    if (!decode(code, instruction)) return true;
    // What is called or returned to finds the flags as the callee left them; switches compare before they jump.
    if (instruction.is_call() || instruction.is_indirect_call() || instruction.is_indirect_jump()) return false;
    if (instruction.ends_flow() && !instruction.is_jump()) return false;
    const uint64_t next = place.address + instruction.length;
    const bool jumps = instruction.is_jump();
    const FlagUse use = jumps ? kNothing : flag_use(instruction, code);
    if (use.reads & ~place.written) return true;
    const uint8_t written = place.written | use.writes;
    if (!jumps) take(place.function, next, written);
    if (!instruction.is_branch) return false;
    return goes_to(*place.function, target_of(instruction, code.data(), place.address), written);
  }

  bool goes_to(const Function& from, uint64_t target, uint8_t written) {
    if (from.contains(target)) return take(&from, target, written), false;
    // A stub of the PLT leads to a function of another file.
    const auto other = functions_.holding(target);
    if (other) take(&functions_[*other], target, written);
    return false;
  }

  const ElfImage& image_;
  const FunctionTable& functions_;
  std::vector<Place> seen_, open_;
};

}  // namespace

FlagUse flag_use(const Instruction& instruction, std::span<const uint8_t> code) {
  const unsigned opcode = instruction.opcode;
  if (instruction.is_vector) {  // none of these reads flags; vucomis, kortest, ktest and vptest set them
    const bool compares = (instruction.map == 1 && (is_between(opcode, 0x2e, 0x2f) || is_between(opcode, 0x98, 0x99))) ||
                          (instruction.map == 2 && opcode == 0x17);
    return compares ? kSetsAll : kNothing;
  }
  if (instruction.map == 0) return one_byte(instruction, code);
  if (instruction.map == 1) return two_bytes(instruction);
  if (instruction.map == 2) return opcode == 0xf6 ? kReadsAll : opcode == 0x17 ? kSetsAll : kNothing;  // adcx, adox; ptest
  return opcode >= 0x60 && opcode <= 0x63 ? kSetsAll : kNothing;                                       // pcmpistri and kin
}

bool flags_alive_at_entry(const ElfImage& image, const FunctionTable& functions, const Function& function) {
  return EntryWalk(image, functions).uses_flags(function);
}

}  // namespace stab::postlink
