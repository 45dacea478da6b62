// Findings: what doctor has seen of a machine, in the order in which somebody would act on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stab::ctl {

// The heaviest first.
enum class Weight {
  kWrong,    // trials don't start, or something of ours is in what they measure
  kImprove,  // a lab can change it, for quieter trials
  kAbsent,   // the machine doesn't have it, as a virtual one has no clock to fix: nothing to do here
  kWell,
};
std::string_view name(Weight weight);  // "wrong", "improve", "absent", "well"

struct Finding {
  std::string what, value, wanted, why, cure;
  Weight weight = Weight::kWell;

  bool well() const { return weight == Weight::kWell; }
};

// The heaviest first; those of a weight stay in their order.
void sort_findings(std::vector<Finding>& findings);

// For a screen: a summary, then each weight under a heading of its own; what is absent on few lines.
// pre: sorted
std::string findings_text(const std::vector<Finding>& findings);

// For programs: an array, with the weight and, as "well", whether it is.
std::string findings_json(const std::vector<Finding>& findings);

}  // namespace stab::ctl
