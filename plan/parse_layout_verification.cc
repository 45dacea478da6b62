// [layout.verification] is written by the engine behind a plan of any kind, and makes of it a comparison of builds: all that the
// plan varied keeps one level, so that what differs between the cells is the layout file and whether code moves.
#include <algorithm>

#include "base/rng.h"
#include "base/wording.h"
#include "plan/advice/layout_file.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"
#include "plan/toml/toml_text.h"
#include "plan/verification_plan.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

constexpr const char* kHint = "'stabctl layout verify' writes [layout.verification]";

void parse_arm(const toml::TomlNode& node, toml::Faults& faults, LayoutVerification& verification) {
  if (node.kind != Kind::kTable) return toml::wrong_type(faults, "arm[]", node, Kind::kTable);
  toml::Section section(node, "[[layout.verification.arm]]", faults);
  LayoutArm arm;
  section.require("name", kHint);
  section.require("text", kHint);
  const toml::TomlNode* named = section.text("name", arm.name);
  const toml::TomlNode* text = section.text("text", arm.text);
  section.finish();
  if (!named || !text || !check_name(faults, named->spot, "an arm", arm.name)) return;
  const auto is_same = [&](const LayoutArm& other) { return other.name == arm.name; };
  if (arm.name == kPlainArm || std::any_of(verification.arms.begin(), verification.arms.end(), is_same))
    return faults.error(named->spot, "arm " + in_quotes(arm.name) + " is there twice", "give each layout file a name of its own");
  if (const auto file = advice::parse_layout_file(arm.text, arm.name + ".layout"); !file)
    return faults.error(text->spot, file.error().text(), kHint);
  verification.arms.push_back(std::move(arm));
}

void parse_levels(const toml::TomlNode& node, toml::Faults& faults, LayoutVerification& verification) {
  for (const toml::TomlEntry& entry : node.entries) {
    if (entry.value.kind != Kind::kString) toml::wrong_type(faults, entry.key, entry.value, Kind::kString);
    else verification.levels[entry.key] = entry.value.text;
  }
}

// Code that stays shows what the builds are; where it moves, the place that a build gave it is left at once.
void cross_code(Plan& plan, bool by_visits) {
  std::erase_if(plan.factors, [](const Factor& factor) { return factor.kind == FactorKind::kCode; });
  const bool simulated = plan.counters.simulation.on();
  const std::string moving = simulated && !by_visits ? "once" : "shuffle";
  Factor code;
  code.name = "code";
  code.kind = FactorKind::kCode;
  code.levels = {{"off", "off"}, {moving, moving}};
  plan.factors.insert(plan.factors.begin(), std::move(code));
}

void keep_one_level(Factor& factor, const LayoutVerification& verification, toml::Faults& faults, const SourceSpot& spot) {
  const auto wanted = verification.levels.find(factor.name);
  auto kept = factor.kind == FactorKind::kTreatment ? factor.levels.begin() : factor.levels.end() - 1;
  if (wanted != verification.levels.end()) {
    kept = std::find_if(factor.levels.begin(), factor.levels.end(),
                        [&](const Level& level) { return level.name == wanted->second; });
    if (kept == factor.levels.end())
      return faults.error(spot, "factor " + in_quotes(factor.name) + " has no level " + in_quotes(wanted->second), kHint);
  }
  factor.levels = {Level(*kept)};
}

void simulate(Plan& plan) {
  plan.counters.simulation.simulator = Simulator::kCachegrind;
  plan.counters.events.clear();
  plan.counters.spots.clear();
  plan.experiment.responses = {{std::string(kSimulatedResponses[0].name), Scale::kLog}};
  std::erase_if(plan.factors, [](const Factor& factor) {
    return factor.kind == FactorKind::kEpoch && !factor.levels.front().value.starts_with(kVisitsMark);
  });
}

void make_verification(toml::Section& section, Plan& plan) {
  LayoutVerification& verification = *plan.layout.verification;
  Experiment& experiment = plan.experiment;
  experiment.name = experiment.name.substr(0, 90) + "-verify";
  // The first draw is that of plans that were written before there were others.
  const std::string draw = verification.draw == 1 ? "" : " " + std::to_string(verification.draw);
  experiment.seed = Rng::stream(experiment.seed, "layout verification" + draw).next() >> 1;
  compare_in_blocks(plan, verification.runs * (verification.links + 1));
  if (plan.factor_index(kArmFactor) >= 0)
    return section.faults().error(section.spot(), "the plan has a factor " + in_quotes(kArmFactor) + " of its own", "rename it");
  for (Factor& factor : plan.factors)
    if (factor.kind != FactorKind::kCode) keep_one_level(factor, verification, section.faults(), section.spot());
  if (verification.simulate) simulate(plan);
  const bool by_visits = std::any_of(plan.factors.begin(), plan.factors.end(), [](const Factor& factor) {
    return factor.kind == FactorKind::kEpoch && factor.levels.front().value.starts_with(kVisitsMark);
  });
  cross_code(plan, by_visits);
  Factor arms;
  arms.name = kArmFactor;
  arms.levels = {{kPlainArm, ""}};
  for (const LayoutArm& arm : verification.arms) arms.levels.push_back({arm.name, arm.name});
  arms.spot = section.spot();
  plan.factors.push_back(std::move(arms));
  plan.link.seeds = verification.links;
  plan.link.as_linked = true;
}

}  // namespace

