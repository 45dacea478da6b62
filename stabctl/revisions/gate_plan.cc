// The plan's text is the file's with `gate` blanked out, and what the gate adds behind it, so that faults of the plan have the
// places of the file.
#include "stabctl/revisions/gate_plan.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <variant>

#include "analysis/commands/bisect/comparison_looks.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "plan/limits.h"
#include "plan/short_plan.h"
#include "plan/toml/section.h"
#include "plan/toml/toml_reader.h"
#include "stabctl/plan/plan_lines.h"

namespace stab::ctl {
namespace {

using Kind = toml::TomlNode::Kind;

// Each takes one level of its factor.
constexpr const char* kLayoutKeys[] = {"code", "stack", "heap", "epoch"};

struct Settings {
  double margin = 0.01, alpha = 0.05;
  std::vector<int> looks{std::begin(plan::kUsualLooks), std::end(plan::kUsualLooks)};
  int first = 0, max = 0;  // of a confidence sequence instead of looks; 0: there is none, or the plan's own first
  std::vector<std::string> responses;  // empty: the plan's own default
  std::string code = "shuffle", stack = "on", heap = "page", epoch = plan::kEpochByPreflight;
  int links = 0;
  std::string blocks;  // how their trials have the machine; empty: the plan's own default
  bool spends_evenly = false;     // of alpha as much at early looks as at late ones
  bool without_controls = false;  // no block of sliced ones runs alone
  bool simulated = false;
  bool sampled = false;
  bool of_binaries = false;       // as they are linked, so that no layout is drawn
};

// A simulator has no time that could end an epoch: each process has a layout of its own.
void take_simulated(const toml::TomlNode& tree, Settings& settings) {
  const toml::TomlNode* counters = toml::value_of(tree, "counters");
  if (counters == nullptr || toml::value_of(*counters, "simulate") == nullptr) return;
  settings.simulated = true;
  settings.code = "once";
  settings.epoch.clear();
}

void read_looks(toml::Section& section, std::vector<int>& out) {
  const toml::TomlNode* node = section.find("looks");
  if (!node) return;
  std::vector<int> looks;
  bool good = node->kind == Kind::kArray && !node->items.empty() && node->items.size() <= plan::kMaxLooks;
  for (const toml::TomlNode& item : node->items) {
    good = good && item.kind == Kind::kInteger && item.integer >= 2 && item.integer <= 100'000 &&
           (looks.empty() || item.integer > looks.back());
    if (good) looks.push_back(static_cast<int>(item.integer));
  }
  if (good) out = std::move(looks);
  else section.faults().error(node->spot, "'looks' are ascending numbers of replicates from 2 on", "write looks = [10, 20, 40]");
}

// first and max: a confidence sequence, which may end after each block between them.
void read_sequence(toml::Section& section, Settings& settings) {
  constexpr int kMost = 100'000;
  const toml::TomlNode* looks = section.find("looks");
  const toml::TomlNode* first = section.integer("first", 2, kMost, settings.first);
  const toml::TomlNode* max = section.integer("max", 2, kMost, settings.max);
  if (max && looks)
    section.faults().error(max->spot, "'max' and 'looks' together: with 'max' the gate may end after each block",
                           "write one of them");
  if (first && !max)
    section.faults().error(first->spot, "'first' is of a gate that may end after each block, and needs 'max'", "write max = 60");
  if (first && max && settings.first > settings.max)
    section.faults().error(first->spot, "'first' is larger than 'max'", "it ends between them");
}

// One or a list, as [experiment] takes them; what there is by these names is the plan's to say.
void read_responses(toml::Section& section, std::vector<std::string>& out) {
  const toml::TomlNode* node = section.find("response");
  if (!node) return;
  const bool list = node->kind == Kind::kArray && !node->items.empty();
  for (const toml::TomlNode& item : list ? node->items : std::vector<toml::TomlNode>{*node}) {
    const bool name = item.kind == Kind::kString && !item.text.empty() && !has_control(item.text) &&
                      item.text.find_first_of("\"\\") == std::string::npos;
    if (!name)
      return section.faults().error(item.spot, "'response' is a name, or a list of names", "write response = \"user_time\"");
    out.push_back(item.text);
  }
}

std::string level(const char* factor, const std::string& word) {
  return word.empty() ? "" : std::string(factor) + " = [\"" + word + "\"]\n";
}

// stream = { name = "pull-requests", fdr = 0.05, tests = 500 }
void read_stream(toml::Section& section, GateSessionKeys& out) {
  const toml::TomlNode* node = section.table("stream");
  if (!node) return;
  toml::Section stream(*node, "'stream'", section.faults());
  store::StreamName read;
  const toml::TomlNode* name = stream.text("name", read.name);
  constexpr double kLeast = 0.0001, kMost = 0.5;
  constexpr int kMostTests = 1'000'000;
  int tests = static_cast<int>(read.tests);
  stream.fraction("fdr", kLeast, kMost, read.rate);
  stream.integer("tests", 1, kMostTests, tests);
  stream.finish();
  read.tests = tests;
  if (!name || read.name.empty() || has_control(read.name))
    return section.faults().error(node->spot, "a stream has a name, by which its verdicts are found again",
                                  "write stream = { name = \"pull-requests\" }");
  out.stream = std::move(read);
}

// In a value: what a comment says builds nothing.
bool names_revision(const toml::TomlNode& node) {
  return (node.kind == Kind::kString && node.text.find("{revision}") != std::string::npos) ||
         std::any_of(node.items.begin(), node.items.end(), names_revision) ||
         std::any_of(node.entries.begin(), node.entries.end(), [](const auto& entry) { return names_revision(entry.value); });
}

std::string added(const Settings& settings, const std::string& base, const std::string& head) {
  // Which commits are compared draws the order: the same gate twice is the same plan.
  const std::string seed = std::to_string(std::stoull(head.substr(0, 12), nullptr, 16));
  std::string looks;
  for (const int look : settings.looks) looks += (looks.empty() ? "" : ", ") + std::to_string(look);
  std::string responses;
  for (const std::string& one : settings.responses) responses += (responses.empty() ? "" : ", ") + ("\"" + one + "\"");
  if (!responses.empty()) responses = "\nresponse = [" + responses + "]";
  if (!settings.blocks.empty()) responses += "\nblocks = \"" + settings.blocks + "\"";
  if (settings.without_controls) responses += "\nalone = \"0%\"";
  if (settings.of_binaries) responses += "\nabout = \"binaries\"";
  if (settings.sampled) responses += "\nrecord_samples = true\npreflight = false";
  std::string text = "\n[experiment]\nname = \"gate\"\nseed = " + seed +
                     "\nreplicates = " + std::to_string(settings.max > 0 ? settings.max : settings.looks.back()) + responses +
                     "\nmargin = " + number_text(settings.margin) + "\nalpha = " + number_text(settings.alpha) +
                     "\n[factors]\nrevision = [{ name = \"base\", value = \"" + base + "\" }, { name = \"head\", value = \"" +
                     head + "\" }]\n" + level("code", settings.code) + level("stack", settings.stack) +
                     level("heap", settings.heap) + level("epoch", settings.epoch);
  if (settings.links > 0) text += "link = { seeds = " + std::to_string(settings.links) + " }\n";
  if (settings.max > 0)
    text += "[stopping]\nrule = \"sequence\"\n" +
            (settings.first > 0 ? "first = " + std::to_string(settings.first) + "\n" : std::string()) +
            "max = " + std::to_string(settings.max) + "\nuntil = \"worse\"\n";
  else if (settings.looks.size() > 1) text += "[stopping]\nrule = \"looks\"\nlooks = [" + looks + "]\nuntil = \"worse\"\n" +
            (settings.spends_evenly ? "spending = \"pocock\"\n" : std::string());
  return text;
}

// Nothing moves then, and a key that says otherwise asks about programs.
void read_about(toml::Section& section, Settings& settings) {
  size_t about = 0;
  const toml::TomlNode* node = section.word("about", {"programs", "binaries"}, about);
  if (about == 0) return;
  settings.of_binaries = true;
  const bool draws = settings.simulated || settings.links > 0 ||
                     std::any_of(std::begin(kLayoutKeys), std::end(kLayoutKeys), [&](const char* key) {
                       const toml::TomlNode* said = section.find(key);
                       return said != nullptr && said->text != "off";
                     });
  if (draws)
    section.faults().error(node->spot, "about = \"binaries\" asks about programs as they are linked, and other keys draw layouts",
                           "leave out code, stack, heap, epoch, links and simulate, or 'about'");
  settings.code = settings.stack = settings.heap = "off";
  settings.epoch.clear();
}

// The keys of [gate].
void read_gate(const toml::TomlNode& table, toml::Faults& faults, Settings& settings, GatePlan& out) {
  toml::Section section(table, "[gate]", faults);
  section.fraction("margin", 1e-6, 1, settings.margin);
  const toml::TomlNode* alpha = section.number("alpha", 0.0001, 0.4, settings.alpha);
  read_looks(section, settings.looks);
  read_sequence(section, settings);
  if (alpha && settings.max == 0 && settings.looks.size() > 1 && settings.alpha > plan::kMaxAlphaOfLooks)
    faults.error(alpha->spot, plan::kAlphaOfLooks, "write alpha = 0.05, or looks = [40]");
  read_responses(section, settings.responses);
  for (const auto& [key, member] : {std::pair{"code", &settings.code}, std::pair{"stack", &settings.stack},
                                    std::pair{"heap", &settings.heap}, std::pair{"epoch", &settings.epoch}}) {
    const toml::TomlNode* node = section.text(key, *member);
    if (node && member->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.") != std::string::npos)
      faults.error(node->spot, "'" + std::string(key) + "' is one level of that factor", "docs/reference/plan.md lists them");
  }
  section.integer("links", 0, 1000, settings.links);
  read_about(section, settings);
  section.text("logbook", out.sessions.logbook);
  read_stream(section, out.sessions);
  size_t place = 0;
  if (section.word("place", {std::begin(commands::kPlaceRules), std::end(commands::kPlaceRules)}, place))
    out.place = static_cast<commands::PlaceRule>(place);
  size_t blocks = 0;
  if (section.word("blocks", {"in turn", "sliced"}, blocks)) settings.blocks = blocks == 1 ? "sliced" : "in turn";
  section.finish();
}

// The tables of the file that say how the gate runs.
Settings settings_of(const toml::TomlNode& tree, toml::Faults& faults, GatePlan& out) {
  Settings settings;
  take_simulated(tree, settings);
  for (const toml::TomlEntry& entry : tree.entries) {
    if (entry.key == "machines") settings.epoch = plan::kEpochOfMachines;
    for (const char* own : {"experiment", "factors", "stopping"})
      if (entry.key == own)
        faults.error(entry.key_spot, "the gate writes '" + entry.key + "' itself", "use [gate]; docs/how-to/gate.md");
    if (entry.key != "gate") continue;
    if (entry.value.kind == Kind::kTable)
      read_gate(entry.value, faults, settings, out);
    else
      toml::wrong_type(faults, "gate", entry.value, Kind::kTable);
  }
  return settings;
}

std::vector<int> looks_of_search(uint32_t blocks, const std::vector<int>& looks) {
  const std::vector<uint32_t> of = commands::looks_of_comparison(blocks, {looks.begin(), looks.end()});
  return {of.begin(), of.end()};
}

// What the command asks for stands above the file.
void apply(const GateChanges& changes, Settings& settings, GatePlan& out) {
  settings.margin = changes.margin.value_or(settings.margin);
  settings.alpha = changes.alpha.value_or(settings.alpha);
  out.margin = settings.margin;
  if (changes.blocks && settings.max == 0) {
    settings.looks = looks_of_search(*changes.blocks, settings.looks);
    settings.spends_evenly = true;
  }
  if (changes.control) {
    settings.looks = {settings.max > 0 ? settings.max : settings.looks.back()};
    settings.max = settings.first = 0;
  }
  out.moves_code = settings.code != "off" && !settings.simulated;
  if (changes.counts_copies) {
    settings.looks = {1};
    settings.max = settings.first = settings.links = 0;
    settings.responses = {"cpu_time"};
    settings.blocks.clear();
    // Where pointers lead to copies, what still costs more is what doesn't.
    if (settings.code != "direct") settings.code = "copy";
    settings.stack = settings.heap = settings.epoch = "";
    settings.sampled = true;
  }
  out.may_slice = settings.blocks.empty() && settings.responses.empty();
  // Few control blocks can't tell a bias from chance, and at a first look there would be one or none.
  constexpr int kFewestWithControls = 100;
  if (changes.slice && out.may_slice) {
    settings.blocks = "sliced";
    settings.without_controls =
        changes.blocks || (settings.max > 0 ? settings.max : settings.looks.back()) < kFewestWithControls;
  }
}

}  // namespace

GatePlan gate_plan(const std::string& file, const std::string& path, const std::string& base, const std::string& head,
                   const GateChanges& changes) {
  GatePlan out;
  auto read = toml::read_toml(file, path);
  if (auto* syntax = std::get_if<toml::Diagnostic>(&read)) {
    out.faults.push_back(std::move(*syntax));
    return out;
  }
  toml::TomlNode& tree = std::get<toml::TomlNode>(read);
  tree.spot = {path, 1, 1};
  toml::Faults faults(file, path, 20);
  Settings settings = settings_of(tree, faults, out);
  apply(changes, settings, out);
  if (!names_revision(tree))
    faults.error(tree.spot, "nothing takes {revision}, so both sides would be the same",
                 "write source = { git = \".\", revision = \"{revision}\" } into the program");
  if (faults.error_count() == 0) {
    std::set<const toml::TomlNode*> own;
    for (const toml::TomlEntry& entry : tree.entries)
      if (entry.key == "gate") own.insert(&entry.value);
    out.programs = without_lines_of(own, file, path, tree);
    if (out.programs.empty())
      faults.error(tree.spot, "'gate' is mixed with other tables", "write it as [gate], with its keys below, at the end");
    else out.text = out.programs + added(settings, base, head);
  }
  out.faults = faults.take_errors();
  return out;
}

}  // namespace stab::ctl
