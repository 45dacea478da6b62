// [causal]: docs/how-to/find-the-line.md says what follows from it, plan/causal.h what the keys become.
#include <algorithm>
#include <cmath>

#include "base/wording.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"
#include "plan/toml/units.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;
using std::chrono::nanoseconds;

constexpr size_t kMostNames = 64;
// The runtime's bounds (runtime/causal/causal_abi.h).
constexpr nanoseconds kShortestWindow{std::chrono::milliseconds(1)}, kLongestWindow{std::chrono::hours(1)};
constexpr nanoseconds kShortestPeriod{std::chrono::microseconds(60)}, kLongestPeriod{std::chrono::milliseconds(90)};

// A list of names, none empty, none twice.
const toml::TomlNode* parse_names(toml::Section& section, std::string_view key, std::vector<std::string>& out, const char* hint) {
  std::vector<SourceSpot> spots;
  std::vector<std::string> names;
  const toml::TomlNode* node = section.texts(key, names, &spots);
  if (node == nullptr) return nullptr;
  toml::Faults& faults = section.faults();
  if (names.empty()) faults.error(node->spot, in_quotes(key) + " is empty", hint);
  if (names.size() > kMostNames)
    faults.error(node->spot, in_quotes(key) + " lists " + std::to_string(names.size()) + " entries, at most " +
                                 std::to_string(kMostNames) + " are possible");
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i) {
    if (names[i].empty() || names[i].size() > kMaxWordBytes)
      faults.error(spots[i], "an entry of " + in_quotes(key) + " is empty", hint);
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) != names.begin() +
        static_cast<ptrdiff_t>(i))
      faults.error(spots[i], in_quotes(names[i]) + " is named twice in " + in_quotes(key));
  }
  out = std::move(names);
  return node;
}

void parse_speedups(toml::Section& section, Causal& causal) {
  std::vector<SourceSpot> spots;
  std::vector<std::string> texts;
  const toml::TomlNode* node = section.texts("speedups", texts, &spots);
  if (node == nullptr) return;
  toml::Faults& faults = section.faults();
  const char* hint = "write speedups = [\"25%\", \"50%\"]; 0 is always tried";
  std::vector<double> speedups;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Result<double> share = toml::parse_fraction(texts[i]);
    if (!share || !(*share >= 0.01) || *share > 1) {
      faults.error(spots[i], "speedup " + in_quotes(texts[i]) + " is not between 1% and 100%", hint);
      continue;
    }
    if (!speedups.empty() && *share <= speedups.back())
      faults.error(spots[i], "speedup " + in_quotes(texts[i]) + " does not follow in ascending order", hint);
    speedups.push_back(*share);
  }
  if (texts.empty() || texts.size() > kMostSpeedups)
    faults.error(node->spot, "'speedups' has " + std::to_string(texts.size()) + " entries, expected 1 to " +
                                 std::to_string(kMostSpeedups), hint);
  if (!speedups.empty()) causal.speedups = std::move(speedups);
}

// "compress.c:212" -> true. The file may hold colons.
bool is_line(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size() || text.size() - colon > 8) return false;
  return std::all_of(text.begin() + static_cast<ptrdiff_t>(colon) + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void parse_candidates(toml::Section& section, Causal& causal) {
  const toml::TomlNode* node = section.find("candidates");
  if (node == nullptr) return;
  if (node->kind != Kind::kArray) {
    section.integer("candidates", 0, kMostCandidates, causal.candidates);
    return;
  }
  if (parse_names(section, "candidates", causal.lines, "write candidates = 20, or candidates = [\"compress.c:212\"]") ==
      nullptr) return;
  causal.candidates = static_cast<int>(causal.lines.size());
  if (causal.unit == Causal::Unit::kFunction) return;
  for (const std::string& line : causal.lines)
    if (!is_line(line))
      section.faults().error(section.faults().inside(node->spot, line), "candidate " + in_quotes(line) + " is no line",
                             "write \"compress.c:212\", or unit = \"function\" and names of functions");
}

void check_duration(toml::Section& section, const toml::TomlNode* node, std::string_view key, nanoseconds value, nanoseconds low,
                    nanoseconds high, const char* bounds) {
  if (node != nullptr && (value < low || value > high))
    section.faults().error(node->spot, in_quotes(key) + " is out of bounds", std::string("expected ") + bounds);
}

void parse_blocked(toml::Section& section, Causal& causal) {
  std::vector<SourceSpot> spots;
  std::vector<std::string> words;
  section.texts("blocked", words, &spots);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "io") causal.blocked_io = true;
    else if (words[i] == "sleep") causal.blocked_sleep = true;
    else if (words[i] == "lock") causal.blocked_lock = true;
    else toml::unknown_word(section.faults(), spots[i], "kind of waiting", words[i], {"io", "sleep", "lock"});
  }
}

void parse_controls(toml::Section& section, Causal& causal) {
  std::vector<SourceSpot> spots;
  std::vector<std::string> words;
  if (section.texts("controls", words, &spots) == nullptr) return;
  causal.slowdown = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "slowdown") causal.slowdown = true;
    else if (words[i] != "null") toml::unknown_word(section.faults(), spots[i], "control", words[i], {"null", "slowdown"});
  }
}

