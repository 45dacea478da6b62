// Return addresses that no thread's stack shows: on stacks at rest, in a program that switches stacks by code that it makes while
// it runs. They are looked for in all memory that the family's processes may write and have written, word by word.
#pragma once

#include "runtime/helper/session.h"

namespace stab::helper {

// Adds to `found` the slots that words lead into. False: not everything could be read, or not in the time that there is.
bool search_memory(const Session& session, SlotSet& found);

}  // namespace stab::helper
