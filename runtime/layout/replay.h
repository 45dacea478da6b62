// Replay: the layouts of a run again, from its binary, its seed and the numbers of its images and refills alone.
//
// Nothing about placement is written down while a program runs. A layout is a function of (metadata, mode, seed, number), the one
// that the helper computes; here it is computed once more, by the same code.
#pragma once

#include <stdint.h>

#include "runtime/code/image.h"
#include "runtime/code/metadata.h"
#include "runtime/code_abi.h"
#include "runtime/settings_abi.h"

namespace stab::layout {

struct Binary {
  code::Metadata code;
  const uint8_t* text = nullptr;     // CodeHeader::text_bytes of the file
  uint64_t pads_address = 0;         // link-time
  uint32_t* pads = nullptr;          // as in the file, to be filled; nullptr: none
  uint32_t pad_count = 0;
  const uint64_t* pad_identities = nullptr;  // by slot, where pads are drawn by identity
};

// Reads an executable. nullptr, or in a word what it lacks. What it has read lives as long as the process.
const char* read_binary(int file, Binary& out);
// Rows of frame descriptions that each image has room for (code/moved_frames.h). 0: there are none that the helper would read.
uint32_t count_frame_rows(int file, const code::Metadata& code);

// From now on pads are drawn by the identities of their functions, as where a script matches layouts. False: it says no
// identities, and the run's pads were not drawn by them either; or there is no memory. `match`: the script's table.
bool match_pads(Binary& binary, const code::MatchTable& match);

// The images of a run, one after the other: each order is shuffled out of the one before.
class ImageSeries {
 public:
  // `library`: what layouts of a shared library are drawn by, none of which depends on those before it; 0: it is an executable.
  // pre: scratch is bound to the binary's code, follows the run's script if it had one, and has placed no image yet
  ImageSeries(const Binary& binary, abi::CodeMode mode, uint64_t seed, uint64_t library, code::ImageScratch& scratch)
      : binary_(binary), mode_(mode), seed_(seed), library_(library), scratch_(scratch) {}
  // Places all functions as the next image of the run did, and returns its number. Afterwards scratch.entry, body and order tell.
  uint32_t place_next();

 private:
  const Binary& binary_;
  abi::CodeMode mode_;
  uint64_t seed_;
  uint64_t library_;
  code::ImageScratch& scratch_;
  uint32_t next_ = 0;
};

// Draws the pads as refill number `refill` did. pre: settings has stack, its range and the seed.
void refill(Binary& binary, const abi::Settings& settings, uint32_t refill);

// The slot of each function, by its index in the metadata: the one that its code reads. kNoPad: it has none, or it is one of
// those that never move, whose fields nobody lists.
inline constexpr uint32_t kNoPad = abi::kNoPad;
void find_pads(const Binary& binary, uint32_t* pad_of);

}  // namespace stab::layout
