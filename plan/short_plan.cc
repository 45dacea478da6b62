#include "plan/short_plan.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

using toml::TomlNode;
using toml::value_of;
using Kind = TomlNode::Kind;

// Builds as they are, links of their own and windows of virtual speedup have layouts that they are about.
bool says_what_is_on(const TomlNode& tree, const Plan& plan) {
  for (const char* name : {"code", "stack", "heap", "epoch", "stack_range", "binary"})
    if (plan.factor_index(name) >= 0) return true;
  return plan.link.seeds > 0 || value_of(tree, "causal") != nullptr;
}

bool has_own_epoch(const TomlNode& tree) {
  const TomlNode* layout = value_of(tree, "layout");
  return layout != nullptr && value_of(*layout, "epoch") != nullptr;
}

void add(Plan& plan, const char* name, FactorKind kind, Level level, const SourceSpot& spot) {
  Factor factor;
  factor.name = name;
  factor.kind = kind;
  factor.levels = {std::move(level)};
  factor.spot = spot;
  plan.factors.push_back(std::move(factor));
}

std::string first_word(const TomlNode* command) {
  if (command == nullptr) return {};
  const std::string& text = command->kind == Kind::kArray && !command->items.empty() ? command->items[0].text : command->text;
  return text.substr(0, text.find(' '));
}

}  // namespace

bool has_epoch_by_preflight(const Plan& plan) {
  const Factor* epoch = plan.factor_of(FactorKind::kEpoch);
  return epoch != nullptr && std::any_of(epoch->levels.begin(), epoch->levels.end(),
                                         [](const Level& level) { return level.name == kEpochByPreflight; });
}

void check_epoch_by_preflight(const TomlNode& tree, const Plan& plan, toml::Faults& faults) {
  if (!has_epoch_by_preflight(plan)) return;
  const Factor& epoch = *plan.factor_of(FactorKind::kEpoch);
  const auto refuse = [&](const char* why, const char* cure) {
    faults.error(epoch.spot, std::string("epoch = [\"auto\"] ") + why, cure);
  };
  if (epoch.levels.size() > 1) return refuse("next to other epochs", "write each as a duration, such as \"20ms\"");
  if (value_of(tree, "machines") != nullptr)
    return refuse("and [machines]: each machine would choose another one", "write a duration, such as epoch = [\"20ms\"]");
  if (plan.causal) return refuse("and [causal]: windows say when layouts change", "write a duration, or leave epoch out");
}

std::chrono::nanoseconds epoch_of_run(std::chrono::nanoseconds run) {
  constexpr int kLayouts = 40;
  constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds(1), kLongest = std::chrono::milliseconds(500);
  return std::clamp(run / kLayouts, kShortest, kLongest);
}

std::string name_of_file(std::string_view path) {
  constexpr size_t kMost = 80;
  while (path.ends_with('/')) path.remove_suffix(1);
  if (const size_t slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
  if (path.ends_with(".toml")) path.remove_suffix(5);
  std::string name;
  for (const char c : path.substr(0, kMost)) name += fits_a_name(c) ? c : '_';
  while (!name.empty() && (name[0] == '.' || name[0] == '-')) name.erase(0, 1);
  const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
  const bool is_blank = name.find_first_not_of('_') == std::string::npos;
  return is_blank ? "" : is_number ? "plan-" + name : name;
}

std::string name_of_program(const TomlNode& program) {
  const auto fixed = [](const std::string& text) { return text.find('{') == std::string::npos ? name_of_file(text) : ""; };
  std::string name = fixed(first_word(value_of(program, "run")));
  if (const TomlNode* source = value_of(program, "source"); source != nullptr && name.empty()) name = fixed(source->text);
  return name.empty() ? "program" : name;
}

void randomize(const TomlNode& tree, toml::Faults& faults, Plan& plan) {
  const TomlNode* factors = value_of(tree, "factors");
  const TomlNode* asked = factors != nullptr ? value_of(*factors, "randomize") : nullptr;
  if (asked == nullptr || asked->kind != Kind::kBoolean || !asked->boolean) return;  // else a treatment of that name
  if (says_what_is_on(tree, plan))
    return faults.error(asked->spot, "'randomize' turns code, stack and heap on, and the plan says itself what of them is on",
                        "leave randomize out, or these factors, link and [causal]");
  const bool simulated = plan.counters.simulation.on();
  // A simulator has no time that could end an epoch: each process has a layout of its own.
  const char* code = simulated ? "once" : "shuffle";
  add(plan, "code", FactorKind::kCode, {code, code}, asked->spot);
  add(plan, "stack", FactorKind::kStack, {"on", "on"}, asked->spot);
  add(plan, "heap", FactorKind::kHeap, {"page", "page"}, asked->spot);
  if (simulated || has_own_epoch(tree)) return;
  const bool fixed = value_of(tree, "machines") != nullptr;
  add(plan, "epoch", FactorKind::kEpoch, {fixed ? kEpochOfMachines : kEpochByPreflight, std::to_string(kEpochOfPreflightNs)},
      asked->spot);
}

bool takes_usual_looks(const TomlNode& tree, const Plan& plan) {
  const TomlNode* layout = value_of(tree, "layout");
  return value_of(tree, "stopping") == nullptr && value_of(tree, "causal") == nullptr && !plan.counters.simulation.on() &&
         plan.experiment.order == Order::kBlocks && (layout == nullptr || value_of(*layout, "map") == nullptr);
}

}  // namespace stab::plan
