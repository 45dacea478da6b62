// Calls that change files, those of libraries too, counted over the process; before the n-th it dies, as a SIGKILL would have it.
#pragma once

namespace stab::engine {

inline constexpr int kDiedStatus = 42;

// From now on; 0: never.
void die_before_call(long n);
long calls_so_far();

}  // namespace stab::engine
