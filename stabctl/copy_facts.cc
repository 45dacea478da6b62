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
                                                          const std::string& directory, const Clock& clock, Budget& limit,
                                                          engine::StopSignal& stop) {
  std::map<std::string, commands::CopyFacts> out;
  const auto experiment = engine.submit(plan, directory, ::geteuid(), ::getegid());
  if (!experiment) return out;
  OneLineProgress quiet(true, clock, clock.monotonic_raw(), limit.most);
  const auto end = run_within(engine, *experiment, quiet, limit, stop);
  if (const auto row = engine.store().experiment(*experiment); row && end && *end == engine::RunEnd::kDone)
    if (const auto runs = engine::copied_runs_by_workload(engine.store(), *row))
      for (const auto& [workload, both] : *runs) out[workload] = copy_facts(both[0], both[1], plan.experiment.margin);
  // The newest experiment is the one that the user asked for.
  [[maybe_unused]] const Status gone = engine.store().delete_experiment(*experiment);
  return out;
}

}  // namespace stab::ctl
