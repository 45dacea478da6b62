// What a helper is asked to do beside its work: one bit each, from the plan to the helper. A new one is a row here, whoever sets
// it (stabd/engine/trial/trial_setup.cc), and what obeys it; the way between knows numbers only.
#pragma once

#include <stdint.h>

namespace stab::helper {

inline constexpr uint32_t kTellEpochs = 1;   // behind the report (epoch_record.h)
inline constexpr uint32_t kTellSamples = 2;  // where the program's CPU time was spent, by function, likewise
inline constexpr uint32_t kLeadLoops = 4;    // long loops to new layouts

// As stab-helper's command line names it; its value there is 1.
struct SwitchWord {
  uint32_t bit;
  const char* word;
};
inline constexpr SwitchWord kSwitchWords[] = {
    {kTellEpochs, "--epochs"}, {kTellSamples, "--samples"}, {kLeadLoops, "--long-loops"}};

constexpr uint32_t all_switches() {
  uint32_t all = 0;
  for (const SwitchWord& known : kSwitchWords) all |= known.bit;
  return all;
}
inline constexpr uint32_t kAllSwitches = all_switches();

}  // namespace stab::helper
