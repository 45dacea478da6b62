// The preflight of an experiment: one trial of every cell of every workload, before the night is spent.
#include "stabd/engine/experiment/preflight.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "plan/short_plan.h"
#include "stabd/engine/results/replay_of.h"
#include "stabd/engine/trial/trial_metrics.h"

namespace stab::engine {
namespace {

// What failed in an earlier run may have been repaired since; without being asked again it would count as passed. So would what
// was lost too often: where another attempt is to come, that one is the last.
Status repeat_failed(LiveExperiment& experiment) {
  STAB_TRY(const std::vector<store::TrialRow> attempts,
           experiment.store().trials(experiment.id(), {.kind = store::TrialKind::kPreflight, .state = {}, .block = {}}));
  std::map<uint32_t, store::TrialRow> last;  // by place; attempts come in their order
  for (const store::TrialRow& attempt : attempts) last[attempt.order] = attempt;
  for (const auto& [place, trial] : last) {
    if (!has(step(trial.state, store::TrialEvent::kRerun).actions, store::TrialAction::kRepeat)) continue;
    STAB_TRY(const store::Id again, experiment.store().rerun(trial.id));
    (void)again;
  }
  return {};
}

// Why the response that the verdict is about has no value, where the trial's counters should have given one. A night
// without it says nothing.
std::string without_first_response(const plan::Plan& plan, const store::Outcome& outcome) {
  const std::string& first = plan.experiment.responses[0].name;
  for (const store::ResponseRow& row : outcome.responses)
    if (row.name == first && !row.value) return "no value of " + first + ", the first response: " + row.reason;
  return {};
}

// Why a declared question would not be asked: no cell of its workload has a benchmark of that name. Empty: each one will be.
Result<std::string> without_benchmark(const LiveExperiment& experiment) {
  std::map<int, std::set<std::string>> names;  // by subject
  STAB_TRY(const std::vector<store::TrialRow> trials,
           experiment.store().trials(experiment.id(), {.kind = store::TrialKind::kPreflight, .state = {}, .block = {}}));
  for (const store::TrialRow& trial : trials) {
    const auto& metrics = experiment.expanded().workload_of(trial.subject).metrics;
    if (!metrics || metrics->families.empty()) continue;
    STAB_TRY(const store::Outcome outcome, experiment.store().outcome(trial.id));
    for (const store::ResponseRow& row : outcome.responses)
      if (row.name.starts_with(kMetricPrefix)) names[trial.subject].insert(row.name.substr(kMetricPrefix.size()));
  }
  for (const auto& [subject, benchmarks] : names) {
    const std::vector<plan::Metrics::Unasked> unasked = experiment.expanded().workload_of(subject).metrics->unasked(benchmarks);
    if (unasked.empty()) continue;
    const std::string near = did_you_mean(unasked[0].pattern, std::vector<std::string>(benchmarks.begin(), benchmarks.end()));
    return experiment.expanded().subjects[static_cast<size_t>(subject)].name + ": family " + in_quotes(unasked[0].family) +
           " asks for " + in_quotes(unasked[0].pattern) + ", and no benchmark has that name; " +
           (near.empty() ? "there are " + std::to_string(benchmarks.size()) + ", such as " + in_quotes(*benchmarks.begin())
                         : near);
  }
  return std::string();
}

// What many plans forget: a trial has a folder of its own, and what its program reads by a relative name is not there.
std::string hint_of(const plan::Plan& plan, const store::TrialRow& trial, const store::Outcome& outcome) {
  const plan::Subject subject = plan::subjects(plan)[static_cast<size_t>(trial.subject)];
  const plan::Program& program = plan.programs[static_cast<size_t>(subject.program)];
  const plan::Workload& workload = program.workloads[static_cast<size_t>(subject.workload)];
  // A shell looks in the run's folder alone, where words are looked for in that of the build, too.
  constexpr int kNotFoundByShell = 127;
  const bool is_of_shell = workload.run.argv.size() == 3 && workload.run.argv[0] == "/bin/sh" && workload.run.argv[1] == "-c";
  if (is_of_shell && !program.build.empty() && outcome.exit_status == kNotFoundByShell)
    return "; with shell = true a run doesn't find what the build made: write it as words, such as run = [\"./program\", "
           "\"20\"]";
  const bool has_files = !workload.cwd.empty() || !program.inputs.empty() || !workload.inputs.empty() ||
                         !program.prepare.argv.empty();
  if (has_files || !outcome.exit_status || *outcome.exit_status == 0) return {};
  return "; it ran in an empty folder: what it reads by a relative name, 'inputs' brings there";
}

}  // namespace

Result<bool> run_preflight(LiveExperiment& experiment, TrialRunner& runner, OutputInquiry& inquiry) {
  STAB_CHECK_OK(repeat_failed(experiment));
  bool announced = false;
  while (!experiment.stop().asked()) {
    STAB_TRY(const std::optional<store::TrialRow> trial,
             experiment.store().next_trial(experiment.id(), store::TrialKind::kPreflight));
    if (!trial) {
      STAB_TRY(const std::string unasked, without_benchmark(experiment));
      if (!unasked.empty()) STAB_CHECK_OK(experiment.reject("preflight of " + unasked));
      return unasked.empty();
    }
    if (!std::exchange(announced, true)) experiment.observer().phase("preflight: one trial of each cell");
    STAB_CHECK_OK(experiment.store().claim(trial->id, runner.claim()));
    STAB_TRY(store::Outcome outcome, runner.run(*trial));
    STAB_CHECK_OK(inquiry.explain(*trial, outcome));
    if (outcome.state == store::TrialState::kVerified) {
      outcome.failure = without_first_response(experiment.plan(), outcome);
      if (!outcome.failure.empty()) outcome.state = step(outcome.state, store::TrialEvent::kUnanswered).state;
    }
    const bool lost = outcome.state == store::TrialState::kLost;
    STAB_TRY(const store::Replacement replacement, experiment.store().finish(outcome, lost ? kMaxAttemptsWhenLost : 1));
    experiment.tell(*trial, outcome, 0, 0);
    if (outcome.state == store::TrialState::kVerified || (lost && replacement.next_attempt)) continue;
    if (lost && experiment.stop().asked()) return false;
    if (lost) outcome.failure = "lost in attempt " + std::to_string(trial->attempt) + ", the last one: " + outcome.failure;
    STAB_CHECK_OK(experiment.reject("preflight of " + experiment.name_of(*trial) + ": " + outcome.failure +
                                    hint_of(experiment.plan(), *trial, outcome) +
                                    (outcome.stderr_head.empty() ? "" : "\n" + outcome.stderr_head)));
    return false;
  }
  return false;
}

// A trial makes each program give its CPU up once, when it ends. The runtime also waits for three answers of its helper before
// main (runtime/helper/handshake_messages.h). On a busy machine such a wait takes milliseconds.
bool waited_for_nothing(const store::Outcome& outcome) {
  constexpr int64_t kAtItsEnd = 1, kForTheHelper = 3;
  return outcome.voluntary_switches &&
         *outcome.voluntary_switches <= kAtItsEnd + (outcome.dose_json.empty() ? 0 : kForTheHelper);
}

Result<std::vector<PreflightTrial>> passed_preflight(LiveExperiment& experiment) {
  using std::chrono::nanoseconds;
  store::Store& store = experiment.store();
  STAB_TRY(
      const std::vector<store::TrialRow> trials,
      store.trials(experiment.id(), {.kind = store::TrialKind::kPreflight, .state = store::TrialState::kRecorded, .block = {}}));
  std::vector<PreflightTrial> passed;
  for (const store::TrialRow& trial : trials) {
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    if (!outcome.user_ns || !outcome.system_ns || !outcome.wall_ns) continue;
    const auto delay = outcome.ledger.find("run_delay_ns");
    passed.push_back({trial, nanoseconds(*outcome.user_ns + *outcome.system_ns), nanoseconds(*outcome.wall_ns),
                      nanoseconds(delay == outcome.ledger.end() ? 0 : static_cast<int64_t>(delay->second)),
                      outcome.max_rss_kib.value_or(0), !waited_for_nothing(outcome)});
  }
  return passed;
}

// Matched layouts end by the program's CPU time, others by the clock; what it waited for others in the preflight is left out.
Status choose_epoch(LiveExperiment& experiment) {
  const plan::Plan& plan = experiment.plan();
  if (!plan::has_epoch_by_preflight(plan)) return {};
  if (plan.layout.replay) {
    STAB_TRY(const store::ExperimentRow of,
             replayed_experiment(experiment.store(), experiment.row(), *plan.layout.replay));
    STAB_TRY(const std::vector<store::CellRow> cells, experiment.store().cells(of.id));
    if (cells.empty()) return Error{ErrorCode::kCorrupt, "the replayed experiment has no cells", {}};
    return experiment.take_epoch(std::chrono::nanoseconds(cells[0].epoch_ns));
  }
  const bool by_cpu_time = plan.experiment.layouts == plan::Layouts::kMatched;
  STAB_TRY(const std::vector<PreflightTrial> passed, passed_preflight(experiment));
  if (passed.empty()) return {};
  std::chrono::nanoseconds shortest = std::chrono::nanoseconds::max();
  for (const PreflightTrial& one : passed)
    shortest = std::min(shortest, by_cpu_time ? one.cpu : std::max(one.wall - one.delay, one.cpu));
  const std::chrono::microseconds epoch =
      std::chrono::duration_cast<std::chrono::microseconds>(plan::epoch_of_run(shortest));
  STAB_CHECK_OK(experiment.take_epoch(epoch));
  return experiment.note_and_log(
      "epochs", "a layout lasts " + std::to_string(epoch.count()) + " us: the shortest trial of the preflight took " +
                    std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(shortest).count()) + " ms");
}

}  // namespace stab::engine
