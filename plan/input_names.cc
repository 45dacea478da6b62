#include "plan/input_names.h"

#include "base/wording.h"
#include "plan/plan.h"

namespace stab::plan {

std::string InputNames::why_not_beside(const std::string& path) {
  const std::string name = input_name(path);
  const auto [at, is_new] = of_name_.try_emplace(name, Paths{path, {}});
  if (is_new) return {};
  Paths& paths = at->second;
  const std::string other = paths.first != path ? paths.first : paths.another;
  if (paths.first != path && paths.another.empty()) paths.another = path;
  if (other.empty()) return {};
  return "inputs " + in_quotes(other) + " and " + in_quotes(path) + " would both be " + in_quotes(name) +
         " in a trial's directory";
}

}  // namespace stab::plan
