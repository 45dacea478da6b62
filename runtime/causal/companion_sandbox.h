// What the companion takes from itself before it looks at an area.
#pragma once

namespace stab::causal {

// From here on it can look at clocks, at /proc and at what is mapped, sleep, write what is open, and end; for anything else it is
// ended by SIGSYS. What failed, or nullptr.
const char* confine();

}  // namespace stab::causal