// What readers of other profilers look for, and there isn't: each is refused at its place, with what to write instead.
void parse_attribute(toml::Section& section, Causal& causal) {
  const toml::TomlNode* node = section.find("attribute");
  if (node != nullptr && node->kind == Kind::kString && node->text == "inclusive") {
    section.faults().error(node->spot,
                           "attribute = 'inclusive' is not possible: a sample belongs to one line, not to each of its callers",
                           "write unit = \"function\": then time in code that is inlined or of other libraries is that of the "
                           "function in scope that calls it");
    return;
  }
  size_t attribute = 0;
  section.word("attribute", {"call", "leaf"}, attribute);
  causal.attribute = static_cast<Causal::Attribute>(attribute);
}

void refuse_blocking(toml::Section& section, const toml::TomlNode& table) {
  if (section.find("blocking") == nullptr) return;
  for (const toml::TomlEntry& entry : table.entries)
    if (entry.key == "blocking")
      section.faults().error(entry.key_spot,
                             "'blocking' is not possible: that a function waits is seen by the calls of libc inside",
                             "write blocked = [\"io\", \"sleep\", \"lock\"]: kinds of waiting that are sped up with their line");
}

void parse_points(toml::Section& section, std::string_view key, std::vector<std::string>& out) {
  const toml::TomlNode* node = section.find(key);
  if (node != nullptr && node->kind == Kind::kArray)
    for (const toml::TomlNode& point : node->items)
      if (point.kind == Kind::kTable)
        return section.faults().error(
            point.spot, "an entry of " + in_quotes(key) + " is a table, and calls of a function are no point",
            "write STAB_PROGRESS(\"name\") (stab/progress.h) into that function, and here its \"name\"");
  parse_names(section, key, out, "leave it out: then all points count that the program visits");
}

}  // namespace

void parse_causal(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[causal]", faults);
  Causal& causal = plan.causal.emplace();
  size_t unit = 0, experiments = 0, pauses = 0;
  section.word("unit", {"line", "function"}, unit);
  parse_attribute(section, causal);
  refuse_blocking(section, table);
  section.word("experiments", {"windows", "trials"}, experiments);
  section.word("pauses", {"auto", "cpu-time", "spin", "thread"}, pauses);
  causal.unit = static_cast<Causal::Unit>(unit);
  causal.experiments = static_cast<Causal::Experiments>(experiments);
  causal.pauses = static_cast<Causal::Pauses>(pauses);
  parse_names(section, "scope", causal.scope, "write scope = [\"src/%\"], or leave it out for all sources");
  parse_names(section, "modules", causal.modules, "write modules = [\"MAIN\", \"libz.so.1\"]");
  parse_points(section, "progress", causal.progress);
  parse_points(section, "latency", causal.latency);
  parse_speedups(section, causal);
  parse_candidates(section, causal);
  section.fraction("explore", 0, 0.5, causal.explore);
  const toml::TomlNode* window = section.duration("window", causal.window);
  check_duration(section, window, "window", causal.window, kShortestWindow, kLongestWindow, "1ms to 1h");
  const toml::TomlNode* cooloff = section.duration("cooloff", causal.cooloff);
  check_duration(section, cooloff, "cooloff", causal.cooloff, nanoseconds(0), kLongestWindow, "0ms to 1h");
  const toml::TomlNode* sampling = section.duration("sampling", causal.sampling);
  check_duration(section, sampling, "sampling", causal.sampling, kShortestPeriod, kLongestPeriod, "0.06ms to 90ms");
  section.integer("pilot", 1, 1000, causal.pilot);
  parse_controls(section, causal);
  parse_blocked(section, causal);
  if (const toml::TomlNode* arrival = section.text("arrival", causal.arrival);
      arrival != nullptr && (causal.arrival.empty() || causal.arrival.size() > kMaxWordBytes))
    faults.error(arrival->spot, "'arrival' is no name of a point", "leave it out: then every STAB_ARRIVAL counts");
  section.boolean("closed", causal.closed);
  section.finish();
}

void check_causal(toml::Faults& faults, const Plan& plan, const SourceSpot& spot) {
  if (!plan.causal) return;
  if (plan.counters.simulation.on())
    faults.error(spot, "[causal] and a simulated trial together: a simulator has no time to speed up", "drop one of them");
  if (plan.machines.count > 0)
    faults.error(spot, "[causal] and [machines] together: windows don't come back from workers", "drop [machines]");
  if (plan.stopping.rule != StoppingRule::kFixed)
    faults.error(spot, "[causal] and [stopping] together: a stopping rule looks at whole trials, whose times the windows change",
                 "drop [stopping]");
  if (plan.causal->window < 20 * plan.causal->sampling)
    faults.error(spot, "a window of [causal] has fewer than 20 samples", "write a longer window, or a shorter sampling");
}

}  // namespace stab::plan
