// [factors]: layout factors take their levels from the words of runtime/modes.h, everything else is a
// treatment of the user's. `link`, `exclude`, `nested` and `fraction` are reserved: they shape the crossing.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/number_text.h"
#include "base/printable.h"
#include "base/wording.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"
#include "plan/placeholder.h"
#include "plan/short_plan.h"
#include "plan/toml/units.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

// One environment string may hold 128 KiB (MAX_ARG_STRLEN); the padding is one variable.
constexpr uint64_t kMaxEnvSizeBytes = 120'000;
constexpr int kMaxLinkSeeds = 1000;
// A level of a treatment whose faults have been noted: who names the treatment or one of its levels is not at fault. No level
// that can be written has this name, and no plan with a fault is ever run.
constexpr char kUnread[] = "\n";

FactorKind kind_of(std::string_view name) {
  if (name == "code") return FactorKind::kCode;
  if (name == "stack") return FactorKind::kStack;
  if (name == "stack_range") return FactorKind::kStackRange;
  if (name == "heap") return FactorKind::kHeap;
  if (name == "epoch") return FactorKind::kEpoch;
  if (name == "env_size") return FactorKind::kEnvSize;
  if (name == kLoadFactor) return FactorKind::kLoad;
  return FactorKind::kTreatment;
}

std::vector<std::string_view> words_of(FactorKind kind) {
  if (kind == FactorKind::kCode) return {std::begin(abi::kCodeWords), std::end(abi::kCodeWords)};
  if (kind == FactorKind::kStack) return {std::begin(abi::kStackWords), std::end(abi::kStackWords)};
  return {std::begin(abi::kHeapWords), std::end(abi::kHeapWords)};
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 64 && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '-';
         });
}

