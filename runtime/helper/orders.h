// What the helper does when the program orders something, and how it stays out of the program's way.
#pragma once

#include "runtime/helper/session.h"

namespace stab::helper {

// The end of an epoch: advance(), unless the program has paused its layouts.
void advance_unless_paused(Session& session);

// Control::request was kRequestOrders: new layouts that were asked for, pads of libraries that have come.
// True: a new layout began, so the epoch's clock starts again.
bool obey_orders(Session& session);

// Draws the pads of the program's shared libraries. Part of each refill. pre: `advancing` is set.
void refill_modules(Session& session, LayoutRng& rng);

}  // namespace stab::helper
