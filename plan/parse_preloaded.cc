// preload_heap: the heap of a program that szc hasn't linked, by libstabheap.so. Everything else of such a program stays.
#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

// Levels that ask for what only a program of szc's can do.
void check_factor(toml::Faults& faults, const Factor& factor, const Program& program) {
  if (factor.kind != FactorKind::kCode && factor.kind != FactorKind::kStack && factor.kind != FactorKind::kStackRange) return;
  for (const Level& level : factor.levels)
    if (level.value != "off")
      faults.error(factor.spot,
                   factor.name + " '" + level.name + "' moves what szc has prepared, and of '" + program.name +
                       "', which has preload_heap, only the heap can move",
                   "leave " + factor.name + " out, or build the program with szc and leave preload_heap out");
}

}  // namespace

void check_preloaded(toml::Faults& faults, const Plan& plan) {
  for (const Program& program : plan.programs) {
    if (!program.preload_heap) continue;
    for (const Factor& factor : plan.factors) check_factor(faults, factor, program);
    if (plan.counters.simulation.on())
      faults.error(program.spot, "preload_heap would be the simulator's heap in a simulated trial",
                   "build the program with szc, or don't simulate");
    for (const Workload& workload : program.workloads)
      if (workload.env.contains("LD_PRELOAD"))
        faults.error(workload.spot, "env has LD_PRELOAD, which preload_heap sets", "leave one of them out");
  }
}

}  // namespace stab::plan
