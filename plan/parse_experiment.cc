// [experiment], [counters], [stopping] and [exclusions]: what is asked, how often, and what is left out.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/wording.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"
#include "plan/short_plan.h"
#include "plan/slicing.h"
#include "plan/toml/units.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

constexpr int kMaxReplicates = 1'000'000;
// Before so many blocks a t statistic says more of the blocks' distribution than of their mean.
constexpr int kFirstOfSequence = 8;
constexpr int kMaxRunsPerSeed = 1000;
constexpr size_t kMaxEvents = 64;

// As the dose report can show one.
bool is_point_name(std::string_view name) {
  constexpr size_t kMostBytes = 111;  // stab/progress.h
  const auto fits = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  return !name.empty() && name.size() <= kMostBytes && std::all_of(name.begin(), name.end(), fits);
}

std::vector<std::string_view> measured_names(const Plan& plan) {
  std::vector<std::string_view> names;
  if (plan.counters.simulation.on()) {
    for (const SimulatedResponse& response : kSimulatedResponses) names.push_back(response.name);
    return names;
  }
  names.assign(kBuiltinResponses.begin(), kBuiltinResponses.end());
  names.insert(names.end(), plan.counters.events.begin(), plan.counters.events.end());
  return names;
}

bool is_measured(const std::string& name, const SourceSpot& spot, toml::Faults& faults, const Plan& plan) {
  const std::vector<std::string_view> names = measured_names(plan);
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  const std::string meant = did_you_mean(name, names);
  const bool builtin = std::find(kBuiltinResponses.begin(), kBuiltinResponses.end(), name) != kBuiltinResponses.end();
  if (plan.counters.simulation.on() && builtin)
    faults.error(spot, "response " + in_quotes(name) + " is the simulator's own, not the program's",
                 "simulate = \"cachegrind\" gives simulated_cost and what it is made of");
  else if (simulated_response(name) != nullptr)
    faults.error(spot, "response " + in_quotes(name) + " is measured in simulated trials only",
                 "write simulate = \"cachegrind\" below [counters]");
  else
    faults.error(spot, "response " + in_quotes(name) + " is measured by nothing",
                 !meant.empty()                  ? meant
                 : plan.counters.simulation.on() ? "use simulated_cost"
                                                 : "list it in counters.events, or use wall_time");
  return false;
}

bool parse_response(const toml::TomlNode& node, toml::Faults& faults, const Plan& plan, Response& out) {
  SourceSpot spot = node.spot;
  bool scaled = false;
  if (node.kind == Kind::kString) {
    out.name = node.text;
  } else if (node.kind == Kind::kTable) {
    toml::Section section(node, "a response", faults);
    const size_t before = faults.error_count();
    if (const toml::TomlNode* name = section.text("name", out.name)) spot = name->spot;
    section.require("name", "write { name = \"wall_time\", scale = \"log\" }");
    size_t scale = 0;
    if (section.word("scale", {"log", "raw"}, scale)) {
      out.scale = scale == 0 ? Scale::kLog : Scale::kRaw;
      scaled = true;
    }
    size_t zeros = 0;
    if (const toml::TomlNode* word = section.word("zeros", {"refuse", "missing"}, zeros)) {
      out.zeros_missing = zeros == 1;
      if (out.zeros_missing && (scaled ? out.scale : default_scale(out.name)) == Scale::kRaw)
        faults.error(word->spot, "zeros have a value on the raw scale", "leave zeros out, or give it scale = \"log\"");
    }
    section.finish();
    if (faults.error_count() > before) return false;
  } else {
    toml::wrong_type(faults, "response", node, Kind::kString);
    return false;
  }
  const bool is_throughput = out.name.starts_with(kProgressPrefix) || out.name.starts_with(kProgressCpuPrefix);
  if (is_throughput && !plan.counters.simulation.on()) {
    if (!is_point_name(progress_point(out.name))) {
      faults.error(spot, "response " + in_quotes(out.name) + " names no progress point",
                   "write \"progress:NAME\" or \"progress_cpu:NAME\", with the name as it stands in STAB_PROGRESS(\"NAME\")");
      return false;
    }
    if (!scaled) out.scale = default_scale(out.name);
    return true;
  }
  if (!is_measured(out.name, spot, faults, plan)) return false;
  if (!scaled) out.scale = default_scale(out.name);
  return true;
}

