// Images of arm64 code: the first step towards the runtime on that processor. What order and places functions get is drawn by
// runtime/code/image.h as for any processor; this writes their copies, with every field that depends on the place corrected, and
// points the canonical entries to them. docs/contributors/arm64.md has the design. Pure: no system call, no libc but memcpy.
//
//   slot:  (room that runtime/code/image.h leaves for its header) | functions, each with its islands behind | veneers
//
// An island is a `b` behind a function, for its conditional branches to others, which reach 1 MiB or 32 KiB. A veneer takes x16,
// as a linker's does, for calls and jumps to what is more than 128 MiB away. Jump tables stay where they are: compilers write
// them as distances from a label of the function, whose address they make by adr.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/arch/aarch64/instruction.h"
#include "runtime/code/image.h"

namespace stab::arch::aarch64 {

// Do not confuse with ELF's: many relocations are one of these in the linked file.
enum class FieldKind : uint8_t {
  kFixed,     // relative, and leads to `target` wherever the function lies
  kFunction,  // a branch to the entry of function number `target`: to its copy, where it has one
};
struct Field {
  uint64_t target;
  uint32_t at;  // offset of the instruction from the function's start
  FieldKind kind;
};

// Of a program: functions as everywhere, where CodeFunction::first_directed and directed_count say which fields are a function's.
struct Program {
  code::Metadata code;
  const Field* fields = nullptr;
};

struct Place {
  uint64_t slot = 0;  // where the image will execute
  uint64_t text = 0;  // CodeHeader::text_start, where it lies
};

// What can't be written, and why.
struct Refusal {
  enum class Why : uint8_t { kNone, kReach, kNoRoom } why = Why::kNone;
  uint32_t function = 0;
  uint32_t at = 0;  // offset of the instruction
};

// Behind a function's body, for ImageScratch::room: an island for each conditional branch that leaves it. More than a byte
// counts: no room is enough.
uint32_t island_bytes(const Program& program, const uint8_t* text, uint32_t function);

// Bytes of a canonical entry. A far one leads further than 128 MiB.
inline uint32_t entry_bytes(const uint8_t* text, const abi::CodeFunction& function, bool is_far) {
  const uint32_t pad = is_landing_pad(get_word(text + function.start)) ? kInstructionBytes : 0;
  return pad + (is_far ? kVeneerBytes : kInstructionBytes);
}

struct Written {
  uint64_t bytes = 0;  // of the slot; 0: refused
  uint32_t veneers = 0;
  uint32_t islands = 0;
  Refusal refusal;
};
// Writes the image of the places that `scratch` holds; `used` is what code::place_image returned, `room` what `out` holds.
Written build_image(const Program& program, const uint8_t* text, const Place& place, const code::ImageScratch& scratch,
                    uint64_t used, uint8_t* out, uint64_t room);

// Points the canonical entries in `text` to the image. Where an indirect branch may arrive, it still may. False: one of them is
// too short for the way to its copy; nothing has changed then.
bool publish(const Program& program, const Place& place, const code::ImageScratch& scratch, uint8_t* text);

}  // namespace stab::arch::aarch64
