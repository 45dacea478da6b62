// Pointers that lead to copies, where a run has one layout (kDirect): the lists of stab_code, and what they do to an image.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/image.h"
#include "runtime/code/metadata.h"
#include "runtime/code_abi.h"

namespace stab::code {

// Invariant, established by read_pointers: slots ascend; targets and functions move; fields lie inside their functions.
struct Pointers {
  const abi::PointerSlot* slots = nullptr;
  const abi::PointerField* fields = nullptr;
  uint32_t slot_count = 0;
  uint32_t field_count = 0;
};

// `bytes`: from pointers_at() to the section's end. False: that is no such list.
// pre: it is 8-aligned, outlives `out`, and nobody writes it meanwhile; header.flags has kCodePointers
bool read_pointers(const Metadata& code, const void* bytes, size_t size, Pointers& out);

// Where a pointer to a function leads in the image that the scratch was filled by, from the slot's start.
uint32_t landing_of(const ImageScratch& scratch, uint32_t function);

// Makes the instructions of an image that build_image has just written make addresses of copies.
void lead_fields(const Metadata& code, const Pointers& pointers, const ImagePlace& place, const ImageScratch& scratch,
                 uint8_t* out);
// The same in the originals' instructions, at `text`: a copy may go on there, by a label that is a value, and calls of a program
// that is home again come there.
void lead_original_fields(const Metadata& code, const Pointers& pointers, const ImagePlace& place, const ImageScratch& scratch,
                          uint8_t* text);

}  // namespace stab::code
