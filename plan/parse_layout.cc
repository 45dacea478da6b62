// [layout]: which functions' places make the program's time vary. [layout.confirmation] is written by the engine behind a plan
// that asked for a map, and makes of it the plan that measures the candidates again: code is placed by a script, draws are fresh.
#include <algorithm>
#include <charconv>
#include <set>

#include "base/number_text.h"
#include "base/rng.h"
#include "base/wording.h"
#include "plan/design.h"
#include "plan/layout_confirmation.h"
#include "plan/layout_replay.h"
#include "plan/layout_scripts.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"
#include "plan/toml/toml_text.h"
#include "plan/verification_plan.h"
#include "runtime/modes.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

bool is_random(const Level& level) { return !keeps_layout(FactorKind::kCode, level); }

// epoch = "10ms": a factor of one level.
void parse_epoch(toml::Section& section, Plan& plan) {
  std::chrono::nanoseconds epoch{0};
  const toml::TomlNode* node = section.duration("epoch", epoch);
  if (!node) return;
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(epoch.count(), 0));
  if (ns < abi::kMinEpochNs || ns > abi::kMaxEpochNs)
    return section.faults().error(node->spot, "epoch " + in_quotes(node->text) + " is out of range", "100us to 1h");
  if (plan.factor_of(FactorKind::kEpoch))
    return section.faults().error(node->spot, "the plan has epochs already, as a factor",
                                  "leave epoch out here, or under [factors]");
  Factor factor;
  factor.name = "epoch";
  factor.kind = FactorKind::kEpoch;
  factor.levels = {{node->text, std::to_string(ns)}};
  factor.spot = node->spot;
  plan.factors.push_back(std::move(factor));
}

void parse_texts(toml::Section& section, std::string_view key, const char* hint, std::vector<std::string>& out) {
  std::vector<SourceSpot> spots;
  const toml::TomlNode* node = section.texts(key, out, &spots);
  if (!node) return;
  if (out.size() > kMaxPatterns)
    return section.faults().error(
        node->spot, in_quotes(key) + " has " + std::to_string(out.size()) + " entries, at most " + std::to_string(kMaxPatterns));
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].empty() || out[i].size() > kMaxWordBytes)
      section.faults().error(spots[i], "an entry of " + in_quotes(key) + " is empty or too long", hint);
}

void check_map(toml::Section& section, Plan& plan) {
  toml::Faults& faults = section.faults();
  const Factor* code = plan.factor_of(FactorKind::kCode);
  if (plan.counters.simulation.on())
    return faults.error(section.spot(), "a map compares times of the machine, and trials of this plan are simulated",
                        "leave simulate out, or the map");
  if (!code || std::none_of(code->levels.begin(), code->levels.end(), is_random))
    return faults.error(code ? code->spot : section.spot(), "a map compares layouts, and no cell of this plan draws any",
                        "write code = [\"shuffle\"] under [factors]");
  if (plan.machines.count > 0)
    return faults.error(section.spot(), "a map is of one machine, and the plan has [machines]",
                        "map on each machine by a plan of its own");
  plan.experiment.record_epochs = true;
  plan.experiment.record_samples = true;
}

void check_long_loops(toml::Section& section, Plan& plan) {
  toml::Faults& faults = section.faults();
  const Factor* code = plan.factor_of(FactorKind::kCode);
  if (plan.counters.simulation.on())
    return faults.error(section.spot(),
                        "loops that stay are found by looks at the running program, and trials of this plan are simulated",
                        "leave simulate out, or long_loops");
  const auto has_next = [](const Level& level) { return abi::has_layouts(code_mode(level.value)); };
  if (!code || std::none_of(code->levels.begin(), code->levels.end(), has_next))
    return faults.error(code ? code->spot : section.spot(),
                        "loops are led from one layout to the next, and no cell of this plan has a next one",
                        "write code = [\"shuffle\"] under [factors]");
}

bool parse_address(const std::string& text, uint64_t& out) {
  if (!text.starts_with("0x")) return false;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), out, 16);
  return error == std::errc() && end == text.data() + text.size();
}

