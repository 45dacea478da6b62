// The first reason against CPU time is the one that is told.
#include "stabctl/sides/clock_choice.h"

#include <algorithm>

namespace stab::ctl {
namespace {

// What the machine needs beside them.
constexpr int64_t kMemoryLeftKib = 256 << 10;

std::string per_cent(double share) {
  return std::to_string(static_cast<int>(share * 100 + 0.5)) + " %";
}

}  // namespace

TriedProgram of_tries(const TriedProgram& some, const TriedProgram& others) {
  TriedProgram out = some.busy >= others.busy ? some : others;
  out.tries = some.tries + others.tries;
  out.unwaited = some.unwaited + others.unwaited;
  if (out.tries >= kTriesThatTell && 2 * out.unwaited > out.tries) out.busy = std::max(out.busy, 1.0);
  return out;
}

ClockChoice choose_clock(const std::vector<TriedProgram>& programs, std::optional<int64_t> available_kib,
                         bool prepares_their_folder) {
  const auto in_turn = [](const std::string& why) {
    return ClockChoice{false, "wall time, one run after the other in random order: " + why};
  };
  const std::string all = programs.size() > 2 ? "all" : "both";
  int64_t memory = kMemoryLeftKib;
  std::string shares;
  for (const TriedProgram& one : programs) {
    if (one.busy < kLeastBusy)
      return in_turn(one.name + " was on a CPU for " + per_cent(one.busy) +
                     " of its time and waited for the rest, which CPU time "
                     "does not see");
    if (one.busy > kMostBusy)
      return in_turn(one.name + " uses several CPUs (" + per_cent(one.busy) + "), so CPU time is not how long it takes");
    memory += one.max_rss_kib;
    shares += (shares.empty() ? "" : &one == &programs.back() ? " and " : ", ") + per_cent(one.busy);
  }
  if (available_kib && memory > *available_kib)
    return in_turn(all + " at once need " + std::to_string(memory >> 10) + " MiB, and " + std::to_string(*available_kib >> 10) +
                   " MiB are available");
  if (prepares_their_folder)
    return in_turn("--prepare readies this folder for one run, and in time slices " + all + " sides would run in it at once");
  return {true, "CPU time, " + all + " sides at once in time slices of one CPU (sliced blocks): each keeps one CPU busy (" +
                    shares + " of its time)"};
}

}  // namespace stab::ctl
