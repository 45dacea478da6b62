#include "analysis/commands/answers/junit.h"

#include <algorithm>
#include <cstdio>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/markup.h"

namespace stab::commands {
namespace {

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + text::as_markup_line(value) + "\"";
}

// A decimal number, as the schema has it. Benchmarks may take less than a nanosecond, which is shown as none.
std::string time_attribute(const std::optional<double>& seconds) {
  if (!seconds) return {};
  char text[64];
  std::snprintf(text, sizeof text, "%.9f", *seconds);
  return attribute("time", text);
}

std::optional<double> sum_of(const std::vector<JunitCase>& cases) {
  std::optional<double> sum;
  for (const JunitCase& one : cases)
    if (one.seconds) sum = sum.value_or(0) + *one.seconds;
  return sum;
}

}  // namespace

std::optional<double> seconds_of_level(const report::Report& report, const report::Contrast& contrast) {
  if (report::response_of(report, contrast.response).unit != "s") return {};
  const auto named = [&](const report::Factor& factor) { return factor.name == contrast.factor; };
  const auto factor = std::find_if(report.factors.begin(), report.factors.end(), named) - report.factors.begin();
  double sum = 0;
  size_t cells = 0;
  for (const report::Cell& cell : report.cells) {
    if (cell.response != contrast.response || cell.workload != contrast.workload) continue;
    if (static_cast<size_t>(factor) >= cell.levels.size() || cell.levels[static_cast<size_t>(factor)] != contrast.level) continue;
    sum += cell.mean;
    ++cells;
  }
  if (cells == 0) return {};
  return sum / static_cast<double>(cells);
}

std::string junit_xml(const std::string& suite, const std::vector<JunitCase>& cases, std::optional<double> seconds) {
  using Outcome = JunitCase::Outcome;
  const auto number = [&](Outcome outcome) {
    const auto same = [&](const JunitCase& one) { return one.outcome == outcome; };
    return std::to_string(std::count_if(cases.begin(), cases.end(), same));
  };
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite" + attribute("name", suite) +
                    attribute("tests", std::to_string(cases.size())) + attribute("failures", number(Outcome::kFailed)) +
                    attribute("errors", number(Outcome::kError)) + attribute("skipped", number(Outcome::kSkipped)) +
                    time_attribute(seconds ? seconds : sum_of(cases)) + ">\n";
  for (const JunitCase& one : cases) {
    out += "  <testcase" + attribute("classname", one.class_name) + attribute("name", one.name) + time_attribute(one.seconds);
    const char* elements[] = {nullptr, "failure", "skipped", "error"};
    const char* element = elements[static_cast<int>(one.outcome)];
    out += element ? std::string("><") + element + attribute("message", one.message) + "/></testcase>\n" : "/>\n";
  }
  return out + "</testsuite>\n";
}

}  // namespace stab::commands
