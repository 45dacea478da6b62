// The phases of an experiment, and what holds between them:
//
//   expand     order and seeds of every trial are in the store
//   build      every binary is there and hashed
//   preflight  one trial of every cell of every workload gave the expected output, dose and counters
//   pilot      of a causal plan: the lines to speed up are in the store
//   trials     in schedule order; each is claimed before it starts, and its outcome and the next claim are
//              one commit, so that a crash at any moment leaves at most one claimed trial, which becomes lost
//   controls   of a causal plan: trials of null and baseline windows, where these leave the null control open
//
// Nothing is written to the store while a trial runs. Between trials this thread may run anywhere; during
// them it is on the housekeeping CPU.
//
// What the phases use are objects of their own: LiveExperiment says and stores what becomes of the experiment, HeldMachine has
// knobs, requirements and gates, ExperimentBuilds the binaries, TrialRunner a single trial, OutputInquiry asks after a wrong
// output.
#include "stabd/engine/experiment/experiment_run.h"

#include <utility>

#include "plan/parse.h"
#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/build/plan_files.h"
#include "stabd/engine/experiment/causal_profile.h"
#include "stabd/engine/experiment/counted_entries.h"
#include "stabd/engine/experiment/match_builds.h"
#include "stabd/engine/experiment/planning.h"
#include "stabd/engine/experiment/preflight.h"
#include "stabd/engine/experiment/prepare_slicing.h"
#include "stabd/engine/experiment/trial_sequence.h"
#include "stabd/engine/machine/pinned_thread.h"
#include "stabd/engine/results/replay_of.h"

