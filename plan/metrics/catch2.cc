// Catch2's benchmarks: its XML reporter, or what it prints.
//
// XML: src/catch2/reporters/catch_reporter_xml.cpp; values are nanoseconds. Console: catch_reporter_console.cpp: a row with name,
// samples, iterations and an estimated time, then a row with the mean and its bounds, then one with the deviation.
#include <map>

#include "plan/metrics/collected.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"
#include "plan/metrics/xml_reader.h"

namespace stab::metrics {
namespace {

struct CatchResult {
  std::string test_case, name;
  std::optional<double> seconds;
  std::string failure;
};

// Benchmarks of one name in two test cases are two benchmarks.
Result<std::vector<Metric>> collected(std::vector<CatchResult> results) {
  std::map<std::string, size_t> times;
  for (const CatchResult& one : results) ++times[one.name];
  std::vector<std::string> names;
  for (CatchResult& one : results) {
    if (times[one.name] > 1 && !one.test_case.empty()) one.name = one.test_case + "/" + one.name;
    names.push_back(one.name);
  }
  STAB_CHECK_OK(check_apart(names, "give each BENCHMARK a name of its own"));
  Collected out;
  for (const CatchResult& one : results)
    STAB_CHECK_OK(one.seconds ? out.add(one.name, *one.seconds) : out.add_failed(one.name, one.failure));
  return out.take();
}

using Attributes = std::map<std::string, std::string>;

std::string attribute(const Attributes& attributes, const char* name) {
  const auto at = attributes.find(name);
  return at == attributes.end() ? "" : at->second;
}

class XmlResults {
 public:
  Status begin(const std::string& name, const Attributes& attributes) {
    if (name == "TestCase") test_case_ = attribute(attributes, "name");
    if (name == "BenchmarkResults") {
      inside_ = true;
      results_.push_back({test_case_, attribute(attributes, "name"), {}, "it has no mean"});
      return {};
    }
    if (!inside_) return {};
    if (name == "failed") results_.back().failure = attribute(attributes, "message");
    if (name != "mean") return {};
    const std::string value = attribute(attributes, "value");
    const auto nanoseconds = number(value);
    if (!nanoseconds)
      return bad_input("the mean of '" + results_.back().name + "' is '" + value.substr(0, 40) + "', expected a number");
    results_.back().seconds = *nanoseconds * 1e-9;
    return {};
  }
  Status end(const std::string& name) {
    if (name == "BenchmarkResults") inside_ = false;
    return {};
  }
  std::vector<CatchResult> take() { return std::move(results_); }

 private:
  std::string test_case_;
  bool inside_ = false;
  std::vector<CatchResult> results_;
};

// "72.1 ns" at these words, in seconds.
std::optional<double> duration_at(const std::vector<std::string_view>& words, size_t at) {
  if (at + 1 >= words.size()) return {};
  const auto value = number(words[at]);
  const auto unit = seconds_of_unit(words[at + 1]);
  return value && unit ? std::optional(*value * *unit) : std::nullopt;
}

// "fib 20      100      416     2.9952 ms": the name; nothing: another row.
std::optional<std::string> name_of_row(std::string_view row) {
  const std::vector<std::string_view> words = words_of(row);
  constexpr size_t kBehindName = 4;  // samples, iterations, a time and its unit
  if (words.size() < kBehindName) return {};
  const size_t at = words.size() - kBehindName;
  if (!is_whole_number(words[at]) || !is_whole_number(words[at + 1]) || !duration_at(words, at + 2)) return {};
  // "": a name so long that it has lines for itself
  return std::string(trimmed(row.substr(0, static_cast<size_t>(words[at].data() - row.data()))));
}

Result<std::vector<CatchResult>> console_results(std::string_view text) {
  std::vector<CatchResult> results;
  std::string name, above;  // above: lines since the last row or rule, of which a long name may be
  bool expects_mean = false;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    if (expects_mean) {
      const std::vector<std::string_view> words = words_of(row);
      const auto mean = words.size() == 6 ? duration_at(words, 0) : std::nullopt;
      if (!mean)
        return bad_input("line " + std::to_string(line) + ": expected the mean of '" + name.substr(0, 40) +
                         "' and its bounds, three times with their units");
      results.push_back({"", name, mean, ""});
      expects_mean = false;
      above.clear();
      continue;
    }
    if (const auto found = name_of_row(row)) {
      name = above.empty() ? *found : trimmed(above + " " + *found);
      expects_mean = true;
      continue;
    }
    const std::string_view words = trimmed(row);
    const bool is_rule = words.empty() || words.find_first_not_of("-.=~") == std::string_view::npos;
    // The second and third row of a benchmark begin far to the right.
    if (is_rule || row.starts_with(' '))
      above.clear();
    else
      above += (above.empty() ? "" : " ") + std::string(words);
  }
  if (expects_mean) return bad_input("it ends behind the first row of '" + name.substr(0, 40) + "'; was it cut off?");
  return results;
}

}  // namespace

Result<std::vector<Metric>> read_catch2(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (!text.substr(first).starts_with("<?xml") && !text.substr(first).starts_with("<Catch")) {
    STAB_TRY(std::vector<CatchResult> results, console_results(text));
    return collected(std::move(results));
  }
  XmlResults results;
  STAB_CHECK_OK(
      read_xml(text.substr(first), {[&](const auto& name, const auto& attributes) { return results.begin(name, attributes); },
                                    [&](const auto& name) { return results.end(name); }}));
  return collected(results.take());
}

}  // namespace stab::metrics