void parse_responses(toml::Section& section, Plan& plan) {
  std::vector<Response>& responses = plan.experiment.responses;
  const toml::TomlNode* node = section.find("response");
  if (!node) {
    const bool sliced = plan.experiment.blocks == BlockMode::kSliced;
    responses = {{plan.counters.simulation.on() ? "simulated_cost" : sliced ? "cpu_time" : "wall_time", Scale::kLog}};
    return;
  }
  const auto add = [&](const toml::TomlNode& item) {
    Response response;
    if (!parse_response(item, section.faults(), plan, response)) return;
    for (const Response& other : responses)
      if (other.name == response.name) {
        section.faults().error(item.spot, "response " + in_quotes(response.name) + " is named twice");
        return;
      }
    responses.push_back(std::move(response));
  };
  if (node->kind != Kind::kArray) return add(*node);
  if (node->items.empty()) section.faults().error(node->spot, "'response' is empty", "use \"wall_time\"");
  if (node->items.size() > kMaxResponses)
    return section.faults().error(node->spot, "'response' has " + std::to_string(node->items.size()) + " entries, at most " +
                                                  std::to_string(kMaxResponses));
  for (const toml::TomlNode& item : node->items) add(item);
}

void parse_seed(toml::Section& section, Plan& plan) {
  const toml::TomlNode* node = section.find("seed");
  if (!node) return;
  if (node->kind != Kind::kInteger) return toml::wrong_type(section.faults(), "seed", *node, Kind::kInteger);
  if (node->integer < 0) {
    section.faults().error(node->spot, "'seed' is negative", "any number from 0 to 2^63-1");
    return;
  }
  plan.experiment.seed = static_cast<uint64_t>(node->integer);
}

// How many there are the rule says where the plan has one; where it has neither, it may end at the usual looks.
void parse_replicates(toml::Section& section, const toml::TomlNode& tree, Plan& plan) {
  const toml::TomlNode* node = section.integer("replicates", 1, kMaxReplicates, plan.experiment.replicates);
  Stopping& stopping = plan.stopping;
  if (!node && takes_usual_looks(tree, plan)) {
    stopping.rule = StoppingRule::kLooks;
    stopping.looks.assign(std::begin(kUsualLooks), std::end(kUsualLooks));
  }
  int ruled = 0;
  if (stopping.rule == StoppingRule::kLooks && !stopping.looks.empty()) ruled = stopping.looks.back();
  if (stopping.rule == StoppingRule::kPrecision || stopping.rule == StoppingRule::kSequence) ruled = stopping.max;
  if (ruled == 0) {
    if (stopping.rule == StoppingRule::kFixed)
      section.require("replicates", "write replicates = 30; 30 layouts a cell are a good start");
    return;
  }
  if (node && plan.experiment.replicates != ruled)
    section.faults().error(node->spot,
                           "'replicates' is " + std::to_string(plan.experiment.replicates) +
                               ", but [stopping] ends at " + std::to_string(ruled),
                           "leave replicates out");
  plan.experiment.replicates = ruled;
}

