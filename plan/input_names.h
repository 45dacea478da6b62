// Inputs lie in a trial's directory by the last name of their path, which two of them may share.
#pragma once

#include <map>
#include <string>

namespace stab::plan {

// The inputs of one program or workload, one after the other.
class InputNames {
 public:
  // Why this path can't be put beside those before it: another path of the same last name is among them. Empty: it can.
  std::string why_not_beside(const std::string& path);

 private:
  // Paths of one last name: the first one, and the first that is another; empty: there is none.
  struct Paths {
    std::string first, another;
  };
  std::map<std::string, Paths> of_name_;
};

}  // namespace stab::plan
