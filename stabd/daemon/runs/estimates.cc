#include "stabd/daemon/runs/estimates.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stab::daemon {

std::optional<int64_t> time_left(int64_t machine_ns, int64_t tried, int64_t left) {
  if (tried < kFewestTried || machine_ns <= 0 || left < 0) return {};
  return static_cast<int64_t>(static_cast<double>(machine_ns) / static_cast<double>(tried) * static_cast<double>(left));
}

std::vector<std::optional<int64_t>> ends_in(const std::vector<Waiting>& waiting) {
  std::vector<size_t> order(waiting.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto place = [&](size_t i) { return std::tuple(!waiting[i].running, -waiting[i].priority, waiting[i].id); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
  std::vector<std::optional<int64_t>> ends(waiting.size());
  std::optional<int64_t> before = 0;
  for (const size_t i : order) {
    if (before && waiting[i].left_ns) before = *before + *waiting[i].left_ns;
    else before.reset();
    ends[i] = before;
  }
  return ends;
}

}  // namespace stab::daemon
