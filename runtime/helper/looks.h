// Looks at threads: what is known of who may still be in which retired image, and of what stays there.
#pragma once

#include <stdint.h>

#include "runtime/code/long_loops.h"
#include "runtime/code/ring.h"
#include "runtime/helper/made_code.h"
#include "runtime/helper/sampler.h"

namespace stab::helper {

struct Looks {
  bool leads_loops = false;  // of what stays in images of the executable, too, not its calls alone
  code::LongLoops loops;
  code::SeenCode seen;
  uint64_t looked_ns = 0;     // when the last one began
  uint64_t look_took_ns = 0;  // and how long it took
  bool gave_up = false;       // it read stacks for all the time that it may
  uint32_t failures = 0;      // one after the other that some process or list of threads failed in
  code::ThreadLedger threads;
  MadeCode made_code;
  bool code_is_made = false;  // by the program while it runs, as the last look saw: stacks may rest that no thread shows
  code::CleanRounds clean_rounds;
  code::SlotSet in_use = 0;  // retired slots that some thread was seen in by this look
  uint64_t search_took_ns = 0;  // the last search of memory for those, of the helper's own time
  Looker looker;
  Sampler sampler;
};

}  // namespace stab::helper
