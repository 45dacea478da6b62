#include "plan/input_names.h"

#include <algorithm>

#include "base/wording.h"
#include "plan/plan.h"

namespace stab::plan {

std::string why_not_beside(const std::vector<std::string>& inputs, size_t at) {
  const std::string name = input_name(inputs[at]);
  const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(at);
  const auto same = std::find_if(inputs.begin(), end, [&](const std::string& other) {
    return other != inputs[at] && input_name(other) == name;
  });
  if (same == end) return {};
  return "inputs " + in_quotes(*same) + " and " + in_quotes(inputs[at]) + " would both be " + in_quotes(name) +
         " in a trial's directory";
}

}  // namespace stab::plan