void parse_place(const toml::TomlNode& node, toml::Faults& faults, MappedBuild& build) {
  if (node.kind != Kind::kTable) return toml::wrong_type(faults, "places[]", node, Kind::kTable);
  toml::Section section(node, "a place", faults);
  MappedPlace place;
  std::string linked, other_linked;
  const char* hint = "'stabctl run' writes [layout.confirmation]; plans ask for it by map = true";
  section.require("place", hint);
  section.require("function", hint);
  section.require("linked", hint);
  section.text("place", place.place);
  section.text("function", place.function);
  section.text("other", place.other);
  const toml::TomlNode* at = section.text("linked", linked);
  const toml::TomlNode* other_at = section.text("other_linked", other_linked);
  section.integer("slowest", 0, 3, place.slowest);
  section.integer("fastest", 0, 3, place.fastest);
  section.finish();
  if (at && !parse_address(linked, place.linked))
    faults.error(at->spot, in_quotes(linked) + " is no address", "such as \"0x401130\"");
  if (other_at && !parse_address(other_linked, place.other_linked))
    faults.error(other_at->spot, in_quotes(other_linked) + " is no address", "such as \"0x401130\"");
  build.places.push_back(std::move(place));
}

void parse_build(const toml::TomlNode& node, toml::Faults& faults, Plan& plan) {
  if (node.kind != Kind::kTable) return toml::wrong_type(faults, "build[]", node, Kind::kTable);
  toml::Section section(node, "[[layout.confirmation.build]]", faults);
  MappedBuild build;
  section.text("workload", build.workload);
  section.integer("build", 0, INT32_MAX, build.build);
  section.text("text_hash", build.text_hash);
  if (const toml::TomlNode* places = section.find("places", Kind::kArray)) {
    if (places->items.size() > static_cast<size_t>(kMaxConfirmed))
      return faults.error(places->spot, "'places' has " + std::to_string(places->items.size()) + " entries, at most " +
                                            std::to_string(kMaxConfirmed));
    for (const toml::TomlNode& place : places->items) parse_place(place, faults, build);
  }
  section.finish();
  plan.layout.measured.push_back(std::move(build));
}

// Levels keep their names, which exclude and nested know.
void make_confirmation(Plan& plan) {
  plan.layout.map = false;
  plan.experiment.name = plan.experiment.name.substr(0, 90) + "-confirm";
  plan.experiment.series.clear();
  plan.experiment.seed = Rng::stream(plan.experiment.seed, "layout confirmation").next() >> 1;
  plan.experiment.record_epochs = true;
  plan.stopping = {};
  if (Factor* code = plan.factor_of(FactorKind::kCode)) {
    std::erase_if(code->levels, [](const Level& level) { return !is_random(level); });
    for (Level& level : code->levels)
      if (abi::has_layouts(code_mode(level.value))) level.value = kDesignedCode;
  }
}

// A name with its time, or, as older versions wrote it, a number.
ScreenKey parse_screen(toml::Section& section) {
  const char* hint = "'stabctl run' writes [layout.confirmation]; plans ask for it by map = true";
  ScreenKey key;
  const toml::TomlNode* of = section.find("of");
  section.require("of", hint);
  if (of && of->kind == Kind::kInteger) {
    int number = 0;
    section.integer("of", 1, INT32_MAX, number);
    key.number = number;
    return key;
  }
  std::string submitted;
  if (of) section.text("of", key.name);
  section.require("submitted", hint);
  const toml::TomlNode* at = section.text("submitted", submitted);
  const auto [end, error] = std::from_chars(submitted.data(), submitted.data() + submitted.size(), key.submitted_ns);
  if (at && (error != std::errc() || end != submitted.data() + submitted.size()))
    section.faults().error(at->spot, in_quotes(submitted) + " is no time in nanoseconds", hint);
  return key;
}

void parse_confirmation(toml::Section& layout, Plan& plan) {
  const toml::TomlNode* node = layout.table("confirmation");
  if (!node) return;
  toml::Section section(*node, "[layout.confirmation]", layout.faults());
  plan.layout.confirms = parse_screen(section);
  if (const toml::TomlNode* builds = section.find("build", Kind::kArray)) {
    if (builds->items.size() > kMaxMappedBuilds)
      return section.faults().error(builds->spot, "more than " + std::to_string(kMaxMappedBuilds) + " builds");
    for (const toml::TomlNode& build : builds->items) parse_build(build, section.faults(), plan);
  }
  section.finish();
  make_confirmation(plan);
}

