// The stop signal is used up: what goes on with the experiment has another one.
#include "stabctl/preflight_choice.h"

#include <vector>

#include "stabctl/probe.h"
#include "stabd/engine/machine/time_slices.h"

namespace stab::ctl {
namespace {

class StopsBehindPreflight final : public engine::Observer {
 public:
  StopsBehindPreflight(engine::Engine& engine, store::Id experiment, engine::Observer& observer, engine::StopSignal& stop)
      : engine_(engine), experiment_(experiment), observer_(observer), stop_(stop) {}
  void phase(std::string_view text) override { observer_.phase(text); }
  void note(std::string_view text) override { observer_.note(text); }
  void trial_progress(const engine::ProgressNews& news) override { observer_.trial_progress(news); }
  // Between trials the store may be used.
  void trial_done(const engine::TrialNews& news) override {
    observer_.trial_done(news);
    if (news.kind != store::TrialKind::kPreflight) return;
    const auto left = engine_.store().trials(
        experiment_, {.kind = store::TrialKind::kPreflight, .state = store::TrialState::kPlanned, .block = {}, .limit = 1});
    is_over_ = left && left->empty() && news.state == store::TrialState::kRecorded;
    if (is_over_) stop_.after_this_trial();
  }
  bool is_over() const { return is_over_; }

 private:
  engine::Engine& engine_;
  const store::Id experiment_;
  engine::Observer& observer_;
  engine::StopSignal& stop_;
  bool is_over_ = false;
};

}  // namespace

Result<PreflightChoice> choose_by_preflight(engine::Engine& engine, store::Id experiment, engine::Observer& observer,
                                            Budget& budget, engine::StopSignal& interrupts,
                                            const std::function<std::string(const store::TrialRow&)>& name) {
  StopsBehindPreflight stops(engine, experiment, observer, interrupts);
  STAB_TRY(const engine::RunEnd end, run_within(engine, experiment, stops, budget, interrupts));
  if (end != engine::RunEnd::kStopped || !stops.is_over() || budget.is_over) return PreflightChoice{end, {}};
  store::Store& store = engine.store();
  STAB_TRY(const std::vector<store::TrialRow> trials,
           store.trials(experiment, {.kind = store::TrialKind::kPreflight, .state = store::TrialState::kRecorded, .block = {}}));
  std::vector<TriedProgram> programs;
  for (const store::TrialRow& trial : trials) {
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    Probe seen;
    seen.wall = std::chrono::nanoseconds(outcome.wall_ns.value_or(0));
    seen.user = std::chrono::nanoseconds(outcome.user_ns.value_or(0));
    seen.system = std::chrono::nanoseconds(outcome.system_ns.value_or(0));
    const auto delay = outcome.ledger.find("run_delay_ns");
    seen.delay = std::chrono::nanoseconds(delay == outcome.ledger.end() ? 0 : static_cast<int64_t>(delay->second));
    programs.push_back({name(trial), seen.busy(), outcome.max_rss_kib.value_or(0)});
  }
  return PreflightChoice{{}, choose_clock(programs, engine::available_memory_kib(host::Roots()))};
}

}  // namespace stab::ctl
