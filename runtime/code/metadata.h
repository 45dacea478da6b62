// The code metadata of an executable: stab_code, found in the file, checked once, then trusted.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code_abi.h"

namespace stab::code {

// The parts of a stab_code section. Invariant, established by read_metadata: functions are sorted and don't
// overlap and lie in the text; every index, field, table target and list lies inside what it refers to; the functions'
// lists and the tables' targets lie one behind the other, as post-link writes them, so that going through all of them
// takes time in proportion to the section; so that the image builder, which runs in every epoch, checks nothing.
struct Metadata {
  const abi::CodeHeader* header = nullptr;
  const abi::CodeFunction* functions = nullptr;
  const abi::CodeTable* tables = nullptr;
  const uint32_t* targets = nullptr;
  const abi::DirectedFixup* directed = nullptr;
  const uint16_t* fixed = nullptr;
  // What is told about loops; nullptr: nothing. The points of each record lie in its function, where a jump can be stored.
  const abi::LoopRecord* loops = nullptr;
  const uint32_t* points = nullptr;
  uint32_t loop_count = 0;
  // By function; nullptr: the section is from before there were any. Whoever reads them takes care of two that are equal, and
  // of pads beyond the last slot.
  const uint64_t* identities = nullptr;
  const uint32_t* pads = nullptr;
};

enum class MetadataFault : uint8_t {
  kNone,
  kAbsent,     // not there, or not of this version
  kMalformed,  // it breaks the invariant above
};

// The bytes that a header's section takes; 0: it is none of this version.
uint64_t metadata_bytes(const abi::CodeHeader& header);

// Where pointers begin (kCodePointers), behind all that those bytes hold. pre: it is one of this version
uint64_t pointers_at(const abi::CodeHeader& header);

// pre: `bytes` is 8-aligned, outlives `out`, and nobody writes it meanwhile.
MetadataFault read_metadata(const void* bytes, size_t size, Metadata& out);

// Calls with the offset in this function of each field of four bytes that is corrected by how far the function has moved.
template <class Call>
void for_each_fixed(const Metadata& code, const abi::CodeFunction& f, Call call) {
  const uint16_t* const step = code.fixed + f.first_fixed;
  uint64_t at = 0;
  for (uint32_t i = 0; i < f.fixed_count; ++i) {
    at += step[i];
    if (step[i] != abi::kFixedSkip) call(at);
  }
}

// The index of the function that starts at this offset in the text; function_count where none does.
uint32_t function_at(const Metadata& code, uint64_t start);

// The identity of the function that reads each slot of pads; of one that none reads, its number. pre: code.identities
void identities_of_pads(const Metadata& code, uint32_t slots, uint64_t* to);

// A section's place in an ELF file, from its section headers. `read_at` reads exactly `size` bytes at
// `offset` of the file and returns whether it could.
struct FileSpan {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t address = 0;  // link-time; 0: not in memory
};
using ReadAt = bool (*)(void* context, void* to, size_t size, uint64_t offset);
bool find_code_section(ReadAt read_at, void* context, FileSpan& out);
bool find_pads_section(ReadAt read_at, void* context, FileSpan& out);

// Whether the file's .text lies outside of these link-time addresses. What rewrites a program may put its code elsewhere and
// leave the bytes that were there, as llvm-bolt does.
bool has_text_elsewhere(ReadAt read_at, void* context, uint64_t start, uint64_t bytes);

// The offset in the file of a link-time address that an executable segment holds.
bool find_text(ReadAt read_at, void* context, uint64_t address, uint64_t& offset);

}  // namespace stab::code