std::string quoted_hex(uint64_t value) { return "\"" + hex_text(value) + "\""; }

}  // namespace

void parse_layout(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[layout]", faults);
  plan.layout.spot = table.spot;
  section.boolean("map", plan.layout.map);
  parse_texts(section, "progress", "a point's name, as it stands in STAB_PROGRESS(\"NAME\")", plan.layout.progress);
  parse_epoch(section, plan);
  parse_texts(section, "only", "a function's name; % stands for any characters", plan.layout.only);
  section.integer("confirm", 0, kMaxConfirmed, plan.layout.confirm);
  if (plan.layout.map) check_map(section, plan);
  section.boolean("long_loops", plan.layout.long_loops);
  if (plan.layout.long_loops) check_long_loops(section, plan);
  parse_confirmation(section, plan);
  parse_verification(section, plan);
  parse_replay(section, plan);
  section.finish();
}

std::string library_of(const std::string& function) {
  const size_t end = function.find('!');
  return end == std::string::npos ? std::string() : function.substr(0, end);
}

std::string screen_lines(const ScreenKey& key) {
  return "[layout.confirmation]\nof = " + toml::toml_text(key.name) + "\nsubmitted = \"" + std::to_string(key.submitted_ns) +
         "\"\n";
}

std::string confirmation_text(const Plan& plan, const ScreenKey& screened, const std::vector<MappedBuild>& measured) {
  std::string out = plan.text;
  if (!out.ends_with('\n')) out += '\n';
  out += "\n# Written when experiment '" + screened.name + "' was over: its map's candidates, measured again by fresh trials.\n" +
         screen_lines(screened);
  for (const MappedBuild& build : measured) {
    out += "[[layout.confirmation.build]]\nworkload = " + toml::toml_text(build.workload) +
           "\nbuild = " + std::to_string(build.build) + "\ntext_hash = " + toml::toml_text(build.text_hash) + "\nplaces = [\n";
    for (const MappedPlace& place : build.places) {
      out += "  { place = " + toml::toml_text(place.place) + ", function = " + toml::toml_text(place.function) +
             ", linked = " + quoted_hex(place.linked);
      if (!place.other.empty())
        out += ", other = " + toml::toml_text(place.other) + ", other_linked = " + quoted_hex(place.other_linked);
      out += ", slowest = " + std::to_string(place.slowest) + ", fastest = " + std::to_string(place.fastest) + " },\n";
    }
    out += "]\n";
  }
  return out;
}

std::string mapping_script(const LayoutMapping& layout, const std::string& workload, int build, abi::CodeMode code,
                           const std::vector<std::string>& counted, std::string script) {
  constexpr std::string_view kAny = "stab-script 1 any\n", kModulus = " mod 64 0 16 32 48\n";
  if (code == abi::CodeMode::kOff) return script;
  const auto begin = [&] {
    if (script.empty()) script = kAny;
  };
  const auto count = [&](std::string_view function) {
    const std::string line = "count " + std::string(function) + "\n";
    if (function.empty() || script.find("\n" + line) != std::string::npos) return;
    begin();
    script += line;
  };
  for (const std::string& point : layout.progress) count(counted_function(point));
  for (const std::string& function : counted) count(function);
  if (!layout.confirms || code != abi::CodeMode::kDesign) return script;
  begin();
  for (const MappedBuild& one : layout.measured) {
    if (one.workload != workload || one.build != build) continue;
    // Addresses are of one binary. One that szc has not built has no hash, and addresses are its libraries'.
    if (script.starts_with(kAny) && !one.text_hash.empty())
      script.replace(0, kAny.size(), "stab-script 1 " + one.text_hash + "\n");
    std::set<std::string> forced;
    const auto force = [&](const std::string& library, uint64_t linked) {
      const std::string function = (library.empty() ? "" : library + "!") + hex_text(linked);
      if (forced.insert(function).second) script += "place " + function + std::string(kModulus);
    };
    for (const MappedPlace& place : one.places) {
      const std::string library = library_of(place.function), other_library = library_of(place.other);
      // A library moves only if the script says something of it. Where its pages and sets lie is drawn all the same.
      if (place.place.starts_with("start mod") || !library.empty()) force(library, place.linked);
      if (!other_library.empty()) force(other_library, place.other_linked);
    }
  }
  return script;
}

}  // namespace stab::plan
