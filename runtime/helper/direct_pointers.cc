// The program's data are written through /proc/PID/mem, as it has made what the loader relocates unwritable by then.
#include "runtime/helper/direct_pointers.h"

#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr uint32_t kMostWords = 256;  // of one write

// How many of the slots from `first` on lie one behind the other.
uint32_t words_in_row(const code::Pointers& pointers, uint32_t first) {
  uint32_t count = 1;
  while (count < kMostWords && first + count < pointers.slot_count &&
         pointers.slots[first + count].address == pointers.slots[first].address + count * sizeof(uint64_t))
    ++count;
  return count;
}

// Makes words that hold a function's address hold its copy's, or the other way round. What holds something else is the program's
// doing by now, and stays. Returns how many words it made; -1: one could not be read or written.
long turn_words(const Session& session, bool to_copies) {
  const Module& program = session.images.program;
  const int memory = session.family.program.memory;
  const code::Pointers& pointers = session.pointers;
  long turned = 0;
  uint64_t words[kMostWords];
  for (uint32_t first = 0; first < pointers.slot_count;) {
    const uint32_t count = words_in_row(pointers, first);
    const uint64_t address = program.place.bias + pointers.slots[first].address;
    const long bytes = static_cast<long>(count * sizeof words[0]);
    if (sys::pread_full(memory, words, static_cast<size_t>(bytes), address) != bytes) return -1;
    bool changes = false;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t target = pointers.slots[first + i].target;
      const uint64_t original = program.place.text + program.code.functions[target].start;
      const uint64_t copy = program.place.slot + code::landing_of(program.scratch, target);
      if (words[i] != (to_copies ? original : copy)) continue;
      words[i] = to_copies ? copy : original;
      changes = true;
      ++turned;
    }
    if (changes && sys::pwrite(memory, words, static_cast<size_t>(bytes), address) != bytes) return -1;
    first += count;
  }
  return turned;
}

}  // namespace

void read_direct_pointers(Session& session, int executable) {
  Images& images = session.images;
  if (session.hello.settings.code != abi::CodeMode::kDirect) return;
  if (!read_module_pointers(executable, images.program_memory, images.program.code, session.pointers))
    degrade(*session.control, Degradation::kPointersStay);
}

void lead_pointers(Session& session, int slot) {
  Module& program = session.images.program;
  const code::Pointers& pointers = session.pointers;
  if (pointers.slot_count + pointers.field_count == 0) return;
  const long words = turn_words(session, true);
  if (words < 0) {
    (void)turn_words(session, false);
    return degrade(*session.control, Degradation::kPointersStay);
  }
  code::lead_fields(program.code, pointers, program.place, program.scratch, program.slot_memory(slot));
  // What entries are published and restored from, and what the program executes where it goes on in an original.
  code::lead_original_fields(program.code, pointers, program.place, program.scratch, program.original);
  code::lead_original_fields(program.code, pointers, program.place, program.scratch, program.text);
  session.use.pointers_led = static_cast<uint32_t>(words) + pointers.field_count;
}

}  // namespace stab::helper
