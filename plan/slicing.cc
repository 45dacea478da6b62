// The rules of plan/slicing.h.
#include "plan/slicing.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/wording.h"

namespace stab::plan {
namespace {

constexpr nanoseconds kUsualSlice = std::chrono::milliseconds(3);
constexpr int kLeastSlicesOfATrial = 20;

// One control block in so many; 0: none is.
uint32_t stratum(const Plan& plan) {
  return plan.experiment.alone > 0 ? static_cast<uint32_t>(std::lround(1 / plan.experiment.alone)) : 0;
}

// Why trials that share a CPU have no such response; null: they have it.
const char* refused(std::string_view response) {
  if (response == "wall_time") return "is the time of the block's other trials, too";
  if (response == "region_time") return "is measured by a clock that goes on while the block's other trials run";
  if (response.starts_with(kProgressPrefix)) return "is a rate by a clock that goes on while the block's other trials run";
  return nullptr;
}

// What they have instead.
std::string instead_of(std::string_view response) {
  if (!response.starts_with(kProgressPrefix)) return "cpu_time";
  return in_quotes(std::string(kProgressCpuPrefix) + std::string(progress_point(response)));
}

}  // namespace

bool runs_alone(const Plan& plan, uint32_t block) {
  if (plan.experiment.blocks != BlockMode::kSliced) return true;
  const uint32_t every = stratum(plan);
  if (every == 0) return false;
  return block % every == Rng::stream(plan.experiment.seed, "control block", block / every).below(every);
}

size_t control_blocks(const Plan& plan, uint32_t blocks) {
  size_t count = 0;
  for (uint32_t block = 0; block < blocks; ++block) count += runs_alone(plan, block) ? 1 : 0;
  return count;
}

nanoseconds slice_for(nanoseconds shortest_trial) {
  return std::clamp(shortest_trial / kLeastSlicesOfATrial, kLeastSlice, kUsualSlice);
}

void check_slicing(toml::Faults& faults, const Plan& plan, const Design& design) {
  if (plan.experiment.blocks != BlockMode::kSliced) return;
  const SourceSpot& spot = plan.experiment.blocks_spot;
  const auto refuse = [&](const std::string& what, const std::string& cure) { faults.error(spot, what, cure); };
  for (const Response& response : plan.experiment.responses)
    if (const char* why = refused(response.name); why != nullptr)
      refuse("in sliced blocks " + in_quotes(response.name) + " " + why,
             "use " + instead_of(response.name) + ", or blocks = \"in turn\"");
  if (design.cells.size() < 2)
    refuse("a block of this plan has one trial, so there is nothing to run at the same time",
           "give a factor two levels, or write blocks = \"in turn\"");
  if (design.cells.size() > kMostAtOnce)
    refuse("a block of this plan has " + std::to_string(design.cells.size()) + " cells, and at most " +
               std::to_string(kMostAtOnce) + " run at once",
           "fewer levels, a fraction, or blocks = \"in turn\"");
  if (plan.counters.simulation.on())
    refuse("simulated trials are counted, not timed, so no noise has to cancel", "leave blocks out");
  if (plan.causal)
    refuse("[causal] measures by wall clock, which goes on while the block's other trials run", "leave blocks out");
  if (plan.experiment.order == Order::kRandom)
    refuse("with order = \"random\" the trials of a block don't come together", "write order = \"blocks\", or leave blocks out");
  if (plan.machine.cpus == "none")
    refuse("sliced blocks share one CPU, and machine.cpus = \"none\" pins no trial", "write cpus = \"auto\"");
  for (const Program& program : plan.programs)
    for (const Workload& workload : program.workloads)
      if (workload.metrics)
        faults.error(workload.spot,
                     "metrics are times that a program measures by a clock that goes on while the block's other trials run",
                     "leave metrics out, or write blocks = \"in turn\"");
  const uint32_t blocks = static_cast<uint32_t>(plan.experiment.replicates);
  const size_t alone = control_blocks(plan, blocks);
  if (plan.experiment.alone > 0 && alone < 2)
    faults.warning(spot,
                   "of " + std::to_string(blocks) + " blocks " + std::to_string(alone) +
                       (alone == 1 ? " is a control block" : " are control blocks") +
                       ", and it takes two to estimate what slicing does to the answer",
                   "more replicates, a larger share 'alone', or alone = \"0%\" to do without");
}

std::string slicing_text(const Plan& plan, size_t cells) {
  if (plan.experiment.blocks != BlockMode::kSliced) return {};
  const uint32_t blocks = static_cast<uint32_t>(plan.experiment.replicates);
  const nanoseconds slice = plan.experiment.slice;
  return "blocks: the " + std::to_string(cells) + " trials of a block share one CPU in time slices" +
         (slice.count() > 0 ? " of " + std::to_string(slice.count() / 1000) + " us"
                            : " of 3 ms, or less where trials are short") +
         "; " + std::to_string(control_blocks(plan, blocks)) + " of " + std::to_string(blocks) +
         " blocks run one trial at a time, as a control\n";
}

}  // namespace stab::plan
