// The stream is named by its purpose and the round, as those of the schedule are (plan/schedule.cc).
#include "stabd/engine/build/slots.h"

#include <numeric>

#include "base/rng.h"

namespace stab::engine {

std::vector<int> deal_blocks(uint64_t seed, int slots, int blocks) {
  std::vector<int> dealt;
  std::vector<int> round(static_cast<size_t>(slots));
  for (int block = 0; block < blocks; ++block) {
    if (block % slots == 0) {
      std::iota(round.begin(), round.end(), 0);
      Rng::stream(seed, "slots", static_cast<uint64_t>(block / slots)).shuffle(round);
    }
    dealt.push_back(round[static_cast<size_t>(block % slots)]);
  }
  return dealt;
}

}  // namespace stab::engine
