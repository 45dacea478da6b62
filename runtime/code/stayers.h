// Functions that stay in retired images: a loop that runs for seconds sits in the image it was entered in, whatever
// epochs come. Each of its calls takes the long way, from the retired copy's entry to its prefix, to the canonical
// entry and to the newest copy: three jumps, which cost an interpreter's loop 8 % of its time. So the calls of the few
// copies that frames were seen in are led to the newest image's arrivals directly, and led on with each epoch.
//
// Ring's argument holds on: nobody enters a retired image except from its own code. The calls of a listed copy lead
// to the newest image at the moment when the one before is retired, as the canonical entries do; both are led on
// before that. A copy stays listed until its slot is used again: what once leads elsewhere must always be led on.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/image.h"
#include "runtime/code/metadata.h"
#include "runtime/code/ring.h"

namespace stab::code {

// The copy of a function in a retired image.
struct Stayer {
  uint32_t slot;
  uint32_t function;  // index in the metadata
  uint32_t body;      // offset in the slot
};

class Stayers {
 public:
  // More than are active in the loops of any program; recursion over many functions fills it and keeps the long way.
  static constexpr uint32_t kMost = 256;

  // The copy that holds `at`, an offset in the slot's `image`. False: there is none, it is listed, or the list is full.
  bool add(const Metadata& code, uint32_t slot, const uint8_t* image, uint32_t at);
  // Slots that are used again.
  void forget(SlotSet slots);

  uint32_t size() const { return count_; }
  const Stayer& operator[](uint32_t index) const { return all_[index]; }

 private:
  Stayer all_[kMost];
  uint32_t count_ = 0;
};

// Code addresses that looks at threads have come across; a set that holds so many and forgets the rest.
class SeenCode {
 public:
  void note(uint64_t address);
  void clear();

  static constexpr uint32_t kPlaces = 1024;
  // 0: nothing
  uint64_t operator[](uint32_t place) const { return at_[place]; }

 private:
  uint64_t at_[kPlaces] = {};
};

// Leads the calls of `stayer`, in the retired `image` that executes at `slot`, to the image that `newest` and `scratch`
// describe, with one aligned 8-byte store each. A call whose field crosses an aligned 8 can't be led anywhere by one
// store, but to the prefix of the copy that it calls: the prefix is led on instead, and one jump of three is left.
void lead_calls(const Metadata& code, const Stayer& stayer, uint64_t slot, const ImagePlace& newest,
                const ImageScratch& scratch, const uint8_t* original, uint8_t* image);

}  // namespace stab::code
