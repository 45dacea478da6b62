// A stop signal ends one run, so each try has its own.
#include "stabctl/sides/preflight_choice.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stabctl/run/unbegun.h"
#include "stabctl/sides/probe.h"
#include "stabd/engine/experiment/preflight.h"
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

using NameOf = std::function<std::string(const store::TrialRow&)>;

Result<std::vector<TriedProgram>> tried_programs(store::Store& store, store::Id experiment, const NameOf& name) {
  STAB_TRY(const std::vector<store::TrialRow> trials,
           store.trials(experiment, {.kind = store::TrialKind::kPreflight, .state = store::TrialState::kRecorded, .block = {}}));
  std::vector<TriedProgram> programs;
  for (const store::TrialRow& trial : trials) {
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    const Probe seen = probe_of(outcome);
    programs.push_back({name(trial), seen.busy(), outcome.max_rss_kib.value_or(0), seen.wall, 1,
                        engine::waited_for_nothing(outcome)});
  }
  return programs;
}

// The others' trials are those of the same cells.
void add_tries(std::vector<TriedProgram>& programs, std::vector<TriedProgram> others) {
  if (programs.size() != others.size()) {
    programs = std::move(others);
    return;
  }
  for (size_t i = 0; i < others.size(); ++i) programs[i] = of_tries(programs[i], others[i]);
}

}  // namespace

Result<PreflightChoice> choose_by_preflight(engine::Engine& engine, const Arguments& arguments, const SubmitAs& submit,
                                            engine::Observer& observer, Budget& budget, CaughtInterrupts& caught,
                                            engine::StopSignal& stop, const NameOf& name) {
  PreflightChoice out;
  // What is built lies with an experiment, so the new one comes first.
  const auto submit_anew = [&](bool sliced) -> Status {
    const store::Id before = std::exchange(out.experiment, 0);
    STAB_TRY(out.experiment, submit(sliced));
    if (before != 0) deleted_or_said(engine.store(), before, arguments);
    return {};
  };
  for (int time = 1;; ++time) {
    STAB_CHECK_OK(submit_anew(true));
    engine::StopSignal trying;
    caught.ask(trying);
    StopsBehindPreflight stops(engine, out.experiment, observer, trying);
    const auto end = run_within(engine, out.experiment, stops, budget, trying);
    caught.ask(stop);
    if (!end) {
      take_back_or_say(engine.store(), out.experiment, arguments);
      return end.error();
    }
    if (caught.any()) stop.after_this_trial();
    if (*end != engine::RunEnd::kStopped || !stops.is_over() || budget.is_over || caught.any()) {
      out.end = *end;
      return out;
    }
    STAB_TRY(std::vector<TriedProgram> seen, tried_programs(engine.store(), out.experiment, name));
    add_tries(out.programs, std::move(seen));
    out.clock = choose_clock(out.programs, engine::available_memory_kib(host::Roots()));
    const auto is_open = [](const TriedProgram& one) { return one.may_not_have_waited(); };
    if (out.clock.sliced) return out;
    if (time == kMostTries || std::none_of(out.programs.begin(), out.programs.end(), is_open)) break;
  }
  STAB_CHECK_OK(submit_anew(false));
  return out;
}

}  // namespace stab::ctl
