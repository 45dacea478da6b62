// Programs that replace their own text, by memory with huge pages for instance: what they map in its place is a copy, with the
// jumps in its entries that were in them at the time. Nobody leads these on, and the images that they lead to are retired.
#pragma once

#include "runtime/helper/session.h"

namespace stab::helper {

// Whether the program has something else in place of the module's text that it shares with us, or in place of a part.
bool has_replaced_text(const Session& session, const Module& module);

// Gives the entries of what is there now their original bytes, where they lead to an image. No image is entered any more but
// from images, so this module's layouts have ended.
void leave_replaced_text(Session& session, const Module& module);

}  // namespace stab::helper
