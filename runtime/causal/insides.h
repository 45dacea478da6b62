// Latency of points that have a begin and an end, by Little's law: the integral of how many are inside over effective time.
//
// It is added to at samples, with how many are inside at the sample: that stands for the time since the sample before as the
// sample does, its credit included. A look from outside, every so often, would miss that credits are given while somebody is
// inside.
#pragma once

#include "runtime/causal/causal_abi.h"

namespace stab::causal {

// Whether any point is an end, so that there is something to add.
bool has_ends(const Area& area);

// How many are inside at an end point: visits of the begins of its name less those of the ends, 0 where it came out below.
uint64_t inside_of(const Area& area, uint32_t end_point);

// A window opens.
void begin_insides(Area& area);

// Adds the effective time since the last time, unless somebody else is adding: then it is part of the next.
void add_insides(Area& area, int own_pid);

// The same, and waits for whoever is adding: before a visit that counts, where every visit is watched (load.h). Then the sum is
// exact. Not in a signal handler.
void add_insides_surely(Area& area, int own_pid);

}  // namespace stab::causal
