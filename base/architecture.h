// What of Stab there is for the processor that it was built for.
#pragma once

#include "base/result.h"

namespace stab {

// szc and what it links into programs know the instructions of one processor. The lab runs on others, too, and measures
// programs as their compilers made them.
#if defined(__x86_64__)
inline constexpr bool kHasLayouts = true;
#else
inline constexpr bool kHasLayouts = false;
#endif

inline constexpr char kNoLayouts[] = "szc and the layout runtime are for x86-64 alone so far; comparisons of plain builds work";

// kUnavailable where there are none.
inline Status check_layouts() {
  if constexpr (kHasLayouts) return {};
  return Error{ErrorCode::kUnavailable, kNoLayouts, {}};
}

}  // namespace stab
