// JUnit's XML: answers as the test cases that CI systems show.
#pragma once

#include <string>
#include <vector>

namespace stab::commands {

struct JunitCase {
  enum class Outcome { kPassed, kFailed, kSkipped, kError };
  std::string class_name;
  std::string name;
  Outcome outcome = Outcome::kPassed;
  std::string message;  // shown unless it passed
};

// One suite; names and messages may hold anything, what XML can't have becomes a blank.
std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases);

}  // namespace stab::commands
