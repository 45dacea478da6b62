// What is preloaded into a program that szc hasn't linked: by preload_heap the heap, by preload_libraries the whole runtime, in
// which shared libraries that szc made move. Everything else of such a program stays.
#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

const char* key_of(const Program& program) { return program.preload_heap ? "preload_heap" : "preload_libraries"; }

bool may_move(FactorKind kind, const Program& program) {
  if (kind == FactorKind::kStack || kind == FactorKind::kStackRange) return false;
  return kind != FactorKind::kCode || program.preload_libraries;
}

// Levels that ask for what only a program of szc's can do.
void check_factor(toml::Faults& faults, const Factor& factor, const Program& program) {
  if (factor.kind != FactorKind::kCode && factor.kind != FactorKind::kStack && factor.kind != FactorKind::kStackRange) return;
  if (may_move(factor.kind, program)) return;
  const std::string moves = program.preload_heap ? "only the heap can move" : "only libraries' code and the heap can move";
  for (const Level& level : factor.levels)
    if (level.value != "off")
      faults.error(factor.spot,
                   factor.name + " '" + level.name + "' moves what szc has prepared, and of '" + program.name + "', which has " +
                       key_of(program) + ", " + moves,
                   "leave " + factor.name + " out, or build the program with szc and leave " + key_of(program) + " out");
}

}  // namespace

void check_preloaded(toml::Faults& faults, const Plan& plan) {
  for (const Program& program : plan.programs) {
    if (program.preload_heap && program.preload_libraries)
      faults.error(program.spot, "preload_libraries preloads the heap, too", "leave preload_heap out");
    if (!program.preload_heap && !program.preload_libraries) continue;
    const std::string key = key_of(program);
    for (const Factor& factor : plan.factors) check_factor(faults, factor, program);
    if (plan.counters.simulation.on())
      faults.error(program.spot, key + " would be the simulator's heap in a simulated trial",
                   "build the program with szc, or don't simulate");
    for (const Workload& workload : program.workloads)
      if (workload.env.contains("LD_PRELOAD"))
        faults.error(workload.spot, "env has LD_PRELOAD, which " + key + " sets", "leave one of them out");
  }
}

}  // namespace stab::plan
