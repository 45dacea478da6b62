#include "stabctl/revisions/gate_start.h"

#include <unistd.h>

#include <algorithm>

#include "base/printable.h"
#include "stabctl/sides/preflight_choice.h"

namespace stab::ctl {

Result<StartedGate> start_gate(engine::Engine& engine, const Revisions& revisions, const GateFile& file,
                               const GateChanges& changes, const Arguments& arguments, const Clock& clock, Budget& limit,
                               CaughtInterrupts& caught, engine::StopSignal& stop, ToldNotes& told) {
  const std::chrono::nanoseconds start = clock.monotonic_raw();
  told.phases.clear();
  const auto submit = [&](const plan::Plan& plan) { return engine.submit(plan, revisions.root, ::geteuid(), ::getegid()); };
  StartedGate out;
  if (!file.is_sliced_by_us) {
    STAB_TRY(out.experiment, submit(file.plan));
    return out;
  }
  const auto submit_as = [&](bool sliced) -> Result<store::Id> {
    if (sliced) return submit(file.plan);
    STAB_TRY(const plan::Plan in_turn, gate_plan_of(revisions, arguments, changes));
    return submit(in_turn);
  };
  ProgressDisplay display(style_of(arguments), clock, &told);
  const std::string base = revisions.base.substr(0, kShownCommit), head = revisions.head.substr(0, kShownCommit);
  auto choice = choose_by_preflight(engine, arguments, submit_as, display, limit, caught, stop,
                                    [&](const store::TrialRow& trial) { return trial.cell == 0 ? base : head; });
  display.finish();
  if (!choice) return choice.error();
  out.experiment = choice->experiment;
  out.tried = choice->end;
  out.clock = choice->clock.sentence;
  out.is_sliced = choice->clock.sliced;
  // Of a limit what is left, and at least something: none at all would be no limit.
  if (limit.most.count() > 0) limit.most = std::max(limit.most - (clock.monotonic_raw() - start), std::chrono::nanoseconds(1));
  return out;
}

CountedCopies copies_of_revisions(engine::Engine& engine, const Revisions& revisions, const GateFile& file,
                                  const Arguments& arguments, const Clock& clock, Budget& limit, engine::StopSignal& stop) {
  if (!file.moves_code) return {};
  const auto plan = gate_plan_of(revisions, arguments, {.counts_copies = true});
  if (!plan) return {{}, one_line(plan.error().message)};
  return counted_copies(engine, *plan, revisions.root, arguments, clock, limit, stop);
}

}  // namespace stab::ctl
