// What can't be counted is left out: the answer stands as it is then, and says so.
#include "stabctl/sides/copy_facts.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/line_ends.h"
#include "base/printable.h"
#include "stabctl/run/unbegun.h"
#include "stabctl/terminal/one_line_progress.h"

namespace stab::ctl {
namespace {

bool leads_pointers(const plan::Plan& plan) {
  return std::any_of(plan.factors.begin(), plan.factors.end(), [](const plan::Factor& factor) {
    return factor.kind == plan::FactorKind::kCode && factor.levels.at(0).value == "direct";
  });
}

}  // namespace

commands::CopyFacts copy_facts(const engine::CopiedRun& older, const engine::CopiedRun& newer, double margin) {
  constexpr double kMatters = 0.1;
  commands::CopyFacts out{older.pointer_entries, newer.pointer_entries, older.libraries, newer.libraries,
                          older.functions, newer.functions, (older.cpu_seconds + newer.cpu_seconds) / 2};
  const statistics::CopyPrice price = commands::price_of(out);
  out.counts = std::max(price.high, -price.low) > kMatters * std::log1p(margin);
  return out;
}

namespace {

// The last line that a run which failed has said, or that an experiment was rejected for.
std::string last_line(const std::string& said) {
  const std::string text = without_line_ends(said);
  return one_line(text.substr(text.rfind('\n') + 1));
}

std::string why_uncounted(engine::Engine& engine, store::Id experiment, const Result<engine::RunEnd>& end, const Budget& limit,
                          const std::string& failure) {
  if (!end) return last_line(end.error().message);
  switch (*end) {
    case engine::RunEnd::kStopped: return limit.is_over ? "the time was over" : "it was interrupted";
    case engine::RunEnd::kRejected: {
      const auto row = engine.store().experiment(experiment);
      return "no run of that could be made: " + last_line(row ? row->failure : row.error().message);
    }
    case engine::RunEnd::kGaps: return "runs of that failed each time: " + last_line(failure);
    default: break;
  }
  return {};
}

}  // namespace

CountedCopies counted_copies(engine::Engine& engine, const plan::Plan& plan, const std::string& directory,
                             const Arguments& arguments, const Clock& clock, Budget& limit, engine::StopSignal& stop) {
  CountedCopies out;
  const auto experiment = engine.submit(plan, directory, ::geteuid(), ::getegid());
  if (!experiment) {
    out.uncounted = last_line(experiment.error().message);
    return out;
  }
  OneLineProgress quiet(true, clock, clock.monotonic_raw(), limit.most);
  const auto end = run_within(engine, *experiment, quiet, limit, stop);
  out.uncounted = why_uncounted(engine, *experiment, end, limit, quiet.failure());
  if (out.uncounted.empty()) {
    const auto row = engine.store().experiment(*experiment);
    const auto runs = row ? engine::copied_runs_by_workload(engine.store(), *row) : row.error();
    if (!runs) out.uncounted = last_line(runs.error().message);
    else
      for (const auto& [workload, both] : *runs) {
        commands::CopyFacts& facts = out.by_workload[workload];
        facts = copy_facts(both[0], both[1], plan.experiment.margin);
        facts.is_rest = leads_pointers(plan);
      }
  }
  // The newest experiment is the one that the user asked for.
  deleted_or_said(engine.store(), *experiment, arguments);
  return out;
}

}  // namespace stab::ctl
