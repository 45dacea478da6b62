// JUnit's XML: answers as the test cases that CI systems show.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report_data/report.h"

namespace stab::commands {

struct JunitCase {
  enum class Outcome { kPassed, kFailed, kSkipped, kError };
  std::string class_name;
  std::string name;
  Outcome outcome = Outcome::kPassed;
  std::string message;  // shown unless it passed
  std::optional<double> seconds{};  // absent: no time was measured
};

// What the runs of the level that a contrast asks about took in the mean. Absent: its response is no time, or has no value there.
std::optional<double> seconds_of_level(const report::Report& report, const report::Contrast& contrast);

// One suite; names and messages may hold anything, what XML can't have becomes a blank. `seconds`: of the whole suite; absent:
// the sum of its cases.
std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases, std::optional<double> seconds = {});

}  // namespace stab::commands
