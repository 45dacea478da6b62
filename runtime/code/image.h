// An image: one complete copy of all movable functions in a new order, with everything that refers to code
// corrected. Pure: metadata, the text's bytes and random numbers in, bytes out.
//
//   slot:  ImageHeader | ImageEntry[entry_count] | functions | jump tables | frame rows (moved_frames.h)
//          | page of landings (long_loops.h), if there are any
//
// A function's copy:
//   prefix     where a retired copy sends its callers, on to the canonical entry; where the canonical entry jumps to, for
//              which it sets `executed` unless it is set. Its instructions are the processor's (runtime/arch)
//   entry      where calls inside the image go: nothing, or what an entry needs that is to be retired by one store, or
//              a count, where the layout script counts the function
//   body       the function's bytes, corrected; aligned mod 16 as the original
//   (a gap, then a word each)  where the function has short lead points (long_loops.h)
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/arch/arch.h"
#include "runtime/code/layout_script.h"
#include "runtime/code/match_table.h"
#include "runtime/code/metadata.h"
#include "runtime/code/moved_frames.h"
#include "runtime/code_abi.h"
#include "runtime/layout_rng.h"
#include "runtime/modes.h"

namespace stab::code {

// What the program itself (its unwinder, backtraces) reads of an image. Offsets from the slot's start.
struct ImageEntry {
  uint32_t prefix;  // ascending
  uint32_t body;
  uint32_t start;   // of the original, from text_start
  uint32_t bytes;
};
struct ImageHeader {
  uint64_t magic;  // kImageMagic
  uint32_t entry_count;
  uint32_t image_bytes;  // of the slot in use
};
inline constexpr uint64_t kImageMagic = 0x6567616d49424154u;

// Addresses as the program sees them.
struct ImagePlace {
  uint64_t slot = 0;      // where the image will execute
  uint64_t executed = 0;  // the flag that entering it sets
  uint64_t text = 0;      // CodeHeader::text_start
  uint64_t bias = 0;      // program address minus link-time address, for tables
  uint64_t entries = 0;   // EntryCell of the first counted function; the others' follow it
  uint64_t pointer_entries = 0;  // what counts entries by way of the canonical ones; 0: nothing does
};

// Working memory of a build, made once for a program.
struct ImageScratch {
  uint32_t* order = nullptr;      // indices of the movable functions
  uint32_t order_count = 0;
  uint32_t* body = nullptr;       // by function: offset of its body in the slot
  uint32_t* entry = nullptr;      // by function: offset of its entry; 0: it does not move
  uint32_t* table = nullptr;      // by table: offset of its copy
  uint32_t* wish = nullptr;       // by function: what the layout script wants of it (image.cc); 0: nothing
  uint8_t* room = nullptr;        // by function: bytes behind its body that its short lead points need
  const LayoutScript* script = nullptr;
  MovedFrames frames;             // no rows: the executable has no table
  uint32_t still_count = 0;       // so many of the order's first keep their places
  // Where functions are placed by the rows of a table; without rows they are placed by themselves.
  MatchTable match;
  uint32_t* row_order = nullptr;     // indices of the rows
  uint32_t* function_of = nullptr;   // by row: its function; kNoFunction: this build has none
  // By function: what each one's place is drawn by, modulo identity_modulus; nullptr: by nothing of the kind.
  const uint64_t* identities = nullptr;
  uint32_t identity_modulus = 0;
};
inline constexpr uint32_t kNoFunction = ~0u;
// Bytes that bind_scratch needs, and binding zeroed memory of that size.
size_t scratch_bytes(const Metadata& code);
ImageScratch bind_scratch(const Metadata& code, void* memory);

// The order that functions have before the first image; what the script places is behind the rest, if that is still.
void order_as_in_file(const Metadata& code, ImageScratch& scratch);

// Whether entries of the function's copies are counted: the layout script wants it.
bool is_counted(const ImageScratch& scratch, uint32_t function);

// Of a function's copy: its jump tables, each on a multiple of 8; what lies between a multiple of 16 and the one that its body
// begins `residue` behind.
uint32_t table_bytes(const Metadata& code, uint32_t function);
uint32_t lead_bytes(const abi::CodeFunction& function, uint32_t residue);

// An upper bound on the size of any image of this program; a multiple of a page. 0: too large to move.
uint64_t slot_bytes(const Metadata& code, const LayoutScript* script = nullptr, uint32_t frame_rows = 0);
// The same of every program that is placed by this table.
uint64_t slot_bytes(const MatchTable& match, uint32_t frame_rows = 0);
// Slots of such programs lie at multiples of this, so that an offset in a slot is the same place to whatever looks at an
// address's lower bits: caches, predictors, tables of pages.
inline constexpr uint64_t kMatchStride = uint64_t{2} << 20;
inline constexpr uint64_t in_strides(uint64_t slot) { return (slot + kMatchStride - 1) / kMatchStride * kMatchStride; }

// From now on images obey a script, which is bound and outlives the scratch. pre: no image was built with it yet
void follow_script(const LayoutScript& script, ImageScratch& scratch);
// From now on functions are placed by the table, which outlives the scratch, as does zeroed memory of match_scratch_bytes().
// False, and nothing has changed: the metadata has no identities, or a function has no place in the table. pre: no image was
// built with it yet, and no script places functions
size_t match_scratch_bytes(const MatchTable& match);
bool follow_match(const Metadata& code, const MatchTable& match, void* memory, ImageScratch& scratch);

// From now on where each function begins is drawn by its identity, modulo a number that the metadata tells: a power of two from
// kLeastIdentityModulus to a page, about a function's length. So another build of the file has the same places, which take half
// as much room again. There is no table, and in which order functions lie is each build's own. Returns how many bytes images may
// become longer; 0: the metadata has no identities, and nothing has changed. pre: as above, and no script is followed
inline constexpr uint32_t kLeastIdentityModulus = 64;
uint64_t follow_identities(const Metadata& code, ImageScratch& scratch);

// Sets the levels of the next image, number `image` of a run with this seed. Nothing to do where nothing is placed.
void draw_levels(uint64_t seed, uint32_t image, ImageScratch& scratch);

// The first half of an image, which depends on no address: draws an order and the places of all functions and tables from the
// order that the scratch holds, that of the image before; by the rows of a match table from their own order, so that an image
// does not depend on those before it. Returns how many bytes of a slot it takes.
uint64_t place_image(const Metadata& code, abi::CodeMode mode, LayoutRng& rng, ImageScratch& scratch);

// Writes an image to `out`, which holds slot_bytes(code) bytes, and returns how many of them it used.
// `text` holds CodeHeader::text_bytes bytes. Mode kOff is not an image. After it, scratch.entry tells publish()
// and retire() where the functions are.
uint64_t build_image(const Metadata& code, const uint8_t* text, const ImagePlace& place, abi::CodeMode mode,
                     LayoutRng& rng, ImageScratch& scratch, uint8_t* out);

// Points the canonical entries to the image in `slot`, each by one aligned 8-byte store. `text` is the writable
// view of the text that the program executes, `original` the bytes of the file.
void publish(const Metadata& code, const ImageScratch& scratch, const ImagePlace& place, const uint8_t* original,
             uint8_t* text);

// Makes every entry of an image lead back to its canonical one, each by one aligned 2-byte store. The image's
// own header says where they are.
void retire(uint8_t* image);

// Puts the original's bytes back at the canonical entries, likewise: whoever comes from then on runs the original.
void restore(const Metadata& code, const ImageScratch& scratch, const uint8_t* original, uint8_t* text);

// The table of frame descriptions that an image ends with; nullptr: this is no image.
const uint8_t* frames_of(const uint8_t* image);

// The original offset in the text of `at`, an offset in the slot of `image`; `bias` is what to subtract from a
// pc in this function's copy to get its original. Prefix and nops count as the function's start.
// False: `at` is not in a function.
bool find_original(const uint8_t* image, uint32_t at, ImageEntry& out);

// The same for an address that a thread may be at, words behind functions and landings included: of these `out.body` is such
// that `at` comes out as the place that they lead to.
bool find_executed(const uint8_t* image, uint32_t at, ImageEntry& out);

// The same for an address that a call may return to: behind a call that nothing follows, as that of a function that never
// returns, it is the end of the function with the call. The next function may begin there.
bool find_returned_to(const uint8_t* image, uint32_t at, ImageEntry& out);

}  // namespace stab::code
