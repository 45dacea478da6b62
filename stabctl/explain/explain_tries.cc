// Whether it waits is decided as compare decides it: by the share of its time that it was on a CPU, without the time in which it
// could have run and others had the CPU. What gave the CPU up only as each trial does has not waited.
#include "stabctl/explain/explain_tries.h"

#include <algorithm>
#include <chrono>

#include "stabctl/sides/clock_choice.h"
#include "stabctl/sides/probe.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/experiment/preflight.h"

namespace stab::ctl {
namespace {

using std::chrono::nanoseconds;

// What a machine may take to start a process and to see its end. A short program seems to wait for so long.
constexpr nanoseconds kStartAndEnd = std::chrono::milliseconds(1);

bool waits(const Probe& one) {
  return one.busy() < kLeastBusy && one.wall - one.delay - one.cpu() > kStartAndEnd;
}

}  // namespace

Status add_tries(store::Store& store, const store::ExperimentRow& row, store::TrialKind kind,
                 std::optional<commands::AloneFacts>& out) {
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(row));
  STAB_TRY(const std::vector<store::TrialRow> trials,
           store.trials(row.id, {.kind = kind, .state = store::TrialState::kRecorded, .block = {}}));
  for (const store::TrialRow& trial : trials) {
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    if (!outcome.wall_ns || !outcome.user_ns || !outcome.system_ns) continue;
    if (!out) out = commands::AloneFacts{.old_on_cpu = 0, .new_on_cpu = 0, .old_waits = true, .new_waits = true};
    const bool is_new = expanded.design.cells.at(static_cast<size_t>(trial.cell)).levels.at(0) == 1;
    const Probe seen = probe_of(outcome);
    double& on_cpu = is_new ? out->new_on_cpu : out->old_on_cpu;
    on_cpu = std::max(on_cpu, seen.busy());
    (is_new ? out->new_outputs : out->old_outputs).push_back(outcome.stdout_sha256);
    if (!waits(seen) || engine::waited_for_nothing(outcome)) (is_new ? out->new_waits : out->old_waits) = false;
  }
  return {};
}

}  // namespace stab::ctl
