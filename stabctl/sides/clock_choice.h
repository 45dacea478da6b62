// ClockChoice: which time compares programs that were tried once: CPU time in sliced blocks, or wall time one after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stab::ctl {

// Shares of its time that a program which keeps one CPU busy is on a CPU. A program that spends a tenth of it waiting could hide
// a regression of a tenth from CPU time.
inline constexpr double kLeastBusy = 0.9, kMostBusy = 1.05;
// Of a short run the wait for a disk, or ours for a CPU once it is over, is a large share. A program that waits does so each
// time: so one that seems to is tried so often.
inline constexpr std::chrono::nanoseconds kShortRun = std::chrono::seconds(1);
inline constexpr int kMostTries = 5;
// Tries after which is believed what they say of a program's waits.
inline constexpr int kTriesThatTell = 3;

struct TriedProgram {
  std::string name;  // as the user wrote it
  double busy = 1;   // the share of its time that it was on a CPU
  int64_t max_rss_kib = 0;
  std::chrono::nanoseconds wall{0};
  int tries = 1, unwaited = 0;  // in how many of them it waited for nothing that a trial doesn't bring with it

  bool may_not_have_waited() const { return busy < kLeastBusy && wall < kShortRun; }
};

// Two tries, or more, of one program as one: the busiest of all. A program that waited for nothing in most of at least
// kTriesThatTell is as busy as can be, however long others had the CPU; of fewer it could be that the helper answered at once
// and the program waited once itself.
TriedProgram of_tries(const TriedProgram& some, const TriedProgram& others);

struct ClockChoice {
  bool sliced = true;
  std::string sentence;  // what is compared, and why
};

// CPU time is what a program costs if it keeps one CPU busy: it waits for nothing else, and uses no second one. Then the programs
// also have to fit into memory together: `available_kib`; absent: it is not known. `prepares_their_folder`: a command readies the
// folder that they share for each run, so that two runs at once would have what one of them has used up or written.
ClockChoice choose_clock(const std::vector<TriedProgram>& programs, std::optional<int64_t> available_kib,
                         bool prepares_their_folder = false);

}  // namespace stab::ctl
