// Forked children of the family, and theirs, found from outside.
#pragma once

#include "runtime/helper/session.h"

namespace stab::helper {

// pre: the program has not come to main, so that whatever it makes is made later.
void begin_finding(Family& family);

enum class Children : uint8_t {
  kAllKnown,  // every process that shares the images is in kin
  kNew,       // some were entered just now: look at them before reusing anything
  kUnreadable,  // one can't be read, and may run in the images
  kTorn,        // threads ended, or processes were made, so fast that one may have been overlooked; not so another time
  kUnknown,   // this kernel doesn't tell
};
Children find_children(Session& session);

}  // namespace stab::helper
