// Inputs lie in a trial's directory by the last name of their path, which two of them may share.
#pragma once

#include <string>
#include <vector>

namespace stab::plan {

// Why inputs[at] can't be put beside those before it: another path of the same last name is among them. Empty: it can.
std::string why_not_beside(const std::vector<std::string>& inputs, size_t at);

}  // namespace stab::plan
