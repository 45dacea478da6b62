// plan/stopping.h says where the points are, analysis/report/contrasts/stopping_decision.h what may be concluded there. Here they
// meet the store.
//
// Whether a point has been passed is read off the schedule: as long as no trial of a later block was tried, the decision
// can be taken (again) from the same data with the same answer. Nothing else has to survive a crash.
#include "stabd/engine/experiment/stopping_point.h"

#include <algorithm>

#include "analysis/report/contrasts/stopping_decision.h"
#include "plan/stopping.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::engine {
namespace {

bool was_tried(store::TrialState state) {
  return state != store::TrialState::kPlanned && state != store::TrialState::kQuarantined &&
         state != store::TrialState::kCancelled;
}

Result<StoppingDecision> decide_precision(const report::Samples& samples, const plan::Plan& plan, int replicates) {
  const std::string after = "after the first " + std::to_string(replicates) + " replicates: ";
  const Result<double> width = report::widest_half_width(samples, static_cast<uint32_t>(replicates));
  if (!width) return StoppingDecision{plan.stopping.max, after + "no precision can be computed, " + width.error().message};
  const int total = plan::total_replicates(plan.stopping, *width);
  return StoppingDecision{total, after + std::to_string(total) + " replicates in all"};
}

}  // namespace

Result<std::optional<int>> due_stopping_point(store::Store& store, const store::ExperimentRow& experiment,
                                              const plan::Plan& plan, const store::TrialRow& next) {
  const std::optional<int> none;
  if (plan.stopping.rule == plan::StoppingRule::kFixed || plan.experiment.order != plan::Order::kBlocks) return none;
  const int replicates = static_cast<int>(next.block);
  if (!plan::is_decided_after(plan, replicates)) return none;
  store::Store::TrialFilter filter;
  filter.kind = store::TrialKind::kMain;
  filter.block = next.block;
  STAB_TRY(const std::vector<store::TrialRow> block, store.trials(experiment.id, filter));
  for (const store::TrialRow& trial : block)
    if (was_tried(trial.state)) return none;
  return std::optional<int>(replicates);
}

Result<StoppingDecision> decide_at(store::Store& store, const store::ExperimentRow& experiment, const plan::Plan& plan,
                                   int replicates) {
  const StoppingDecision go_on{plan::verdict_points(plan).back(), ""};
  STAB_TRY(const report::Samples samples, load_samples(store, experiment));
  if (plan.stopping.rule == plan::StoppingRule::kPrecision) return decide_precision(samples, plan, replicates);
  const Result<report::LookOutcome> found = report::look(samples, static_cast<uint32_t>(replicates));
  // A sequence is looked at after each block: only the look that ends it is told.
  if (plan.stopping.rule == plan::StoppingRule::kSequence && (!found || !found->stop)) return go_on;
  if (!found)
    return StoppingDecision{go_on.replicates, "the look after " + std::to_string(replicates) +
                                                  " replicates can't be taken: " + found.error().message};
  return StoppingDecision{found->stop ? replicates : go_on.replicates, found->text};
}

}  // namespace stab::engine
