#include "analysis/commands/junit.h"

#include <algorithm>

#include "analysis/text/markup.h"

namespace stab::commands {
namespace {

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + text::as_markup_line(value) + "\"";
}

}  // namespace

std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases) {
  using Outcome = JunitCase::Outcome;
  const auto number = [&](Outcome outcome) {
    const auto same = [&](const JunitCase& one) { return one.outcome == outcome; };
    return std::to_string(std::count_if(cases.begin(), cases.end(), same));
  };
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite" + attribute("name", suite) +
                    attribute("tests", std::to_string(cases.size())) + attribute("failures", number(Outcome::kFailed)) +
                    attribute("errors", number(Outcome::kError)) + attribute("skipped", number(Outcome::kSkipped)) + ">\n";
  for (const JunitCase& one : cases) {
    out += "  <testcase" + attribute("classname", one.class_name) + attribute("name", one.name);
    const char* elements[] = {nullptr, "failure", "skipped", "error"};
    const char* element = elements[static_cast<int>(one.outcome)];
    out += element ? std::string("><") + element + attribute("message", one.message) + "/></testcase>\n" : "/>\n";
  }
  return out + "</testsuite>\n";
}

}  // namespace stab::commands
