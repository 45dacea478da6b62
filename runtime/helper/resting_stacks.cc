// The memory is read while the program runs: what moves meanwhile may be missed, so a slot is searched for several times
// (CleanRounds in ring.h). Words that only look like return addresses, as in dead parts of stacks, keep slots for some time.
#include "runtime/helper/resting_stacks.h"

#include <string.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/mappings.h"
#include "runtime/helper/pages.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Where any image may be: most words lie outside, which two comparisons tell.
struct Span {
  uint64_t start = 0;
  uint64_t bytes = 0;
};

Span span_of_libraries(const RingPlaces& rings) {
  if (rings.count == 0) return {};
  const RingPlace& last = rings.libraries[rings.count - 1];
  return {rings.libraries[0].address, last.address + last.bytes - rings.libraries[0].address};
}

void search_words(const RingPlaces& rings, const uint8_t* bytes, uint64_t size, SlotSet& found) {
  const Span program{rings.program.address, rings.program.bytes}, libraries = span_of_libraries(rings);
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    uint64_t word;
    memcpy(&word, bytes + at, 8);
    if (word - program.start >= program.bytes && word - libraries.start >= libraries.bytes) continue;
    // A return address has a call before it. The first address of a slot is what the runtime notes of its images.
    found |= rings.slot_of(word) & rings.slot_of(word - 1);
  }
}

enum class Searched : uint8_t { kDone, kFailed };

Searched search_pages(const Session& session, const Process& process, const PresentPages& pages, SlotSet& found) {
  const Looker& looker = session.looks.looker;
  for (uint64_t at = pages.start; at < pages.end;) {
    uint64_t step = pages.end - at < kLookBufferBytes ? pages.end - at : kLookBufferBytes;
    if (sys::pread_full(process.memory, looker.buffer, step, at) != static_cast<long>(step)) {
      // A page of it has just gone, or is a device's, which is no stack.
      step = arch::kPage;
      if (sys::pread_full(process.memory, looker.buffer, step, at) != static_cast<long>(step)) {
        at += step;
        continue;
      }
    }
    search_words(looker.rings, looker.buffer, step, found);
    at += step;
    if (sys::process_cpu_ns() >= looker.give_up_cpu_ns) return Searched::kFailed;
  }
  return Searched::kDone;
}

bool search_process(const Session& session, const Process& process, SlotSet& found) {
  Mappings mappings(process, kWritableMapping);
  for (MappingOfKind mapping; mappings.next(mapping);) {
    Pages pages(process, mapping.start, mapping.end);
    for (PresentPages present; pages.next(present);)
      if (search_pages(session, process, present, found) != Searched::kDone) return false;
    if (pages.failed()) return false;
  }
  return !mappings.failed();
}

}  // namespace

bool search_memory(const Session& session, SlotSet& found) {
  if (!search_process(session, session.family.program, found)) return false;
  for (const Process& kin : session.family.kin)
    if (kin.pid != 0 && !search_process(session, kin, found)) return false;
  return true;
}

}  // namespace stab::helper
