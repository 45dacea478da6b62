// [machine]: where trials run, which knobs are set, what must hold before a trial starts. Values of knobs are
// passed on as words; what a knob accepts is known where it is turned (stabd/host).
#include <algorithm>

#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

using Kind = TomlNode::Kind;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// "0", "2-3,5"; the hwloc terms "core:1", "pu:2", "numa:0", "package:0"; "auto", "none".
bool is_cpu_set(std::string_view text, bool allow_none) {
  if (text == "auto" || (allow_none && text == "none")) return true;
  for (std::string_view object : {"core:", "pu:", "numa:", "package:"})
    if (text.starts_with(object)) text.remove_prefix(object.size());
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.size() <= 5 &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    const size_t dash = range.find('-');
    if (!is_number(range.substr(0, dash))) return false;
    if (dash != std::string_view::npos && !is_number(range.substr(dash + 1))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

void parse_cpus(Section& section, std::string_view key, bool allow_none, std::string& out) {
  const TomlNode* node = section.text(key, out);
  if (node && !is_cpu_set(out, allow_none))
    section.faults().error(node->spot, quoted(key) + " " + quoted(out) + " is no set of CPUs",
                           std::string("\"auto\", ") + (allow_none ? "\"none\", " : "") +
                               "\"2-3\", \"core:1\", \"pu:2\", \"numa:0\"");
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

void parse_gates(const TomlNode& table, Faults& faults, Gates& gates) {
  Section section(table, "[machine.gates]", faults);
  double value = 0;
  if (section.number("load", 0.01, 10000, value)) gates.load = value;
  if (section.number("temperature", 1, 150, value)) gates.temperature_c = value;
  if (const TomlNode* node = section.text("window", gates.window); node && !is_window(gates.window))
    faults.error(node->spot, "window " + quoted(gates.window) + " is no span of a day",
                 "write \"22:00-06:00\", local time");
  section.duration("deadline", gates.deadline);
  section.finish();
  if (gates.deadline.count() == 0 && (gates.load || gates.temperature_c || !gates.window.empty()))
    faults.error(table.spot, "gates have no deadline: a run could wait for ever",
                 "add deadline = \"12h\"");
}

void parse_knobs(const TomlNode& table, Faults& faults, std::map<std::string, std::string>& knobs) {
  for (const TomlEntry& entry : table.entries) {
    if (std::find(kKnobs.begin(), kKnobs.end(), entry.key) == kKnobs.end()) {
      unknown_word(faults, entry.key_spot, "knob", entry.key, {kKnobs.begin(), kKnobs.end()});
      continue;
    }
    const TomlNode& value = entry.value;
    if (value.kind == Kind::kString && !value.text.empty() && value.text.find('\0') == std::string::npos) {
      knobs[entry.key] = value.text;
    } else if (value.kind == Kind::kBoolean) {
      knobs[entry.key] = value.boolean ? "on" : "off";
    } else if (value.kind == Kind::kInteger) {
      knobs[entry.key] = std::to_string(value.integer);
    } else {
      wrong_type(faults, entry.key, value, Kind::kString);
    }
  }
}

void parse_require(Section& section, std::vector<std::string>& require) {
  std::vector<SourceSpot> spots;
  section.texts("require", require, &spots);
  std::vector<std::string_view> words(kKnobs.begin(), kKnobs.end());
  words.push_back("counters");
  words.push_back("isolation");
  for (size_t i = 0; i < spots.size(); ++i)
    if (std::find(words.begin(), words.end(), require[i]) == words.end())
      unknown_word(section.faults(), spots[i], "requirement", require[i], words);
}

}  // namespace

void parse_machine(const TomlNode& table, Faults& faults, Plan& plan) {
  Section section(table, "[machine]", faults);
  Machine& machine = plan.machine;
  parse_cpus(section, "cpus", true, machine.cpus);
  parse_cpus(section, "housekeeping", true, machine.housekeeping);
  if (const TomlNode* knobs = section.table("knobs")) parse_knobs(*knobs, faults, machine.knobs);
  if (const TomlNode* gates = section.table("gates")) parse_gates(*gates, faults, machine.gates);
  parse_require(section, machine.require);
  section.finish();
}

}  // namespace stab::plan
