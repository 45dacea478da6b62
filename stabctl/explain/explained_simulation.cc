// A simulated trial has two responses, the instructions and a cost. Of both there are the four runs of a block that explain
// measures otherwise, so that the same statistics answer.
#include "stabctl/explain/explained_simulation.h"

#include <cmath>
#include <span>

#include "plan/simulation.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabd/engine/results/function_places.h"
#include "stabd/engine/trial/simulated.h"
#include "stabd/host/roots.h"

namespace stab::ctl {
namespace {

constexpr char kCost[] = "simulated_cost", kInstructions[] = "simulated_instructions";

// Of runs as they were linked; those of one program are alike unless it draws numbers, or has threads.
double mean_of(std::span<const statistics::CauseBlock> blocks, double statistics::CauseBlock::*run) {
  double sum = 0;
  for (const statistics::CauseBlock& block : blocks) sum += block.*run;
  return std::exp(sum / static_cast<double>(blocks.size()));
}

}  // namespace

Status may_be_simulated(const ExplainedBuilds& builds) {
  STAB_TRY(const std::string text, simulated_plan(builds, 1, PointersLead::kToOriginals));
  STAB_TRY(const plan::Plan plan, parse_ad_hoc(text, builds.directory, builds.text_name));
  STAB_CHECK_OK(engine::must_have_valgrind());
  STAB_TRY(const plan::Simulation known, engine::with_caches_of_machine(plan.counters.simulation, host::Roots()));
  (void)known;
  return {};
}

Result<commands::SimulatedFacts> simulated_facts(store::Store& store, const store::ExperimentRow& row,
                                                 const statistics::CauseSettings& settings, double nominal) {
  using Block = statistics::CauseBlock;
  STAB_TRY(const std::vector<Block> costs, engine::cause_blocks(store, row, kCost));
  STAB_TRY(const std::vector<Block> instructions, engine::cause_blocks(store, row, kInstructions));
  commands::SimulatedFacts out;
  STAB_TRY(out.answer, statistics::decide_cause(costs, settings, nominal));
  STAB_TRY(const statistics::CauseAnswer executed, statistics::decide_cause(instructions, settings, nominal));
  out.instructions = executed.plain;
  out.old_run = {mean_of(instructions, &Block::plain_old), mean_of(costs, &Block::plain_old)};
  out.new_run = {mean_of(instructions, &Block::plain_new), mean_of(costs, &Block::plain_new)};
  STAB_TRY(const std::vector<store::EventRow> events, store.events(row.id));
  for (const store::EventRow& event : events)
    if (event.kind == engine::kSimulationEvent) out.model = event.text;
  return out;
}

}  // namespace stab::ctl
