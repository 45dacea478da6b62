// A binary search. The runtime has none of libstdc++ (runtime/CMakeLists.txt): what <algorithm> says of a wrong use it says
// through that library, which a measured program need not have.
#pragma once

#include <stdint.h>

namespace stab::code {

// The first index below `count` for which `holds` does not hold; `count`: there is none.
// pre: behind an index for which it does not hold there is none for which it does.
template <typename Holds>
inline uint32_t partition_point(uint32_t count, Holds holds) {
  uint32_t low = 0, high = count;  // it holds below low, and not from high on
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

}  // namespace stab::code
