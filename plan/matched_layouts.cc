#include "plan/matched_layouts.h"

#include <algorithm>

#include "plan/schedule.h"

namespace stab::plan {
namespace {

bool compares_treatments(const Plan& plan) {
  return std::any_of(plan.factors.begin(), plan.factors.end(), [](const Factor& factor) {
    return factor.kind == FactorKind::kTreatment && factor.levels.size() > 1;
  });
}

bool randomizes(const Plan& plan) {
  return std::any_of(plan.factors.begin(), plan.factors.end(), [](const Factor& factor) {
    const bool is_layout =
        factor.kind == FactorKind::kCode || factor.kind == FactorKind::kStack || factor.kind == FactorKind::kHeap;
    return is_layout && std::any_of(factor.levels.begin(), factor.levels.end(),
                                    [&](const Level& level) { return !keeps_layout(factor.kind, level); });
  });
}

struct Refusal {
  const char* why = nullptr;  // nullptr: they can be matched
  const char* hint = nullptr;
};

constexpr char kLeaveOut[] = "write layouts = \"independent\", or leave it out";

Refusal refusal(const Plan& plan) {
  if (plan.experiment.order == Order::kRandom)
    return {"layouts are matched within a block, and in random order there are none", "write order = \"blocks\""};
  if (plan.causal) return {"the trials of a causal plan order their layouts themselves", kLeaveOut};
  if (plan.layout.map || plan.layout.confirms) return {"a map compares layouts, and needs another one for each trial", kLeaveOut};
  if (plan.layout.verification)
    return {"a verification of advice compares places, and its arms are to differ in them", kLeaveOut};
  return {};
}

bool draws_pads(const Layout& layout) {
  return layout.stack == abi::StackMode::kOn || layout.stack == abi::StackMode::kRecursive;
}

}  // namespace

void settle_layouts(Plan& plan, int version) {
  Experiment& experiment = plan.experiment;
  if (experiment.layouts_spot.line > 0) return;
  const bool matches = version >= kMatchingScheduleVersion && experiment.blocks == BlockMode::kSliced &&
                       compares_treatments(plan) && randomizes(plan) && refusal(plan).why == nullptr;
  experiment.layouts = matches ? Layouts::kMatched : Layouts::kIndependent;
}

void check_layouts(Plan& plan, toml::Faults& faults) {
  Experiment& experiment = plan.experiment;
  const Refusal refused = refusal(plan);
  if (experiment.layouts == Layouts::kIndependent || refused.why == nullptr) return;
  if (experiment.layouts_spot.line > 0)
    faults.error(experiment.layouts_spot, std::string("layouts = \"matched\": ") + refused.why, refused.hint);
  experiment.layouts = Layouts::kIndependent;
}

bool is_placed_by_table(abi::CodeMode code) { return abi::has_one_layout(code) || code == abi::CodeMode::kShuffle; }

std::string matched_script(const Layout& layout, const std::string& table, std::string script) {
  if (layout.code == abi::CodeMode::kOff && !draws_pads(layout)) return script;
  if (script.empty()) script = "stab-script 1 any\n";
  if (script.back() != '\n') script += '\n';
  return script + (is_placed_by_table(layout.code) && !table.empty() ? table : "match pads") + "\n";
}

}  // namespace stab::plan
