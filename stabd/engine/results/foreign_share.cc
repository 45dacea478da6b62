// See foreign_share.h.
#include "stabd/engine/results/foreign_share.h"

#include <algorithm>
#include <cmath>

namespace stab::engine {
namespace {

// USER_HZ, proc(5): in what /proc/stat counts.
constexpr double kPrintedNs = 10e6;
// The standard deviation of the difference of two readings that are both cut to kPrintedNs, at most: what is cut off is a rest f
// of kPrintedNs with variance f (1 - f).
constexpr double kRoundingNs = kPrintedNs / 2;

// Three of them, of the sum over `count` windows on `cpus` CPUs.
double rounding_ns(double cpus, size_t count) {
  return 3 * kRoundingNs * std::sqrt(cpus * static_cast<double>(count));
}

// The kernel's, in which it goes to sleep and wakes up.
constexpr double kWaitNs = 10e3;

// Of a window, or of several together.
double foreign_of(const WindowOfCpus& all, double most) {
  return all.foreign_ns - std::min(kWaitNs * all.waits, most * all.cpus_ns);
}

}  // namespace

std::vector<double> foreign_shares(const std::vector<WindowOfCpus>& windows, uint32_t cpus, double most) {
  const double number = std::max(cpus, 1u);
  const auto share_of = [](double foreign_ns, double cpus_ns) { return std::clamp(foreign_ns / cpus_ns, 0.0, 1.0); };
  std::vector<double> shares(windows.size(), 0.0);
  std::vector<size_t> together;
  for (size_t w = 0; w < windows.size(); ++w) {
    if (!windows[w].known || windows[w].cpus_ns <= 0) continue;
    const double foreign = foreign_of(windows[w], most), time = windows[w].cpus_ns;
    if (foreign - number * kPrintedNs > most * time)
      shares[w] = share_of(foreign, time);
    else
      together.push_back(w);
  }

  // Begins, in `together`, of stretches that are long enough.
  std::vector<size_t> begins;
  double time = 0;
  size_t count = 0;
  for (size_t i = 0; i < together.size(); ++i) {
    if (count == 0) begins.push_back(i);
    time += windows[together[i]].cpus_ns;
    ++count;
    if (rounding_ns(number, count) <= most * time) time = 0, count = 0;
  }
  if (count > 0 && begins.size() > 1) begins.pop_back();  // the rest is too short to be one of its own

  for (size_t b = 0; b < begins.size(); ++b) {
    const size_t end = b + 1 < begins.size() ? begins[b + 1] : together.size();
    WindowOfCpus all;
    for (size_t i = begins[b]; i < end; ++i) {
      const WindowOfCpus& window = windows[together[i]];
      all.foreign_ns += window.foreign_ns, all.cpus_ns += window.cpus_ns, all.waits += window.waits;
    }
    // Where the whole trial is too short, what rounding may have made of it is not held against it.
    const double unsure = std::max(0.0, rounding_ns(number, end - begins[b]) - most * all.cpus_ns);
    for (size_t i = begins[b]; i < end; ++i) shares[together[i]] = share_of(foreign_of(all, most) - unsure, all.cpus_ns);
  }
  return shares;
}

}  // namespace stab::engine