Comparison comparison_of(std::string_view sign) {
  if (sign == "<") return Comparison::kLess;
  if (sign == "<=") return Comparison::kLessEqual;
  if (sign == "==") return Comparison::kEqual;
  if (sign == "!=") return Comparison::kNotEqual;
  if (sign == ">=") return Comparison::kGreaterEqual;
  return Comparison::kGreater;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "steal_ns > 1ms", "migrations >= 1"
bool parse_rule(const std::string& text, const SourceSpot& spot, toml::Faults& faults, ExclusionRule& rule) {
  const char* example = "such as \"migrations > 0\"";
  const size_t at = text.find_first_of("<>=!");
  const size_t end = at == std::string::npos ? at : text.find_first_not_of("<>=!", at);
  const std::string_view sign =
      end == std::string::npos ? "" : std::string_view(text).substr(at, end - at);
  const std::vector<std::string_view> signs = {"<", "<=", "==", "!=", ">=", ">"};
  if (std::find(signs.begin(), signs.end(), sign) == signs.end()) {
    faults.error(spot, "rule " + in_quotes(text) + " has no comparison", example);
    return false;
  }
  rule.text = text;
  rule.comparison = comparison_of(sign);
  rule.key = trim(std::string_view(text).substr(0, at));
  if (std::find(kLedgerKeys.begin(), kLedgerKeys.end(), rule.key) == kLedgerKeys.end()) {
    toml::unknown_word(faults, spot, "ledger entry", rule.key, {kLedgerKeys.begin(), kLedgerKeys.end()});
    return false;
  }
  const std::string_view number = trim(std::string_view(text).substr(end));
  const auto [stop, error] =
      std::from_chars(number.data(), number.data() + number.size(), rule.value);
  if (error == std::errc() && stop == number.data() + number.size() && std::isfinite(rule.value))
    return true;
  const Result<nanoseconds> duration = toml::parse_duration(number);
  const double unit_ns = rule.key.ends_with("_ns") ? 1 : rule.key.ends_with("_us") ? 1000 : 0;
  if (duration && unit_ns > 0) {
    rule.value = static_cast<double>(duration->count()) / unit_ns;
    return true;
  }
  faults.error(faults.inside(spot, number), in_quotes(number) + " is no number",
               unit_ns > 0 ? "write a number or a duration" : example);
  return false;
}

}  // namespace

Scale default_scale(std::string_view response) {
  if (const SimulatedResponse* simulated = simulated_response(response)) return simulated->multiplies ? Scale::kLog : Scale::kRaw;
  constexpr std::string_view kTimes[] = {"wall_time", "cpu_time", "user_time", "system_time", "task-clock", "cpu-clock",
                                         "cycles", "cpu-cycles", "ref-cycles", "instructions", "max_rss", "region_time"};
  if (!progress_point(response).empty()) return Scale::kLog;
  const bool multiplies = std::find(std::begin(kTimes), std::end(kTimes), response) != std::end(kTimes);
  return multiplies ? Scale::kLog : Scale::kRaw;
}

bool fits_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '+' ||
         c == '-';
}

bool too_many(toml::Faults& faults, const SourceSpot& spot, std::string_view what, size_t count, size_t most) {
  if (count <= most) return false;
  faults.error(spot, in_quotes(what) + " has " + std::to_string(count) + " entries, at most " + std::to_string(most));
  return true;
}

bool check_name(toml::Faults& faults, const SourceSpot& spot, std::string_view what, const std::string& name) {
  if (name.empty() || name.size() > 100 || name[0] == '.' || !std::all_of(name.begin(), name.end(), fits_a_name)) {
    faults.error(spot, std::string(what) + " " + in_quotes(name) + " can't name files",
                 "use 1 to 100 letters, digits and . _ + -, not starting with a dot or a hyphen");
    return false;
  }
  if (name[0] != '-' || faults.accepted_once()) return true;
  faults.error(spot, std::string(what) + " " + in_quotes(name) + " would be an option of every command that it is named in",
               "begin it with a letter, a digit, _ or +");
  return false;
}

void parse_counters(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[counters]", faults);
  Counters& counters = plan.counters;
  if (const toml::TomlNode* node = section.texts("events", counters.events, &counters.spots)) {
    if (counters.events.size() > kMaxEvents) {
      faults.error(node->spot, std::to_string(counters.events.size()) + " events are too many",
                   "at most " + std::to_string(kMaxEvents));
      counters.events.clear();
    }
    for (size_t i = 0; i < counters.events.size(); ++i) {
      const auto end = counters.events.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(counters.events.begin(), end, counters.events[i]) != end)
        faults.error(counters.spots[i], "event " + in_quotes(counters.events[i]) + " is listed twice");
      if (std::find(kBuiltinResponses.begin(), kBuiltinResponses.end(), counters.events[i]) !=
          kBuiltinResponses.end())
        faults.error(counters.spots[i], in_quotes(counters.events[i]) + " is measured always, it is no event",
                     "remove it here and name it as response");
    }
  }
  size_t sharing = 0;
  if (section.word("sharing", {"multiplex", "passes"}, sharing))
    counters.sharing = sharing == 0 ? CounterSharing::kMultiplex : CounterSharing::kPasses;
  section.integer("per_pass", 1, 64, counters.per_pass);
  section.boolean("kernel", counters.kernel);
  parse_simulation(section, plan);
  section.finish();
}

