// Estimates: when experiments will be over, from what their trials have taken so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/store.h"

namespace stab::daemon {

// What is known of one that is to run.
struct Waiting {
  store::Id id = 0;
  int priority = 0;
  bool running = false;
  std::optional<int64_t> left_ns;  // of the machine's time; nothing before its first trials
};

// Machine time that `left` trials will take, were they like the `tried` ones before. Nothing of fewer than kFewestTried.
std::optional<int64_t> time_left(int64_t machine_ns, int64_t tried, int64_t left);
// With fewer, builds and warm-up say more than trials do.
inline constexpr int64_t kFewestTried = 3;

// From now until each is over, in the order of `waiting`, were there nobody else's between: the one that runs first, then
// higher priorities, then lower numbers. Nothing for one whose own time or that of one before it is not known.
std::vector<std::optional<int64_t>> ends_in(const std::vector<Waiting>& waiting);

}  // namespace stab::daemon
