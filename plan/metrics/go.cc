// Benchmarks of Go: the lines that 'go test -bench' prints, or the events of 'go test -json' that hold them.
//
// Lines: golang.org/design/14313-benchmark-format. Events: 'go doc test2json'. An event's Output is a part of what a package has
// printed, often half a line, and packages run at the same time: so the parts are put together by package first.
#include <map>
#include <span>

#include "plan/metrics/collected.h"
#include "plan/metrics/json_reader.h"
#include "plan/metrics/lines.h"
#include "plan/metrics/readers.h"

namespace stab::metrics {
namespace {

// What a Go benchmark took, of the words behind its name: a count of iterations, then a number before each unit.
Result<std::optional<double>> nanoseconds_of(std::span<const std::string_view> words, size_t line) {
  if (words.empty() || !is_whole_number(words[0])) return std::optional<double>();
  for (size_t i = 2; i < words.size(); i += 2) {
    if (words[i] != "ns/op") continue;
    const auto ns = number(words[i - 1]);
    if (ns) return ns;
    return bad_input("line " + std::to_string(line) + ": '" + std::string(words[i - 1].substr(0, 40)) + "' ns/op is no number");
  }
  return std::optional<double>();
}

// place: where the text is of, before the number of its line; ""
Status read_go_lines(std::string_view text, const std::string& place, Collected& out) {
  std::string package, name;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    const std::vector<std::string_view> all = words_of(row);
    std::span<const std::string_view> words(all);
    if (words.size() == 2 && words[0] == "pkg:") {
      package = std::string(words[1]) + ".";
      name.clear();
    }
    if (!words.empty() && words[0].starts_with("Benchmark")) {
      name = std::string(words[0]);
      words = words.subspan(1);
    }
    // What a benchmark prints stands between its name and its result, which then has a line of its own.
    const auto ns = nanoseconds_of(words, line);
    if (!ns) return bad_input(place + ns.error().message);
    if (!*ns || name.empty()) continue;
    STAB_CHECK_OK(out.add(package + name, **ns * 1e-9));
    name.clear();
  }
  return {};
}

bool is_of_events(std::string_view text) {
  for (const std::string_view begin : {"{\"Time\":", "{\"Action\":"})
    if (text.starts_with(begin) || text.find("\n" + std::string(begin)) != std::string_view::npos) return true;
  return false;
}

struct PackageOutput {
  std::string package, text;
};

// What each package has printed, in the order in which they begin. Lines that are no events are of the build.
Result<std::vector<PackageOutput>> outputs_of(std::string_view text) {
  std::vector<PackageOutput> outputs;
  std::map<std::string, size_t> at;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    if (!row.starts_with('{')) continue;
    const std::string whose = "line " + std::to_string(line);
    const auto event = parse_json(row);
    if (!event) return bad_input(whose + ": " + event.error().message);
    const nlohmann::json* action = member(*event, "Action");
    if (!action || !action->is_string()) return lacks(whose, "Action", "a string, as 'go test -json' writes");
    if (*action != "output") continue;
    STAB_TRY(const std::string part, text_of(*event, "Output", whose));
    const nlohmann::json* package = member(*event, "Package");
    const std::string of = package && package->is_string() ? package->get<std::string>() : "";
    const auto [place, fresh] = at.try_emplace(of, outputs.size());
    if (fresh) outputs.push_back({of, ""});
    outputs[place->second].text += part;
  }
  return outputs;
}

}  // namespace

Result<std::vector<Metric>> read_go(std::string_view text) {
  Collected out;
  if (is_of_events(text)) {
    STAB_TRY(const std::vector<PackageOutput> outputs, outputs_of(text));
    for (const PackageOutput& one : outputs) STAB_CHECK_OK(read_go_lines(one.text, "package '" + one.package + "', ", out));
  } else {
    STAB_CHECK_OK(read_go_lines(text, "", out));
  }
  return out.take();
}

}  // namespace stab::metrics
