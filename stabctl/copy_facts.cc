// What can't be counted is left out: the answer stands as it is then, as without a count.
#include "stabctl/copy_facts.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "stabctl/one_line_progress.h"

namespace stab::ctl {

commands::CopyFacts copy_facts(const engine::CopiedRun& older, const engine::CopiedRun& newer, double margin) {
  constexpr double kMatters = 0.1;
  commands::CopyFacts out{older.pointer_entries, newer.pointer_entries, older.libraries, newer.libraries,
                          older.functions, newer.functions, (older.cpu_seconds + newer.cpu_seconds) / 2};
  const statistics::CopyPrice price = commands::price_of(out);
  out.counts = std::max(price.high, -price.low) > kMatters * std::log1p(margin);
  return out;
}

std::map<std::string, commands::CopyFacts> counted_copies(engine::Engine& engine, const plan::Plan& plan,
                                                          const std::string& directory, const Clock& clock, Budget limit,
                                                          engine::StopSignal& stop) {
  std::map<std::string, commands::CopyFacts> out;
  const auto experiment = engine.submit(plan, directory, ::geteuid(), ::getegid());
  if (!experiment) return out;
  OneLineProgress quiet(true, clock, clock.monotonic_raw(), limit.most);
  const auto end = run_within(engine, *experiment, quiet, limit, stop);
  const auto row = engine.store().experiment(*experiment);
  if (!end || *end != engine::RunEnd::kDone || !row) return out;
  const auto runs = engine::copied_runs_by_workload(engine.store(), *row);
  if (!runs) return out;
  for (const auto& [workload, both] : *runs) out[workload] = copy_facts(both[0], both[1], plan.experiment.margin);
  return out;
}

}  // namespace stab::ctl
