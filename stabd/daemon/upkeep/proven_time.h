// ProvenTime: the date that ages are counted by, where too high an age deletes something.
//
// A machine's clock may be wrong for hours or days, and whoever sets it forward makes everything old. But time can't have passed
// that the machine did not run for, or was off: so the proven date follows the clock no faster than twice as fast as time goes
// while the machine runs, and for each start of the machine by a day more. It never goes back, and is never after the clock's
// date. A machine that was off for a month catches up within a month; what is kept is kept longer meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace stab::daemon {

struct ProvenTime {
  int64_t date_ns = 0;    // since the epoch
  int64_t uptime_ns = 0;  // since the machine's start, when that was the date
  std::string boot_id;
};

// After the last one, if there is one; else the clock is believed. Pure.
ProvenTime proven(const std::optional<ProvenTime>& last, int64_t clock_ns, int64_t uptime_ns, const std::string& boot_id);

// By this clock, after what the file says, which then says the new one. What can't be read or written counts as absent: then the
// clock is believed.
int64_t proven_now_ns(const std::string& file, const Clock& clock, const std::string& boot_id);

}  // namespace stab::daemon
