// The beginning and the end of a measured program, for whoever is called at those moments: an executable's arrays
// (executable_entry.cc), or the preloaded heap's constructor (heap/preloaded.cc).
#pragma once

namespace stab {

// A program that nobody launched clones a helper of its own; a preloaded library is in every child of a script, and makes none.
enum class MayMakeHelper { kYes, kNo };

// pre: the main thread is alone, at least with the text where code is to move.
void start(MayMakeHelper may_make);

// The last thing that exit() runs of whoever started: its dose is complete but for what libraries do later.
void finish();

}  // namespace stab
