// Long loops: leading an activation that never returns from a retired image to the newest while it runs.
//
// A program that lives in one loop stays in the image that it entered the loop's function in, whatever epochs come. Post-link
// has found lead points in such loops (abi::LoopRecord): boundaries of instructions that each turn executes, where nothing
// that the function holds depends on which copy runs. In a retired copy such an instruction becomes a jump to the same
// instruction of the newest copy. There and in flags, registers and stack nothing changes, so the loop goes on.
//
//   near point    near jump to the landing       over the first bytes of an instruction that is as long, in one word
//   short point   short jump to a word; there a  the word lies behind the function, in reach of the short one
//                 near jump to the landing
//   landing       sets `executed`, near jump to  in the newest image's last page: its dose counts, as in a prefix
//                 the point
//
// Each is one aligned store over one whole instruction, which nobody can be inside of; what it leads to is complete
// before. So a core runs the instruction as it was, in the image that it is in, or goes to one that was the newest then.
//
// Ring's argument holds on as for led calls (stayers.h): a led copy leads to the newest image at the moment when the one before
// is retired, as it is led on before that, in every epoch until its slot is used again.
//
// Only functions that a look has found in a retired image are led: the others leave by themselves, and need no stores.
#pragma once

#include <stdint.h>

#include "runtime/arch/arch.h"
#include "runtime/code/image.h"
#include "runtime/code/metadata.h"
#include "runtime/code/ring.h"

namespace stab::code {

// What follows a jump to the newest image in an image: the offset in the text of the original place, for the unwinder.
struct Landing {
  uint8_t code[arch::kLandingCodeBytes];
  uint32_t original;
};
static_assert(sizeof(Landing) == 16);
inline constexpr uint32_t kLandingsBytes = 4096;
inline constexpr uint32_t kMostLandings = kLandingsBytes / sizeof(Landing);

// Where the landings of an image begin, which uses so many bytes of its slot.
inline constexpr uint32_t landings_at(uint32_t image_bytes) { return (image_bytes + 4095) & ~4095u; }

// A word behind a function: a jump to the landing, the point's distance from the function's end, and a mark.
inline constexpr uint16_t kWordMark = 0x4c4c;

// Bytes behind the body of the record's function: a gap and its words; 0 where it has no short points.
uint8_t room_for(const Metadata& code, const abi::LoopRecord& record);

class LongLoops {
 public:
  static constexpr uint32_t kMost = 32;  // functions; more are not active in loops of any program at a time

  enum class Following : uint8_t {
    kBegun,
    kKnown,   // it was followed before
    kUnled,   // it has no points: no loops, or none that can be led
    kFull,    // as many functions or points as can be
  };
  // From now on copies of this function are led. After kBegun: arrive() with the newest image, then lead().
  Following follow(const Metadata& code, uint32_t function);

  // Where the copy of a followed function lies in a slot that was published before the function was followed.
  void note_body(uint32_t function, uint32_t slot, uint32_t body);

  // An image is complete in `slot`, and nobody is led to it yet: writes the landings of the functions from the `first` on.
  void arrive(const Metadata& code, uint32_t slot, const ImagePlace& place, const ImageScratch& scratch, uint8_t* image,
              uint32_t image_bytes, uint32_t first = 0);

  // Leads the copies in `image`, which executes at `address` in `slot`, to the landings of the newest image.
  void lead(const Metadata& code, uint32_t slot, uint64_t address, uint64_t newest_landings, uint8_t* image) const;

  // The slot is used again.
  void forget(uint32_t slot);

  uint32_t size() const { return count_; }

  // What it did and could not do, for the dose; functions are counted once each, the latter up to kMostRefused of them.
  struct Summary {
    uint32_t functions = 0;       // that are led
    uint32_t points = 0;          // in them
    uint32_t unled_branches = 0;  // of them: backward branches without a point on their way
    uint32_t holds_table = 0;     // functions that may hold addresses of their own jump tables
    uint32_t no_point = 0;        // functions with loops in which no jump can be stored
    uint32_t no_loop = 0;         // functions that stay without a loop: frames that wait for what they have called
    uint32_t full = 0;            // functions beyond kMost and kMostLandings
  };
  const Summary& summary() const { return summary_; }

 private:
  static constexpr uint32_t kMostRefused = 256;
  Following refuse(uint32_t function, uint32_t Summary::* why, Following following);


  struct Followed {
    const abi::LoopRecord* record;
    uint32_t first_landing;
    uint32_t body[kMaxSlots];  // 0: none in that slot is known
  };
  Followed all_[kMost] = {};
  uint32_t count_ = 0;
  uint32_t landings_ = 0;
  uint32_t refused_[kMostRefused] = {};
  uint32_t refused_count_ = 0;
  Summary summary_;
};

}  // namespace stab::code
