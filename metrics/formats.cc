// The table of formats, and what holds for all of them.
#include <algorithm>

#include "metrics/metrics.h"
#include "metrics/readers.h"

namespace stab::metrics {

const std::vector<Format>& formats() {
  static const std::vector<Format> table = {
      {"google-benchmark", "Google Benchmark's --benchmark_format=json", read_google_benchmark},
      {"hyperfine", "hyperfine's --export-json", read_hyperfine},
      {"criterion", "cargo criterion's --message-format=json", read_criterion},
      {"jmh", "JMH's -rf json", read_jmh},
      {"pytest-benchmark", "pytest's --benchmark-json", read_pytest_benchmark},
      {"go", "go test -bench", read_go},
      {"csv", "columns 'name' and 'value', and 'unit' where it isn't seconds", read_csv},
  };
  return table;
}

const Format* format_named(std::string_view name) {
  const auto at = std::find_if(formats().begin(), formats().end(), [&](const Format& format) { return format.name == name; });
  return at == formats().end() ? nullptr : &*at;
}

Result<std::vector<Metric>> read(const Format& format, std::string_view text) {
  if (text.size() > kMostBytes)
    return bad_input(std::to_string(text.size()) + " bytes, at most " + std::to_string(kMostBytes) + " are read");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return bad_input("it is empty; expected " + std::string(format.what));
  STAB_TRY(std::vector<Metric> metrics, format.read(text));
  if (metrics.empty()) return bad_input("it has no benchmark; expected " + std::string(format.what));
  return metrics;
}

}  // namespace stab::metrics
