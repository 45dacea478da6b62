// Forked children of the family, found from outside.
#pragma once

#include "runtime/helper/session.h"

namespace stab::helper {

enum class Children : uint8_t {
  kAllKnown,  // every child that shares the images is in kin
  kNew,       // some were entered just now: look at them before reusing anything
  kUnreadable,  // one can't be read, and may run in the images
  kTorn,        // threads ended so fast that a child may have been overlooked; not so another time
  kUnknown,   // this kernel doesn't tell
};
Children find_children(Session& session);

}  // namespace stab::helper