void compare_in_blocks(Plan& plan, int replicates) {
  Experiment& experiment = plan.experiment;
  if (plan.layout.map) experiment.layouts = Layouts::kIndependent;  // as its trials were
  plan.layout.map = false;
  experiment.series.clear();
  experiment.record_epochs = experiment.record_samples = false;
  experiment.runs_per_seed = 1;
  experiment.order = Order::kBlocks;
  experiment.replicates = replicates;
  plan.stopping = {};
  plan.exclude.clear();
  plan.nested.clear();
  plan.fraction = {};
}

void parse_verification(toml::Section& layout, Plan& plan) {
  const toml::TomlNode* node = layout.table("verification");
  if (!node) return;
  toml::Faults& faults = layout.faults();
  const size_t before = faults.error_count();
  toml::Section section(*node, "[layout.verification]", faults);
  LayoutVerification verification;
  section.require("of", kHint);
  section.require("workload", kHint);
  section.text("of", verification.of);
  section.text("workload", verification.workload);
  section.integer("links", 2, kMostVerifiedLinks, verification.links);
  section.integer("runs", 1, kMostVerifiedRuns, verification.runs);
  section.integer("draw", 1, kMostDraws, verification.draw);
  section.boolean("simulate", verification.simulate);
  if (const toml::TomlNode* levels = section.table("levels")) parse_levels(*levels, faults, verification);
  if (const toml::TomlNode* arms = section.find("arm", Kind::kArray)) {
    if (arms->items.size() > kMostArms)
      return faults.error(arms->spot, std::to_string(arms->items.size()) + " layout files, at most " + std::to_string(kMostArms));
    for (const toml::TomlNode& arm : arms->items) parse_arm(arm, faults, verification);
  }
  section.finish();
  if (faults.error_count() > before) return;
  if (verification.arms.empty()) return faults.error(section.spot(), "there is no layout file to verify", kHint);
  if (plan.causal || plan.layout.confirms)
    return faults.error(section.spot(), "a plan is either verified or does something else", kHint);
  plan.layout.verification = std::move(verification);
  make_verification(section, plan);
}

void keep_one_workload(Plan& plan, toml::Faults& faults) {
  if (!plan.layout.verification && !plan.layout.replay) return;
  const std::string wanted = plan.layout.replay ? plan.layout.replay->workload : plan.layout.verification->workload;
  const std::vector<Subject> all = subjects(plan);
  const auto at = std::find_if(all.begin(), all.end(), [&](const Subject& subject) { return subject.name == wanted; });
  if (at == all.end())
    return faults.error(plan.layout.spot, "the plan has no workload " + in_quotes(wanted),
                        plan.layout.replay ? "[layout.replay] names one" : "the file's line 'workload' names one");
  Program program = plan.programs[static_cast<size_t>(at->program)];
  program.workloads = {Workload(program.workloads[static_cast<size_t>(at->workload)])};
  if (plan.layout.verification) program.layout_script.clear();
  plan.programs = {std::move(program)};
  if (plan.layout.replay) return;
  if (plan.programs[0].build.empty())
    faults.error(plan.programs[0].spot, "nothing builds " + in_quotes(wanted) + ", so no layout file can change it",
                 "add build = \"...\", which runs szc");
}

std::string verification_text(const Plan& plan, std::string_view screened, const LayoutVerification& verification) {
  std::string out = plan.text;
  if (!out.ends_with('\n')) out += '\n';
  out += "\n# Written by 'stabctl layout verify': what layout files do to this program, measured by fresh trials.\n"
         "[layout.verification]\nof = " + toml::toml_text(screened) + "\nworkload = " + toml::toml_text(verification.workload) +
         "\nlinks = " + std::to_string(verification.links) + "\nruns = " + std::to_string(verification.runs) + "\n";
  if (verification.draw != 1) out += "draw = " + std::to_string(verification.draw) + "\n";
  if (verification.simulate) out += "simulate = true\n";
  if (!verification.levels.empty()) {
    out += "levels = {";
    const char* between = " ";
    for (const auto& [factor, level] : verification.levels) {
      out += between + toml::toml_text(factor) + " = " + toml::toml_text(level);
      between = ", ";
    }
    out += " }\n";
  }
  for (const LayoutArm& arm : verification.arms)
    out += "[[layout.verification.arm]]\nname = " + toml::toml_text(arm.name) + "\ntext = " + toml::toml_text(arm.text) + "\n";
  return out;
}

}  // namespace stab::plan
