// CTest: the file of --output-junit, or Testing/Temporary/LastTest.log. Each test is a program of its own, so the times of one
// file are of as many processes as it has tests, but each test has one.
//
// JUnit: Source/CTest/cmCTestTestHandler.cxx; 'time' is in seconds. Files of pytest's --junit-xml and of Google Test are alike.
// The log has hundredths of a second.
#include <map>

#include "plan/metrics/collected.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"
#include "plan/metrics/xml_reader.h"

namespace stab::metrics {
namespace {

struct TestResult {
  std::string name, failure;
  double seconds = 0;
};

using Attributes = std::map<std::string, std::string>;

// Maven's Surefire has written "1,234.567" where seconds are more than 999. Of "1,234" nobody knows whether its comma is that of
// a thousand or a decimal one.
std::optional<double> seconds_of(const std::string& text) {
  const size_t comma = text.find(','), point = text.find('.');
  if (comma == std::string::npos || comma == 0 || comma > 3 || point == std::string::npos) return number(text);
  std::string digits = text.substr(0, comma);
  for (size_t at = comma; at < point; at += 4) {
    const std::string group = text.substr(at, 4);
    if (group.size() != 4 || group[0] != ',' || !is_whole_number(group.substr(1)) || at + 4 > point) return {};
    digits += group.substr(1);
  }
  return is_whole_number(text.substr(0, comma)) ? number(digits + text.substr(point)) : std::nullopt;
}

class JunitResults {
 public:
  Status begin(const std::string& name, const Attributes& attributes) {
    if (name == "failure" || name == "error") return fail("the test failed");
    if (name == "skipped") return fail("the test was skipped");
    if (name != "testcase") return {};
    const auto named = attributes.find("name"), time = attributes.find("time"), status = attributes.find("status");
    if (named == attributes.end()) return bad_input("a testcase has no 'name'");
    if (time == attributes.end()) return bad_input("testcase '" + named->second.substr(0, 40) + "' has no 'time'");
    const auto seconds = seconds_of(time->second);
    if (!seconds)
      return bad_input("the time of testcase '" + named->second.substr(0, 40) + "' is '" + time->second.substr(0, 40) +
                       "', expected a number");
    results_.push_back({whole_name(attributes), "", *seconds});
    inside_ = true;
    if (status == attributes.end() || status->second == "run") return {};
    return fail(status->second == "fail" ? "the test failed" : "the test was not run");
  }
  Status end(const std::string& name) {
    if (name == "testcase") inside_ = false;
    return {};
  }
  std::vector<TestResult> take() { return std::move(results_); }

 private:
  // pytest, Google Test and JUnit name a test within its class, and classes share names; CTest writes the name as the class.
  static std::string whole_name(const Attributes& attributes) {
    const std::string& name = attributes.at("name");
    const auto owner = attributes.find("classname");
    return owner == attributes.end() || owner->second.empty() || owner->second == name ? name : owner->second + "." + name;
  }
  Status fail(const char* why) {
    if (inside_ && results_.back().failure.empty()) results_.back().failure = why;
    return {};
  }
  bool inside_ = false;
  std::vector<TestResult> results_;
};

// "12/30 Testing: sort_large": the name; nothing: another line.
std::optional<std::string> tested(std::string_view row) {
  constexpr std::string_view kTesting = " Testing: ";
  const size_t at = row.find(kTesting);
  const size_t slash = row.find('/');
  if (at == std::string_view::npos || slash == std::string_view::npos || slash > at) return {};
  if (!is_whole_number(trimmed(row.substr(0, slash))) || !is_whole_number(row.substr(slash + 1, at - slash - 1))) return {};
  return std::string(trimmed(row.substr(at + kTesting.size())));
}

// What a test prints stands between its lines: its last "Test time" before its last word counts.
Result<std::vector<TestResult>> log_results(std::string_view text) {
  constexpr std::string_view kTime = "Test time =", kSeconds = "sec";
  std::vector<TestResult> results;
  std::optional<double> seconds;
  bool open = false;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    const std::string where = "line " + std::to_string(line);
    if (const auto name = tested(row)) {
      if (open && !seconds)
        return bad_input(where + ": '" + results.back().name.substr(0, 40) + "' has no 'Test time' before it");
      results.push_back({*name, "", 0});
      seconds.reset();
      open = true;
    }
    if (!open) continue;
    if (row.starts_with(kTime)) {
      const std::vector<std::string_view> words = words_of(row.substr(kTime.size()));
      seconds = words.size() == 2 && words[1] == kSeconds ? number(words[0]) : std::nullopt;
      if (!seconds) return bad_input(where + ": expected a number and 'sec' behind 'Test time ='");
      results.back().seconds = *seconds;
    }
    if (row.starts_with("Test Passed")) results.back().failure.clear();
    if (row.starts_with("Test Failed") || row.starts_with("Test Timeout")) results.back().failure = "the test failed";
  }
  if (open && !seconds)
    return bad_input("it ends before the 'Test time' of '" + results.back().name.substr(0, 40) + "'; was it cut off?");
  return results;
}

Result<std::vector<TestResult>> tests_of(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (!text.substr(first).starts_with('<')) return log_results(text);
  JunitResults results;
  STAB_CHECK_OK(
      read_xml(text.substr(first), {[&](const auto& name, const auto& attributes) { return results.begin(name, attributes); },
                                    [&](const auto& name) { return results.end(name); }}));
  return results.take();
}

Status check_names(const std::vector<TestResult>& results) {
  std::vector<std::string> names;
  for (const TestResult& one : results) names.push_back(one.name);
  return check_apart(names, "give each test a name of its own");
}

}  // namespace

Result<std::vector<Metric>> read_ctest(std::string_view text) {
  STAB_TRY(const std::vector<TestResult> results, tests_of(text));
  STAB_CHECK_OK(check_names(results));
  Collected out;
  for (const TestResult& one : results)
    STAB_CHECK_OK(one.failure.empty() ? out.add(one.name, one.seconds) : out.add_failed(one.name, one.failure));
  return out.take();
}

}  // namespace stab::metrics