namespace stab::engine {

Result<std::unique_ptr<ExperimentRun>> ExperimentRun::prepare(Engine& engine, store::Id id, Observer& observer,
                                                              StopSignal& stop) {
  STAB_TRY(std::unique_ptr<LiveExperiment> experiment, LiveExperiment::load(engine, id, observer, stop));
  STAB_TRY(std::unique_ptr<HeldMachine> machine, HeldMachine::take(*experiment));
  auto runner = std::make_unique<TrialRunner>(*experiment, *machine);
  return std::unique_ptr<ExperimentRun>(new ExperimentRun(std::move(experiment), std::move(machine), std::move(runner)));
}

ExperimentRun::ExperimentRun(std::unique_ptr<LiveExperiment> experiment, std::unique_ptr<HeldMachine> machine,
                             std::unique_ptr<TrialRunner> runner)
    : experiment_(std::move(experiment)),
      machine_(std::move(machine)),
      runner_(std::move(runner)),
      builds_(*experiment_, *machine_),
      inquiry_(*experiment_, *runner_) {}

Result<std::optional<RunEnd>> ExperimentRun::to_builds() {
  using Left = std::optional<RunEnd>;
  if (experiment_->row().state == store::ExperimentState::kDone) return Left(RunEnd::kDone);
  if (experiment_->row().state == store::ExperimentState::kCancelled)
    return bad_input("experiment " + std::to_string(experiment_->id()) + " was cancelled");
  if (step(experiment_->row().state, store::ExperimentEvent::kResume).legal) STAB_CHECK_OK(experiment_->resume());
  const auto cut_off = [&](const Error& error) -> Result<Left> {
    STAB_TRY(const RunEnd end, was_cut_off(error));
    return Left(end);
  };
  STAB_TRY(const bool within, machine_->check_plan());
  if (!within) return Left(RunEnd::kRejected);
  const Result<bool> expanded = expand_if_new();
  if (!expanded) return cut_off(expanded.error());
  if (!*expanded) return Left(RunEnd::kRejected);
  if (experiment_->stop().asked()) return Left(RunEnd::kStopped);
  STAB_CHECK_OK(experiment_->advance(store::ExperimentEvent::kRun));
  const Result<bool> made = experiment_->options().share         ? builds_.take_archived()
                            : experiment_->plan().layout.replay ? builds_.take_replayed()
                                                                : builds_.make();
  STAB_CHECK_OK(machine_->say_what_befell_the_worker());
  if (!made) return cut_off(made.error());
  if (!*made) return Left(experiment_->stop().asked() ? RunEnd::kStopped : RunEnd::kRejected);
  return Left();
}

Result<RunEnd> ExperimentRun::to_end() {
  if (experiment_->plan().machines.count > 0 && !experiment_->options().share) {
    STAB_CHECK_OK(
        experiment_->reject("the plan has [machines], and its trials are run by workers, which this engine doesn't start: run it "
                            "with 'stabctl run' or "
                            "'stabctl submit', or drop [machines]"));
    return RunEnd::kRejected;
  }
  STAB_TRY(const std::optional<RunEnd> left, to_builds());
  if (left) return *left;

  const PinnedThread pinned(machine_->lab().placement.housekeeping_cpu);
  if (const Status set = runner_->set_up(builds_.place(), builds_.binaries()); !set) return was_cut_off(set.error());
  STAB_CHECK_OK(machine_->tune());
  STAB_CHECK_OK(machine_->record_facts());
  STAB_TRY(const bool same_machine, is_replayed_where_it_ran());
  if (!same_machine) return RunEnd::kRejected;
  STAB_CHECK_OK(machine_->check_requirements(runner_->passes()));
  STAB_CHECK_OK(runner_->remember_outputs());
  STAB_CHECK_OK(experiment_->log(
      "engine", machine_->lab().placement.why + "; trees held by " + std::string(name(machine_->lab().tree->kind())) +
                    (pinned.in_front() ? "" : "; no real-time priority, so ends may be stamped late")));
  if (const Status matched = match_layouts(); !matched) return was_cut_off(matched.error());
  STAB_TRY(const bool passed, run_preflight(*experiment_, *runner_, inquiry_));
  if (!passed) return experiment_->stop().asked() ? RunEnd::kStopped : RunEnd::kRejected;
  STAB_CHECK_OK(choose_epoch(*experiment_));
  std::unique_ptr<CausalProfile> profile;
  if (experiment_->plan().causal) {
    STAB_CHECK_OK(host::check_causal_parts(experiment_->options().installation));
    profile = std::make_unique<CausalProfile>(*experiment_, *machine_);
    runner_->follow(*profile);
    const Result<bool> found = profile->find_regions(*runner_);
    if (!found) return was_cut_off(found.error());
    if (!*found) return experiment_->stop().asked() ? RunEnd::kStopped : RunEnd::kRejected;
  }
  if (const Status chosen = choose_counted_entries(*experiment_, *runner_); !chosen) return was_cut_off(chosen.error());
  STAB_CHECK_OK(prepare_slicing(*experiment_, *machine_, *runner_));
  while (true) {
    STAB_TRY(const bool finished, TrialSequence(*experiment_, *machine_, *runner_, inquiry_).to_its_end());
    if (!finished) return RunEnd::kStopped;
    if (!profile) break;
    if (experiment_->stop().asked()) return RunEnd::kStopped;
    STAB_TRY(const bool more, profile->add_controls());
    if (more) continue;
    // The gate was open while the profile was analysed, and somebody may have extended the experiment, or planned a trial again.
    STAB_TRY(const bool over, is_over(experiment_->store(), experiment_->id(), experiment_->expanded()));
    if (over) break;
  }

  STAB_CHECK_OK(experiment_->store().check_in_place());
  STAB_TRY(const store::Progress progress, experiment_->store().progress(experiment_->id()));
  const int64_t recorded = progress.count(store::TrialState::kRecorded);
  return recorded + not_needed(progress) == progress.planned_total ? RunEnd::kDone : RunEnd::kGaps;
}

// What is compared beside a replayed trial ran with its experiment's builds.
Status ExperimentRun::match_layouts() {
  if (!experiment_->plan().layout.replay) return engine::match_layouts(*experiment_, *runner_, experiment_->row());
  STAB_TRY(const store::ExperimentRow of,
           replayed_experiment(experiment_->store(), experiment_->row(), *experiment_->plan().layout.replay));
  return engine::match_layouts(*experiment_, *runner_, of);
}

// What a layout costs depends on the caches and predictors that it meets: another model of CPU answers another question. What
// else differs is said.
Result<bool> ExperimentRun::is_replayed_where_it_ran() {
  if (!experiment_->plan().layout.replay) return true;
  const plan::LayoutReplay& how = *experiment_->plan().layout.replay;
  STAB_TRY(const store::ExperimentRow of, replayed_experiment(experiment_->store(), experiment_->row(), how));
  for (const std::string& difference : machine_differences(experiment_->store(), of, how, machine_->facts())) {
    if (!difference.starts_with("cpu.model") && !difference.starts_with("machine")) {
      STAB_CHECK_OK(experiment_->note_and_log("replay-elsewhere", "not as when trial " + std::to_string(how.trial) +
                                                                      " ran: " + difference));
      continue;
    }
    STAB_CHECK_OK(experiment_->reject("trial " + std::to_string(how.trial) + " ran on another machine (" + difference +
                                      "), where its layout may cost something else: replay it there"));
    return false;
  }
  return true;
}

// What was asked of the worker or of a tool when everything was to stop is no fault of the experiment's.
Result<RunEnd> ExperimentRun::was_cut_off(const Error& error) const {
  if (error.code == ErrorCode::kBusy && experiment_->stop().asked()) return RunEnd::kStopped;
  return error;
}

// Whoever took the plan has not looked at what it names.
Result<bool> ExperimentRun::find_named_files() {
  const PlanFiles files(machine_->worker(), experiment_->row().plan_directory,
                        experiment_->options().installation.bin + ":" + kSearchPath);
  const plan::Parsed parsed = [&] {
    const GateOpen open(experiment_->gate());
    plan::ParseOptions options;
    options.files = &files;
    return plan::parse_plan(experiment_->row().plan_text, experiment_->row().plan_path, options);
  }();
  if (files.failure()) return *files.failure();
  if (parsed.plan) return true;
  STAB_CHECK_OK(experiment_->reject(toml::render(parsed.errors)));
  return false;
}

Result<bool> ExperimentRun::expand_if_new() {
  // A replay builds nothing, so sources may be gone.
  if (experiment_->row().state == store::ExperimentState::kSubmitted && !experiment_->plan().layout.replay) {
    STAB_TRY(const bool found, find_named_files());
    if (!found) return false;
  }
  STAB_CHECK_OK(plan_ahead(experiment_->engine(), experiment_->id(), experiment_->expanded(), experiment_->stop()));
  return true;
}

Result<int> ExperimentRun::replay_under(store::Id original, const std::vector<std::string>& tool) {
  if (experiment_->plan().causal)
    return bad_input("the experiment has windows of virtual speedup, which a program gets from the lab alone; replay the trial "
                     "without --under");
  STAB_TRY(const store::TrialRow trial, experiment_->store().trial(original));
  STAB_CHECK_OK(builds_.find_recorded(trial.build));
  STAB_CHECK_OK(runner_->set_up(builds_.place(), builds_.binaries()));
  STAB_CHECK_OK(match_layouts());
  STAB_CHECK_OK(machine_->tune());
  return runner_->run_by_hand(trial, tool);
}

Result<store::Outcome> ExperimentRun::replay(store::Id original) {
  STAB_TRY(const store::TrialRow trial, experiment_->store().trial(original));
  STAB_CHECK_OK(builds_.find_recorded(trial.build));
  const PinnedThread pinned(machine_->lab().placement.housekeeping_cpu);
  STAB_CHECK_OK(runner_->set_up(builds_.place(), builds_.binaries()));
  STAB_CHECK_OK(match_layouts());
  STAB_CHECK_OK(machine_->tune());
  STAB_CHECK_OK(runner_->remember_outputs());
  std::unique_ptr<CausalProfile> profile;
  if (experiment_->plan().causal) {
    STAB_CHECK_OK(host::check_causal_parts(experiment_->options().installation));
    profile = std::make_unique<CausalProfile>(*experiment_, *machine_);
    STAB_CHECK_OK(profile->repeat(original));
    runner_->follow(*profile);
  }
  STAB_TRY(const std::vector<store::Id> ids,
           experiment_->store().add_trials(experiment_->id(), store::TrialKind::kReplay, {trial}));
  STAB_TRY(const store::TrialRow again, experiment_->store().trial(ids.front()));
  STAB_CHECK_OK(experiment_->store().claim(again.id, runner_->claim()));
  STAB_TRY(store::Outcome outcome, runner_->run(again));
  STAB_TRY(const store::Replacement replacement, experiment_->store().finish(outcome, 1));
  (void)replacement;
  return experiment_->store().outcome(again.id);
}

}  // namespace stab::engine
