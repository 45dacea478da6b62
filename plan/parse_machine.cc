// [machine]: where trials run, which knobs are set, what must hold before a trial starts. Values of knobs are
// passed on as words; what they mean is known where knobs are turned (stabd/host/).
#include <algorithm>
#include <array>
#include <charconv>

#include "base/split.h"
#include "base/wording.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

// What can be required beside knobs.
constexpr std::array<std::string_view, 4> kMoreRequirements = {"counters", "isolation", "private-ipc", "private-tmp"};
constexpr std::array<std::string_view, 4> kOfNoKnob = {"affinity", "counters", "private-ipc", "private-tmp"};

enum class CpuSet { kGood, kBackwards, kNone };

// "0", "2-3,5"; one of the hwloc terms "core:1", "pu:2", "numa:0", "package:0"; "auto", "none".
CpuSet cpu_set(std::string_view text, bool allow_none) {
  if (text == "auto" || (allow_none && text == "none")) return CpuSet::kGood;
  for (std::string_view object : {"core:", "pu:", "numa:", "package:"}) {
    if (!text.starts_with(object)) continue;
    text.remove_prefix(object.size());
    break;
  }
  const auto number_of = [](std::string_view part) {
    int number = -1;
    const bool digits = !part.empty() && part.size() <= 5 && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (digits) std::from_chars(part.data(), part.data() + part.size(), number);
    return number;
  };
  CpuSet found = CpuSet::kGood;
  for (const std::string_view range : split(text, ',')) {
    const size_t dash = range.find('-');
    const int first = number_of(range.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : number_of(range.substr(dash + 1));
    if (first < 0 || last < 0) return CpuSet::kNone;
    if (last < first) found = CpuSet::kBackwards;
  }
  return found;
}

void parse_cpus(toml::Section& section, std::string_view key, bool allow_none, std::string& out) {
  const toml::TomlNode* node = section.text(key, out);
  if (!node || (section.faults().accepted_once() && out.size() <= kMaxWordBytes)) return;
  const CpuSet set = out.size() > kMaxWordBytes ? CpuSet::kNone : cpu_set(out, allow_none);
  if (set == CpuSet::kBackwards)
    section.faults().error(node->spot, in_quotes(key) + " " + in_quotes(out) + " has a range that ends before it begins",
                           "write the smaller number first: \"1-3\"");
  if (set == CpuSet::kNone)
    section.faults().error(
        node->spot, in_quotes(key) + " " + in_quotes(out) + " is no set of CPUs",
        std::string("\"auto\", ") + (allow_none ? "\"none\", " : "") + "\"2-3\", \"core:1\", \"pu:2\", \"numa:0\"");
}

// "22:00-06:00"
bool is_window(std::string_view text) {
  const auto is_time = [](std::string_view t) {
    const auto digit = [&](size_t i) { return t[i] >= '0' && t[i] <= '9'; };
    return t.size() == 5 && t[2] == ':' && digit(0) && digit(1) && digit(3) && digit(4) &&
           (t[0] - '0') * 10 + (t[1] - '0') < 24 && t[3] < '6';
  };
  return text.size() == 11 && text[5] == '-' && is_time(text.substr(0, 5)) && is_time(text.substr(6)) &&
         text.substr(0, 5) != text.substr(6);
}

void parse_gates(const toml::TomlNode& table, toml::Faults& faults, Gates& gates) {
  toml::Section section(table, "[machine.gates]", faults);
  double value = 0;
  if (section.number("load", 0.01, 10000, value)) gates.load = value;
  if (section.number("temperature", 1, 150, value)) gates.temperature_c = value;
  if (const toml::TomlNode* node = section.text("window", gates.window); node && !is_window(gates.window))
    faults.error(node->spot, "window " + in_quotes(gates.window) + " is no span of a day", "write \"22:00-06:00\", local time");
  const toml::TomlNode* deadline = section.duration("deadline", gates.deadline);
  const bool has_none = deadline ? gates.deadline.count() == 0 : !section.find("deadline");
  section.finish();
  if (has_none && (gates.load || gates.temperature_c || !gates.window.empty()))
    faults.error(table.spot, "gates have no deadline: a run could wait for ever",
                 "add deadline = \"12h\"");
}

std::vector<std::string_view> names_of_knobs() {
  std::vector<std::string_view> names;
  for (const Knob& knob : kKnobs) names.push_back(knob.name);
  return names;
}

void parse_knobs(const toml::TomlNode& table, toml::Faults& faults, std::map<std::string, std::string>& knobs) {
  for (const toml::TomlEntry& entry : table.entries) {
    const Knob* knob = knob_named(entry.key);
    if (knob == nullptr) {
      toml::unknown_word(faults, entry.key_spot, "knob", entry.key, names_of_knobs());
      continue;
    }
    const toml::TomlNode& value = entry.value;
    std::string word;
    if (value.kind == Kind::kString) {
      word = value.text;
    } else if (value.kind == Kind::kBoolean) {
      word = value.boolean ? "on" : "off";
    } else if (value.kind == Kind::kInteger) {
      word = std::to_string(value.integer);
    } else {
      toml::wrong_type(faults, entry.key, value, Kind::kString);
      continue;
    }
    if (word.empty() || word.size() > kMaxWordBytes || word.find('\0') != std::string::npos || !knob->takes(word))
      faults.error(value.spot, "knob " + entry.key + " doesn't take " + in_quotes(word), "write " + knob->expected());
    knobs[entry.key] = word;
  }
}

// What is required must have been asked for: nothing else sets a knob. Trials are pinned without.
void parse_require(toml::Section& section, Machine& machine) {
  std::vector<SourceSpot> spots;
  section.texts("require", machine.require, &spots);
  // Each of them once is all that there is.
  if (spots.size() > kKnobs.size() + kMoreRequirements.size()) {
    section.faults().error(spots.back(), "'require' has " + std::to_string(spots.size()) + " entries, at most " +
                                             std::to_string(kKnobs.size() + kMoreRequirements.size()));
    return machine.require.clear();
  }
  std::vector<std::string_view> words = names_of_knobs();
  words.insert(words.end(), kMoreRequirements.begin(), kMoreRequirements.end());
  for (size_t i = 0; i < spots.size(); ++i) {
    const std::string& need = machine.require[i];
    const std::string knob = knob_of_requirement(need);
    if (std::find(words.begin(), words.end(), need) == words.end())
      toml::unknown_word(section.faults(), spots[i], "requirement", need, words);
    else if (need == "private-ipc" && !machine.private_ipc)
      section.faults().error(spots[i], "requirement \"private-ipc\": the plan says ipc = \"shared\"", "leave one of them out");
    else if (need == "private-tmp" && !(machine.private_tmp && machine.private_ipc))
      section.faults().error(spots[i], std::string("requirement \"private-tmp\": the plan says ") +
                                           (machine.private_tmp ? "ipc" : "tmp") + " = \"shared\"", "leave one of them out");
    else if (std::find(kOfNoKnob.begin(), kOfNoKnob.end(), need) == kOfNoKnob.end() && machine.knobs.count(knob) == 0)
      section.faults().error(spots[i], "requirement " + in_quotes(need) + ": the plan doesn't set this knob",
                             "add " + knob + " to knobs");
  }
}

}  // namespace

void parse_machine(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[machine]", faults);
  Machine& machine = plan.machine;
  parse_cpus(section, "cpus", true, machine.cpus);
  parse_cpus(section, "housekeeping", true, machine.housekeeping);
  size_t ipc = 0;
  section.word("ipc", {"private", "shared"}, ipc);
  machine.private_ipc = ipc == 0;
  size_t tmp = 0;
  section.word("tmp", {"private", "shared"}, tmp);
  machine.private_tmp = tmp == 0;
  if (const toml::TomlNode* knobs = section.table("knobs")) parse_knobs(*knobs, faults, machine.knobs);
  if (const toml::TomlNode* gates = section.table("gates")) parse_gates(*gates, faults, machine.gates);
  parse_require(section, machine);
  section.finish();
}

void parse_limits(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[limits]", faults);
  section.bytes("memory", kLeastMemoryBytes, plan.limits.memory_bytes);
  section.integer("processes", 1, kMostProcesses, plan.limits.processes);
  section.finish();
}

}  // namespace stab::plan
