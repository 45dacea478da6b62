// Shared libraries whose code moves: what program and helper share of them, a part of the control block.
//
// Libraries lie more than 2 GiB from the executable, out of reach of its images. So each has a ring of its own near it; a slot of
// the one number in all of them holds the images of one epoch, and threads are looked at once for all.
#pragma once

#include <stdint.h>

namespace stab::code {

inline constexpr uint32_t kMaxLibraries = 48;  // that move at a time

// Values of MovedLibrary::state.
inline constexpr uint32_t kLibraryFree = 0;   // nobody's
inline constexpr uint32_t kLibraryMoves = 1;  // the helper changes its images
inline constexpr uint32_t kLibraryLeft = 2;   // it is unloaded, or about to be: nobody changes its images, and they stay mapped
                                              // until it is seen to be gone
struct MovedLibrary {
  uint32_t version = 0;  // odd while the program writes the rest, which its threads look at without a lock
  uint32_t state = kLibraryFree;
  uint64_t name = 0;          // hash of its file's name; 0: this place was never taken
  uint64_t ring_address = 0;  // in the program
  uint64_t ring_bytes = 0;    // 0: no images
  uint64_t slot_bytes = 0;
  uint64_t text_address = 0;  // of CodeHeader::text_start
};

// How a library comes to move, one at a time: the program asks and waits, the helper makes memory for it, the program maps that,
// the helper puts an image in place.
// Values of LibraryMove::step.
inline constexpr uint32_t kMoveIdle = 0;     // nobody asks; `moves` tells what came of the last one
inline constexpr uint32_t kMoveAsked = 1;    // by the program
inline constexpr uint32_t kMovePlanned = 2;  // by the helper: the memory is there
inline constexpr uint32_t kMoveMapped = 3;   // by the program
inline constexpr uint32_t kMoveLook = 4;     // by the program: are there children that nobody has announced? `moves`: 1 if not
struct LibraryMove {
  uint32_t step = kMoveIdle;  // a futex word
  uint32_t place = 0;  // in Control::libraries
  int32_t file = -1;   // the program's descriptor of the library's file
  uint32_t moves = 0;  // 1: it does
  uint64_t bias = 0;   // address minus link-time address
  uint64_t name = 0;   // as in MovedLibrary
  // The plan. Offsets are those in the libraries' memory.
  uint64_t text_address = 0;
  uint64_t text_bytes = 0;  // whole pages
  uint64_t text_offset = 0;
  uint64_t ring_offset = 0;
  uint64_t slot_bytes = 0;
  uint64_t slots = 0;
  // Where the program has mapped the ring and, in its reach, the control block once more, for the flags of entered images.
  uint64_t ring_address = 0;
  uint64_t control_address = 0;
};

// The memory that images lie in, of the executable or of a library. slot_address 0: none does.
struct PlaceInImage {
  uint64_t slot_address = 0;
  uint64_t slot_bytes = 0;
  uint64_t text_address = 0;  // of the file's CodeHeader::text_start
};
// Of an address in this program; safe in signal handlers.
PlaceInImage find_image(uint64_t address);
// The original of an address in an image; of any other the address itself. Behind a call that nothing follows, it is what that
// returns to.
uint64_t original_of(uint64_t address);
// The same of where a thread is, or was at a call: a prefix that begins right behind a call is its own function's.
uint64_t executed_original_of(uint64_t pc);

}  // namespace stab::code