void parse_stopping(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[stopping]", faults);
  Stopping& stopping = plan.stopping;
  size_t rule = 0, spending = 0, until = 0;
  section.require("rule", "write rule = \"fixed\", \"looks\", \"precision\" or \"sequence\"");
  section.word("rule", {"fixed", "looks", "precision", "sequence"}, rule);
  stopping.rule = static_cast<StoppingRule>(rule);
  const toml::TomlNode* looks = section.find("looks");
  const toml::TomlNode* spends = section.word("spending", {"obrien-fleming", "pocock"}, spending);
  stopping.spending = static_cast<Spending>(spending);
  const toml::TomlNode* first = section.integer("first", 2, kMaxReplicates, stopping.first);
  const toml::TomlNode* max = section.integer("max", 2, kMaxReplicates, stopping.max);
  const toml::TomlNode* half_width = section.fraction("half_width", 1e-6, 1, stopping.half_width);
  const toml::TomlNode* ends = section.word("until", {"settled", "worse"}, until);
  stopping.until_worse = until == 1;
  section.finish();

  if (ends && stopping.rule != StoppingRule::kLooks && stopping.rule != StoppingRule::kSequence)
    faults.error(ends->spot, "'until' belongs to rule = \"looks\" or \"sequence\"", "remove it or change the rule");
  if (stopping.rule == StoppingRule::kLooks) {
    section.require("looks", "write looks = [10, 20, 30]");
    if (looks && looks->kind != Kind::kArray) toml::wrong_type(faults, "looks", *looks, Kind::kArray);
    if (looks && looks->kind == Kind::kArray && looks->items.empty())
      faults.error(looks->spot, "'looks' is empty", "write looks = [10, 20, 30]");
    if (looks && looks->items.size() > kMaxLooks) {
      faults.error(looks->spot, "'looks' has " + std::to_string(looks->items.size()) + " entries, at most " +
                                    std::to_string(kMaxLooks));
    } else if (looks && looks->kind == Kind::kArray) {
      for (const toml::TomlNode& item : looks->items) {
        const int last = stopping.looks.empty() ? 1 : stopping.looks.back();
        if (item.kind != Kind::kInteger) {
          toml::wrong_type(faults, "looks[]", item, Kind::kInteger);
        } else if (item.integer <= last || item.integer > kMaxReplicates) {
          faults.error(item.spot, "look at " + std::to_string(item.integer) + " replicates does not come after " +
                                      std::to_string(last),
                       "looks ascend and start at 2 or more");
        } else {
          stopping.looks.push_back(static_cast<int>(item.integer));
        }
      }
    }
  }
  if (stopping.rule == StoppingRule::kPrecision) {
    section.require("first", "write first = 20: replicates of the first stage");
    section.require("max", "write max = 200: the run ends there at the latest");
    section.require("half_width", "write half_width = \"0.5%\"");
    if (first && max && stopping.first > stopping.max)
      faults.error(first->spot, "'first' is larger than 'max'");
  }
  if (stopping.rule == StoppingRule::kSequence) {
    section.require("max", "write max = 60: the run ends there at the latest");
    if (!first) stopping.first = std::min(kFirstOfSequence, stopping.max);
    if (first && max && stopping.first > stopping.max)
      faults.error(first->spot, "'first' is larger than 'max'");
  }
  const auto misplaced = [&](const toml::TomlNode* node, std::string_view key, StoppingRule owner, const char* word) {
    if (node && stopping.rule != owner)
      faults.error(node->spot, in_quotes(key) + " belongs to rule = \"" + word + "\"", "remove it or change the rule");
  };
  const bool staged = stopping.rule == StoppingRule::kSequence;
  misplaced(looks, "looks", StoppingRule::kLooks, "looks");
  misplaced(spends, "spending", StoppingRule::kLooks, "looks");
  if (!staged) misplaced(first, "first", StoppingRule::kPrecision, "precision");
  if (!staged) misplaced(max, "max", StoppingRule::kPrecision, "precision");
  misplaced(half_width, "half_width", StoppingRule::kPrecision, "precision");
}

