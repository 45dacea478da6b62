// ClockChoice: which time compares programs that were tried once: CPU time in sliced blocks, or wall time one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stab::ctl {

// Shares of its time that a program which keeps one CPU busy is on a CPU. A program that spends a tenth of it waiting could hide
// a regression of a tenth from CPU time.
inline constexpr double kLeastBusy = 0.9, kMostBusy = 1.05;

struct TriedProgram {
  std::string name;      // as the user wrote it
  double busy = 1;       // the share of its time that it was on a CPU
  int64_t max_rss_kib = 0;
};

struct ClockChoice {
  bool sliced = true;
  std::string sentence;  // what is compared, and why
};

// CPU time is what a program costs if it keeps one CPU busy: it waits for nothing else, and uses no second one. Then the programs
// also have to fit into memory together: `available_kib`; absent: it is not known.
ClockChoice choose_clock(const std::vector<TriedProgram>& programs, std::optional<int64_t> available_kib);

}  // namespace stab::ctl