// 2.0 stays a number with a point.
std::string float_text(double number) {
  std::string text = number_text(number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// A scalar as text, for treatments.
bool scalar_text(const toml::TomlNode& node, std::string& out) {
  if (node.kind == Kind::kString) return out = node.text, true;
  if (node.kind == Kind::kInteger) return out = std::to_string(node.integer), true;
  if (node.kind == Kind::kFloat && std::isfinite(node.number)) return out = float_text(node.number), true;
  if (node.kind == Kind::kBoolean) return out = node.boolean ? "true" : "false", true;
  return false;
}

// The same, and false with a fault where it is none: a table, or what programs have words of their own for.
bool read_scalar(const toml::TomlNode& node, const std::string& what, toml::Faults& faults, std::string& out) {
  if (scalar_text(node, out)) return true;
  if (node.kind == Kind::kFloat)
    faults.error(node.spot, what + " is " + number_text(node.number) + ", expected a finite number",
                 "in quotes it is a word that the program gets as it is: \"" + number_text(node.number) + "\"");
  else
    faults.error(node.spot,
                 what + " is " + std::string(toml::kind_name(node.kind)) + ", expected a string, a number or a boolean");
  return false;
}

constexpr char kNameOfEmpty[] = "none";  // of a level that is an empty string and has no name of its own

// Whether reports can call it so; a fault where they can't.
bool is_level_name(const toml::TomlNode& node, toml::Faults& faults, const Level& level) {
  if (level.name.size() > kMaxLevelNameBytes) {
    faults.error(node.spot, "a level's name is longer than " + std::to_string(kMaxLevelNameBytes) + " bytes",
                 "write { name = \"...\", value = \"...\" }");
    return false;
  }
  if (has_control(level.name)) {
    faults.error(node.spot, "a level's name holds control characters",
                 "write { name = \"...\", value = \"...\" }");
    return false;
  }
  return true;
}

// A level that stands for several words of a command: ["./new", "--fast"]. build.cc takes them apart again.
bool read_words(const Factor& factor, const toml::TomlNode& node, toml::Faults& faults, std::string& out) {
  if (node.items.empty()) {
    faults.error(node.spot, "a level of " + in_quotes(factor.name) + " is a list without a word",
                 "write the words of its command: value = [\"./new\", \"--fast\"]");
    return false;
  }
  out.clear();
  for (const toml::TomlNode& item : node.items) {
    std::string word;
    if (!read_scalar(item, "a word of a level of " + in_quotes(factor.name), faults, word)) return false;
    if (word.find(kBetweenWords) != std::string::npos) {
      faults.error(item.spot, "a level of " + in_quotes(factor.name) + " contains a zero byte", "remove it");
      return false;
    }
    out += (&item == &node.items[0] ? std::string() : std::string(1, kBetweenWords)) + word;
  }
  return true;
}

bool parse_treatment_level(const Factor& factor, const toml::TomlNode& node, toml::Faults& faults, Level& level) {
  if (node.kind == Kind::kTable) {
    toml::Section section(node, "a level of " + in_quotes(factor.name), faults);
    const size_t before = faults.error_count();
    section.text("name", level.name);
    const toml::TomlNode* value = section.find("value");
    section.require("name", "write { name = \"fast\", value = \"-O3\" }");
    if (section.require("value", "write { name = \"fast\", value = \"-O3\" }")) {
      if (value->kind == Kind::kArray) read_words(factor, *value, faults, level.value);
      else read_scalar(*value, "the value of a level", faults, level.value);
    }
    section.finish();
    if (faults.error_count() > before) return false;
    if (value->kind == Kind::kArray) return is_level_name(node, faults, level);
  } else {
    if (!read_scalar(node, "a level of " + in_quotes(factor.name), faults, level.value)) return false;
    level.name = level.value.empty() ? kNameOfEmpty : level.value;
  }
  if (level.value.find('\0') != std::string::npos) {
    faults.error(node.spot, "a level of " + in_quotes(factor.name) + " contains a zero byte", "remove it");
    return false;
  }
  return is_level_name(node, faults, level);
}

// { visits = 1000 }
bool parse_visits_level(const toml::TomlNode& node, toml::Faults& faults, Level& level) {
  toml::Section section(node, "an epoch", faults);
  const size_t before = faults.error_count();
  int visits = 0;
  section.require("visits", "write { visits = 1000 }, or a duration such as \"500ms\"");
  section.integer("visits", 0, kMaxEpochVisits, visits);
  section.finish();
  level = {std::to_string(visits) + "visits", kVisitsMark + std::to_string(visits)};
  return faults.error_count() == before;
}

bool parse_epoch_level(const toml::TomlNode& node, toml::Faults& faults, Level& level) {
  if (node.kind == Kind::kTable) return parse_visits_level(node, faults, level);
  if (node.kind != Kind::kString) {
    faults.error(node.spot, "an epoch is " + std::string(toml::kind_name(node.kind)) + ", expected a duration",
                 "such as \"500ms\"");
    return false;
  }
  if (node.text == kEpochByPreflight) {
    level = {node.text, std::to_string(kEpochOfPreflightNs)};
    return true;
  }
  const Result<nanoseconds> epoch = toml::parse_duration(node.text);
  if (!epoch) {
    faults.error(node.spot, "epoch: " + epoch.error().message, "such as \"500ms\"");
    return false;
  }
  const auto ns = static_cast<uint64_t>(epoch->count());
  if (ns < abi::kMinEpochNs || ns > abi::kMaxEpochNs) {
    faults.error(node.spot, "epoch " + in_quotes(node.text) + " is out of range", "100us to 1h");
    return false;
  }
  level = {node.text, std::to_string(ns)};
  return true;
}

bool parse_bytes_level(const Factor& factor, const toml::TomlNode& node, toml::Faults& faults, Level& level) {
  Result<uint64_t> bytes = bad_input("expected a size");
  if (node.kind == Kind::kString) bytes = toml::parse_bytes(node.text);
  if (node.kind == Kind::kInteger && node.integer >= 0) bytes = static_cast<uint64_t>(node.integer);
  if (!bytes) {
    faults.error(node.spot, factor.name + ": " + bytes.error().message, "such as 4096 or \"4KiB\"");
    return false;
  }
  if (factor.kind == FactorKind::kEnvSize && *bytes > kMaxEnvSizeBytes) {
    faults.error(node.spot, "env_size " + std::to_string(*bytes) + " is out of range",
                 "at most " + std::to_string(kMaxEnvSizeBytes) + " bytes");
    return false;
  }
  if (factor.kind == FactorKind::kStackRange && !abi::is_stack_range(*bytes)) {
    faults.error(node.spot, "stack_range " + std::to_string(*bytes) + " can't be", "a power of two from 16 to 4096 bytes");
    return false;
  }
  level = {node.kind == Kind::kString ? node.text : std::to_string(*bytes), std::to_string(*bytes)};
  return true;
}

bool parse_layout_level(const Factor& factor, const toml::TomlNode& node, toml::Faults& faults, Level& level) {
  const std::vector<std::string_view> words = words_of(factor.kind);
  if (node.kind != Kind::kString) {
    toml::wrong_type(faults, factor.name + "[]", node, Kind::kString);
    return false;
  }
  if (std::find(words.begin(), words.end(), node.text) == words.end()) {
    toml::unknown_word(faults, node.spot, factor.name + " level", node.text, words);
    return false;
  }
  level = {node.text, node.text};
  return true;
}

bool parse_level(const Factor& factor, const toml::TomlNode& node, toml::Faults& faults, Level& level) {
  switch (factor.kind) {
    case FactorKind::kEpoch: return parse_epoch_level(node, faults, level);
    case FactorKind::kStackRange:
    case FactorKind::kEnvSize: return parse_bytes_level(factor, node, faults, level);
    case FactorKind::kLoad: return parse_load_level(node, faults, level);
    case FactorKind::kTreatment: return parse_treatment_level(factor, node, faults, level);
    default: return parse_layout_level(factor, node, faults, level);
  }
}

void parse_levels(const toml::TomlEntry& entry, toml::Faults& faults, Plan& plan) {
  Factor factor;
  factor.name = entry.key;
  factor.kind = kind_of(entry.key);
  factor.spot = entry.key_spot;
  // epoch = { visits = 1000 }: a factor of one level
  const bool one_epoch = factor.kind == FactorKind::kEpoch && entry.value.kind == Kind::kTable;
  if (entry.key == "randomize" && entry.value.kind != Kind::kArray)
    return faults.error(entry.value.spot,
                        "'randomize' is " + std::string(toml::kind_name(entry.value.kind)) + ", expected true or false",
                        "write randomize = true; a treatment of that name has an array of levels");
  if (entry.value.kind != Kind::kArray && !one_epoch) {
    const std::string_view elsewhere = factor.kind == FactorKind::kTreatment ? faults.table_of(entry.key) : std::string_view();
    if (!elsewhere.empty() && elsewhere != "[factors]")
      return faults.error(entry.key_spot, in_quotes(entry.key) + " stands below " + std::string(elsewhere),
                          "a treatment of that name has an array of levels");
    toml::wrong_type(faults, entry.key, entry.value, Kind::kArray);
    return;
  }
  if (one_epoch) {
    if (Level level; parse_level(factor, entry.value, faults, level)) {
      factor.levels.push_back(std::move(level));
      plan.factors.push_back(std::move(factor));
    }
    return;
  }
  if (entry.value.items.empty()) {
    faults.error(entry.value.spot, "factor " + in_quotes(entry.key) + " has no levels",
                 "write at least one, such as " + entry.key + " = [\"a\", \"b\"]");
    return;
  }
  if (entry.value.items.size() > kMaxLevels) {
    faults.error(entry.value.spot, "factor " + in_quotes(entry.key) + " has more than " + std::to_string(kMaxLevels) + " levels");
    return;
  }
  for (const toml::TomlNode& item : entry.value.items) {
    Level level;
    if (!parse_level(factor, item, faults, level)) continue;
    const auto same = [&](const Level& other) { return other.name == level.name; };
    if (std::any_of(factor.levels.begin(), factor.levels.end(), same)) {
      faults.error(item.spot, "factor " + in_quotes(factor.name) + " has level " + in_quotes(level.name) + " twice",
                   "remove one, or give it a name: { name = \"again\", value = \"" + level.value + "\" }");
      continue;
    }
    factor.levels.push_back(std::move(level));
  }
  if (!factor.levels.empty()) plan.factors.push_back(std::move(factor));
}

void parse_factor(const toml::TomlEntry& entry, toml::Faults& faults, Plan& plan) {
  if (!is_identifier(entry.key)) {
    faults.error(entry.key_spot, "factor name " + in_quotes(entry.key) + " can't be a placeholder",
                 "use letters, digits, _ and -, starting with a letter");
    return;
  }
  const size_t before = faults.error_count();
  parse_levels(entry, faults, plan);
  if (faults.error_count() == before || kind_of(entry.key) != FactorKind::kTreatment) return;
  if (plan.factor_index(entry.key) < 0) plan.factors.push_back({entry.key, FactorKind::kTreatment, {}, entry.key_spot});
  std::vector<Level>& levels = plan.factors[static_cast<size_t>(plan.factor_index(entry.key))].levels;
  levels.push_back({kUnread, levels.empty() ? "" : levels[0].value});
}

void parse_link(toml::Section& factors, Plan& plan) {
  const toml::TomlNode* node = factors.table("link");
  if (!node) return;
  toml::Section section(*node, "link", factors.faults());
  section.require("seeds", "write link = { seeds = 10 }");
  section.integer("seeds", 1, kMaxLinkSeeds, plan.link.seeds);
  section.finish();
}

// A factor's name and some of its levels, as exclude and nested write them.
bool parse_levels_of(const toml::TomlEntry& entry, toml::Faults& faults, const Plan& plan,
                     std::vector<std::string>& out) {
  const int index = plan.factor_index(entry.key);
  if (index < 0) {
    if (faults.full()) return faults.error(entry.key_spot, {}), false;
    std::vector<std::string_view> names;
    for (const Factor& factor : plan.factors) names.push_back(factor.name);
    faults.error(entry.key_spot, in_quotes(entry.key) + " is no factor of this plan", did_you_mean(entry.key, names));
    return false;
  }
  const Factor& factor = plan.factors[static_cast<size_t>(index)];
  if (factor.levels.back().name == kUnread) return false;
  std::vector<std::string_view> names;
  for (const Level& level : factor.levels) names.push_back(level.name);
  const auto add = [&](const toml::TomlNode& node) {
    std::string name;
    if (!read_scalar(node, "a level of " + in_quotes(entry.key), faults, name)) return false;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      toml::unknown_word(faults, node.spot, entry.key + " level", name, names);
      return false;
    }
    out.push_back(std::move(name));
    return true;
  };
  if (entry.value.kind != Kind::kArray) return add(entry.value);
  if (entry.value.items.empty()) {
    faults.error(entry.value.spot, in_quotes(entry.key) + " lists no levels");
    return false;
  }
  if (entry.value.items.size() > names.size()) {
    faults.error(entry.value.spot, in_quotes(entry.key) + " lists " + std::to_string(entry.value.items.size()) +
                                       " levels, and has " + std::to_string(names.size()));
    return false;
  }
  bool good = true;
  for (const toml::TomlNode& item : entry.value.items) good = add(item) && good;
  return good;
}

// The tables of an array of tables; notes a fault for anything else.
std::vector<const toml::TomlNode*> tables_of(toml::Section& factors, std::string_view key, size_t most) {
  std::vector<const toml::TomlNode*> out;
  const toml::TomlNode* node = factors.find(key);
  if (!node) return out;
  if (node->kind != Kind::kArray) {
    toml::wrong_type(factors.faults(), key, *node, Kind::kArray);
    return out;
  }
  if (node->items.size() > most) {
    factors.faults().error(
        node->spot, in_quotes(key) + " has " + std::to_string(node->items.size()) + " entries, at most " + std::to_string(most),
        "one entry may list several levels of each factor");
    return out;
  }
  for (const toml::TomlNode& item : node->items) {
    if (item.kind != Kind::kTable) {
      toml::wrong_type(factors.faults(), std::string(key) + "[]", item, Kind::kTable);
      continue;
    }
    out.push_back(&item);
  }
  return out;
}

// baseline = { opt = "-O3" }: the level moves to the front. An array of that name is a treatment, as any other name's.
bool is_baseline(const toml::TomlEntry& entry) { return entry.key == "baseline" && entry.value.kind == Kind::kTable; }

void parse_baseline(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  for (const toml::TomlEntry& entry : table.entries) {
    std::vector<std::string> named;
    if (!parse_levels_of(entry, faults, plan, named)) continue;
    Factor& factor = plan.factors[static_cast<size_t>(plan.factor_index(entry.key))];
    if (factor.kind == FactorKind::kLoad) {
      faults.error(entry.key_spot, "the baseline of 'load' is 1, which its levels ascend from", "leave it out");
      continue;
    }
    if (named.size() != 1) {
      faults.error(entry.value.spot,
                   "the baseline of " + in_quotes(entry.key) + " is one level, got " + std::to_string(named.size()),
                   "write baseline = { " + entry.key + " = \"" + named[0] + "\" }");
      continue;
    }
    const auto level = std::find_if(factor.levels.begin(), factor.levels.end(),
                                    [&](const Level& one) { return one.name == named[0]; });
    std::rotate(factor.levels.begin(), level, level + 1);
  }
}

void parse_exclude(toml::Section& factors, Plan& plan) {
  for (const toml::TomlNode* item : tables_of(factors, "exclude", kMaxExcludes)) {
    Exclude exclude;
    bool good = true;
    for (const toml::TomlEntry& entry : item->entries)
      good = parse_levels_of(entry, factors.faults(), plan, exclude.when[entry.key]) && good;
    if (item->entries.empty()) {
      factors.faults().error(item->spot, "an empty exclude would leave out every cell",
                             "name factors and levels: { code = \"off\", epoch = \"10ms\" }");
      good = false;
    }
    if (good) plan.exclude.push_back(std::move(exclude));
  }
}

void parse_nested(toml::Section& factors, Plan& plan) {
  for (const toml::TomlNode* item : tables_of(factors, "nested", kMaxNested)) {
    toml::Faults& faults = factors.faults();
    toml::Section section(*item, "nested", faults);
    const char* example = "write { factor = \"epoch\", within = { code = [\"shuffle\"] } }";
    Nested nested;
    const toml::TomlNode* inner = section.text("factor", nested.inner);
    section.require("factor", example);
    const toml::TomlNode* within = section.table("within");
    section.require("within", example);
    section.finish();
    if (!inner || !within) continue;
    if (plan.factor_index(nested.inner) < 0) {
      faults.error(inner->spot, in_quotes(nested.inner) + " is no factor of this plan");
      continue;
    }
    if (within->entries.size() != 1) {
      faults.error(within->spot, "'within' names " + std::to_string(within->entries.size()) +
                                     " factors, expected one",
                   example);
      continue;
    }
    const toml::TomlEntry& outer = within->entries[0];
    nested.outer = outer.key;
    if (!parse_levels_of(outer, faults, plan, nested.outer_levels)) continue;
    if (nested.outer == nested.inner) {
      faults.error(outer.key_spot, "factor " + in_quotes(nested.inner) + " can't be nested in itself");
      continue;
    }
    plan.nested.push_back(std::move(nested));
  }
}

void parse_fraction_of(const toml::TomlNode& node, const std::string& text, toml::Faults& faults, Plan& plan) {
  for (int halvings = 1; halvings <= 10; ++halvings)
    if (text == "1/" + std::to_string(1 << halvings)) plan.fraction.halvings = halvings;
  if (plan.fraction.halvings == 0)
    faults.error(node.spot, "fraction " + in_quotes(text) + " is no power of one half", "write \"1/2\", \"1/4\", \"1/8\" ...");
}

void parse_fraction_key(toml::Section& factors, Plan& plan) {
  const toml::TomlNode* node = factors.find("fraction");
  if (!node) return;
  toml::Faults& faults = factors.faults();
  plan.fraction.spot = node->spot;
  if (node->kind == Kind::kString) {
    parse_fraction_of(*node, node->text, faults, plan);
    return;
  }
  if (node->kind != Kind::kTable) {
    toml::wrong_type(faults, "fraction", *node, Kind::kString);
    return;
  }
  toml::Section section(*node, "fraction", faults);
  std::string of;
  if (const toml::TomlNode* of_node = section.text("of", of)) parse_fraction_of(*of_node, of, faults, plan);
  section.require("of", "write fraction = { of = \"1/2\", generators = [\"heap = code:stack\"] }");
  section.texts("generators", plan.fraction.generators);
  section.finish();
}

// Any other value is a treatment's, as that of any other name.
bool is_randomize(const toml::TomlEntry& entry) { return entry.key == "randomize" && entry.value.kind == Kind::kBoolean; }

}  // namespace

void parse_factors(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[factors]", faults);
  for (const toml::TomlEntry& entry : table.entries) {
    if (entry.key == "link" || entry.key == "exclude" || entry.key == "nested" || entry.key == "fraction" ||
        is_baseline(entry) || is_randomize(entry))
      continue;
    if (plan.factors.size() == kMaxFactors) {
      faults.error(entry.key_spot, "the plan has more than " + std::to_string(kMaxFactors) + " factors");
      return;
    }
    parse_factor(entry, faults, plan);
  }
  size_t columns = 0;
  for (const Factor& factor : plan.factors) columns += factor.levels.size() - 1;
  if (columns > kMaxColumns)
    faults.error(table.spot, "levels of all factors, their first ones left out: " + std::to_string(columns) + ", at most " +
                                 std::to_string(kMaxColumns));
  parse_link(section, plan);
  // Before what names levels by their place: nested keeps a factor at its first one.
  for (const toml::TomlEntry& entry : table.entries)
    if (is_baseline(entry)) parse_baseline(entry.value, faults, plan);
  parse_exclude(section, plan);
  parse_nested(section, plan);
  parse_fraction_key(section, plan);
}

}  // namespace stab::plan