// Before the responses, whose default depends on it.
void parse_blocks(toml::Section& section, Experiment& experiment) {
  size_t mode = 0;
  if (const toml::TomlNode* node = section.word("blocks", {"in turn", "sliced"}, mode)) experiment.blocks_spot = node->spot;
  experiment.blocks = static_cast<BlockMode>(mode);
  const toml::TomlNode* slice = section.duration("slice", experiment.slice);
  const toml::TomlNode* alone = section.fraction("alone", 0, 0.5, experiment.alone);
  for (const toml::TomlNode* node : {slice, alone})
    if (node != nullptr && experiment.blocks != BlockMode::kSliced)
      section.faults().error(node->spot, "'slice' and 'alone' are of sliced blocks", "write blocks = \"sliced\", or remove it");
  if (slice != nullptr && (experiment.slice < kLeastSlice || experiment.slice > kMostSlice))
    section.faults().error(slice->spot, "the kernel gives no time slices of that length",
                           "write 100us to 100ms, such as slice = \"20ms\"");
}

void parse_experiment(const toml::TomlNode& table, const toml::TomlNode& tree, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[experiment]", faults);
  Experiment& experiment = plan.experiment;
  experiment.name = name_of_file(plan.path);
  if (experiment.name.empty()) section.require("name", "write name = \"lua-layout\"");
  if (const toml::TomlNode* name = section.text("name", experiment.name))
    check_name(faults, name->spot, "experiment name", experiment.name);
  if (const toml::TomlNode* series = section.text("series", experiment.series))
    check_name(faults, series->spot, "name of a series", experiment.series);
  parse_seed(section, plan);
  section.integer("runs_per_seed", 1, kMaxRunsPerSeed, experiment.runs_per_seed);
  parse_blocks(section, experiment);
  parse_responses(section, plan);
  section.fraction("margin", 1e-6, 1, experiment.margin);
  section.fraction("alpha", 1e-6, 0.5, experiment.alpha);
  size_t order = 0;
  const toml::TomlNode* node = section.word("order", {"blocks", "random"}, order);
  experiment.order = static_cast<Order>(order);
  if (node && experiment.order == Order::kRandom && plan.stopping.rule != StoppingRule::kFixed)
    faults.error(node->spot, "in random order no block is complete before the end, so [stopping] could never stop",
                 "write order = \"blocks\", or rule = \"fixed\"");
  parse_replicates(section, tree, plan);
  size_t layouts = 0;
  if (const toml::TomlNode* said = section.word("layouts", {"independent", "matched"}, layouts)) {
    experiment.layouts = static_cast<Layouts>(layouts);
    experiment.layouts_spot = said->spot;
  }
  size_t about = 0;
  if (const toml::TomlNode* said = section.word("about", {"programs", "binaries"}, about)) {
    experiment.about = static_cast<About>(about);
    experiment.about_spot = said->spot;
  }
  section.boolean("preflight", experiment.preflight);
  section.boolean("record_epochs", experiment.record_epochs);
  section.boolean("record_samples", experiment.record_samples);
  section.finish();
}

void parse_exclusions(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[exclusions]", faults);
  std::vector<std::string> texts;
  std::vector<SourceSpot> spots;
  const toml::TomlNode* rules = section.texts("rules", texts, &spots);
  section.finish();
  if (rules && texts.size() > kMaxRules)
    return faults.error(rules->spot,
                        "'rules' has " + std::to_string(texts.size()) + " entries, at most " + std::to_string(kMaxRules));
  for (size_t i = 0; i < texts.size(); ++i) {
    ExclusionRule rule;
    if (parse_rule(texts[i], spots[i], faults, rule)) plan.exclusions.push_back(std::move(rule));
  }
}

}  // namespace stab::plan
