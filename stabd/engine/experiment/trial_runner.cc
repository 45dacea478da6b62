// The trials of an experiment: their directories and what the plan wants run around it, the run itself with the engine's gate
// open, and the verdict of the plan's exclusion rules. Nothing is stored here; live_trial.cc runs the process.
#include "stabd/engine/experiment/trial_runner.h"

#include <algorithm>
#include <utility>

#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/results/load_samples.h"
#include "stabd/engine/trial/by_hand.h"
#include "stabd/engine/trial/simulated.h"
#include "stabd/engine/trial/expectation.h"

namespace stab::engine {
namespace {

// A kind of log lines.
constexpr char kScratchGone[] = "scratch-gone";

// What prepare and cleanup may take: they set up a trial, they are none.
constexpr std::chrono::minutes kAroundTimeout{10};

}  // namespace

Status TrialRunner::set_up(const BuildPlace& place, const std::vector<BuiltBinary>& binaries) {
  const GateOpen open(experiment_->gate());
  STAB_TRY(const std::string directory, machine_->scratch().fresh(unsigned(-1), unsigned(-1)));
  STAB_TRY(TrialSetup setup, TrialSetup::prepare(experiment_->expanded(), place, binaries, directory));
  setup_ = std::make_unique<TrialSetup>(std::move(setup));
  if (!setup_->simulation().on()) return {};
  experiment_->note(limits_of(setup_->simulation()));
  return experiment_->log(kSimulationEvent, plan::words_of(setup_->simulation()));
}

store::Claim TrialRunner::claim() {
  claimed_ = experiment_->options().clock->monotonic_raw();
  return {machine_->boot_id(), experiment_->now_ns()};
}

Result<store::Outcome> TrialRunner::run(const store::TrialRow& trial) {
  STAB_TRY(std::vector<store::Outcome> outcomes, run(std::vector<store::TrialRow>{trial}));
  return std::move(outcomes.front());
}

Result<std::vector<store::Outcome>> TrialRunner::run(const std::vector<store::TrialRow>& trials) {
  STAB_CHECK_OK(experiment_->store().check_in_place());
  has_run_ = false;
  Result<std::vector<store::Outcome>> outcomes = run_prepared(trials);
  // They had the machine together.
  const int64_t took_ns =
      (experiment_->options().clock->monotonic_raw() - claimed_).count() / static_cast<int64_t>(trials.size());
  if (outcomes)
    for (store::Outcome& outcome : *outcomes) outcome.machine_ns = took_ns;
  // Whatever it came to is the broker's end. The next start repeats it, once; going on would lose one after the other.
  if (experiment_->engine().lost_broker())
    return Error{ErrorCode::kUnavailable, "the broker has ended: what ran is lost, and repeated after the next start", {}};
  STAB_CHECK_OK(machine_->say_what_befell_the_worker());
  if (!outcomes) return outcomes;
  for (size_t i = 0; i < outcomes->size(); ++i) {
    store::Outcome& outcome = (*outcomes)[i];
    if (outcome.state != store::TrialState::kFailed || machine_->directories_are_there(i, has_run_)) continue;
    outcome.state = step(outcome.state, store::TrialEvent::kCutOff).state;
    outcome.failure = "the trial's directory was removed meanwhile, by whatever cleans /tmp: " + outcome.failure;
    STAB_CHECK_OK(experiment_->log(kScratchGone, outcome.failure));
  }
  return outcomes;
}

Result<std::optional<store::Outcome>> TrialRunner::run_beside(const store::TrialRow& trial, Beside beside) {
  STAB_TRY(const WhyNot why_not, make_ready_with_open_gate(trial, beside));
  if (!why_not.words.empty()) return std::optional<store::Outcome>();
  STAB_TRY(store::Outcome outcome, run_ready());
  STAB_CHECK_OK(clean_up(trial));
  if (outcome.state == store::TrialState::kLost || outcome.state == store::TrialState::kTimeout)
    return std::optional<store::Outcome>();
  return std::optional(std::move(outcome));
}

Result<store::Outcome> TrialRunner::run_pilot(const store::TrialRow& trial, CausalRecord& record, std::string& executable) {
  STAB_TRY(const TrialRequest request, setup_->request(trial, setup_->directory()));
  executable = request.launch.exec_path;
  pilot_ = std::make_shared<CausalRecord>();
  const std::shared_ptr<CausalRecord> found = pilot_;
  const Result<WhyNot> why_not = make_ready_with_open_gate(trial, Beside::kPilot);
  pilot_.reset();
  if (!why_not) return why_not.error();
  store::Outcome outcome;
  outcome.state = store::TrialState::kFailed;
  outcome.failure = why_not->words;
  if (!why_not->words.empty()) return outcome;
  STAB_TRY(outcome, run_ready());
  STAB_CHECK_OK(clean_up(trial));
  record = std::move(*found);
  return outcome;
}

Result<int> TrialRunner::run_by_hand(const store::TrialRow& trial, const std::vector<std::string>& tool) {
  HandRun run;
  {
    const GateOpen open(experiment_->gate());
    STAB_TRY(const WhyNot unprepared, prepare_directory(trial, 0));
    if (!unprepared.words.empty()) return bad_input(unprepared.words);
    STAB_TRY(const TrialRequest request, setup_->request(trial, setup_->directory()));
    STAB_TRY(run, by_hand(request, tool, setup_->directory()));
    run.cpu = machine_->lab().placement.trial_cpu;
  }
  if (!run.input_note.empty()) experiment_->note("the program's standard input in the tool: " + run.input_note);
  const Result<int> status = [&] {
    const GateOpen open(experiment_->gate());
    return engine::run_by_hand(run);
  }();
  STAB_CHECK_OK(clean_up(trial));
  return status;
}

bool TrialRunner::are_ready(const std::vector<store::TrialRow>& trials) const {
  return std::equal(trials.begin(), trials.end(), ready_.begin(), ready_.end(),
                    [](const store::TrialRow& trial, const auto& ready) { return trial.id == ready.first; });
}

Result<std::vector<store::Outcome>> TrialRunner::run_prepared(const std::vector<store::TrialRow>& trials) {
  if (!are_ready(trials)) {
    for (const store::TrialRow& trial : trials) {
      if (profile_ != nullptr) STAB_CHECK_OK(profile_->look_up_position(trial));
      STAB_CHECK_OK(warm_up(trial));
    }
    ready_.clear();
    for (size_t i = 0; i < trials.size(); ++i) {
      STAB_TRY(const WhyNot why_not, [&] {
        const GateOpen open(experiment_->gate());
        return make_ready(trials[i], Beside::kNo, trials.size() > 1);
      }());
      if (why_not.words.empty()) continue;
      ready_.clear();
      for (size_t prepared = 0; prepared < i; ++prepared) STAB_CHECK_OK(clean_up(trials[prepared], prepared));
      return not_run(trials, i, why_not);
    }
  }
  STAB_TRY(std::vector<store::Outcome> outcomes, run_all_ready());
  for (size_t i = 0; i < trials.size(); ++i) {
    store::Outcome& outcome = outcomes[i];
    outcome.trial = trials[i].id;
    STAB_CHECK_OK(clean_up(trials[i], i));
    STAB_CHECK_OK(hold_against_rules(outcome));
    if (outcome.state == store::TrialState::kVerified) first_stdout_.emplace(trials[i].subject, outcome.stdout_sha256);
  }
  return outcomes;
}

std::vector<store::Outcome> TrialRunner::not_run(const std::vector<store::TrialRow>& trials, size_t unready,
                                                 const WhyNot& why_not) const {
  std::vector<store::Outcome> outcomes(trials.size());
  for (size_t i = 0; i < trials.size(); ++i) {
    using store::TrialEvent;
    store::Outcome& outcome = outcomes[i];
    outcome.trial = trials[i].id;
    const TrialEvent event = i != unready ? TrialEvent::kSpoiled : why_not.lost ? TrialEvent::kCutOff : TrialEvent::kLaunchFailed;
    outcome.state = step(store::TrialState::kClaimed, event).state;
    outcome.failure = i == unready ? why_not.words : spoiled_text(why_not.words);
    outcome.finished_at_ns = experiment_->now_ns();
  }
  return outcomes;
}

Status TrialRunner::hold_against_rules(store::Outcome& outcome) {
  for (const plan::ExclusionRule& rule : experiment_->plan().exclusions) {
    const auto value = outcome.ledger.find(rule.key);
    if (value == outcome.ledger.end()) {
      if (outcome.state == store::TrialState::kVerified) STAB_CHECK_OK(say_that_it_is_idle(rule));
    } else if (plan::excludes(rule, value->second)) {
      outcome.excluded_by.push_back(rule.text);
    }
  }
  return {};
}

// Said once for each rule in a run; the report says it again.
Status TrialRunner::say_that_it_is_idle(const plan::ExclusionRule& rule) {
  if (!idle_rules_.insert(rule.text).second) return {};
  const std::string text = "exclusion rule '" + rule.text + "' judges nothing where the ledger has no " + rule.key + ", as here";
  return experiment_->note_and_log(kIdleRule, text);
}

TrialRunner::WhyNot TrialRunner::why_not(const Error& error) {
  return {error.message, says_nothing(error)};
}

Result<TrialRunner::WhyNot> TrialRunner::make_ready_with_open_gate(const store::TrialRow& trial, Beside beside) {
  const GateOpen open(experiment_->gate());
  ready_.clear();
  return make_ready(trial, beside);
}

Result<TrialRunner::WhyNot> TrialRunner::make_ready(const store::TrialRow& trial, Beside beside, bool in_company) {
  const size_t enclosure = ready_.size();
  STAB_TRY(WhyNot unprepared, prepare_directory(trial, enclosure));
  if (!unprepared.words.empty()) return unprepared;
  Result<TrialRequest> request = setup_->request(trial, directories_[enclosure]);
  if (!request) return why_not(request.error());
  if (const auto first = first_stdout_.find(trial.subject); first != first_stdout_.end())
    request->first_stdout_sha256 = first->second;
  request->for_comparison = beside != Beside::kNo;
  request->keeps_output = trial.kind == store::TrialKind::kReplay;
  if (beside == Beside::kNo)
    request->on_progress = [this, subject = trial.subject](const std::vector<PointVisits>& points) {
      experiment_->observer().trial_progress({experiment_->expanded().subjects[static_cast<size_t>(subject)].name, points});
    };
  if (beside == Beside::kNeutral) {
    request->layout.code = abi::CodeMode::kOff;
    request->layout.stack = abi::StackMode::kOff;
    request->layout.heap = abi::HeapMode::kOff;
    request->script.clear();
    request->match_rows.reset();
  }
  if (profile_ != nullptr) {
    Result<CausalScript> script = profile_->script_of(trial, request->launch.exec_path);
    if (!script) return why_not(script.error());
    const host::Installation& installation = experiment_->options().installation;
    const bool is_kept =
        (trial.kind == store::TrialKind::kMain || trial.kind == store::TrialKind::kReplay) && beside == Beside::kNo;
    request->causal = CausalRequest{*std::move(script), installation.causal_library, installation.causal, is_kept, pilot_};
  }
  if (in_company) request->launch.slice = slice_;
  ready_.emplace_back(trial.id, ReadyTrial(machine_->lab(enclosure), *std::move(request)));
  return WhyNot();
}

bool TrialRunner::is_quick_to_make_ready(const store::TrialRow& trial) const {
  const plan::Program& program = experiment_->expanded().program_of(trial.subject);
  // Where the windows of a causal trial begin is known when the one before it is stored.
  return profile_ == nullptr && warm_.count(trial.subject) && program.prepare.empty() && program.inputs.empty() &&
         experiment_->expanded().workload_of(trial.subject).inputs.empty();
}

Result<TrialRunner::WhyNot> TrialRunner::prepare_directory(const store::TrialRow& trial, size_t enclosure) {
  machine_->lab(enclosure).tree->begin_trial();
  const Result<std::string> directory = machine_->fresh_directory(enclosure);
  if (!directory) return why_not(directory.error());
  directories_.resize(std::max(directories_.size(), enclosure + 1));
  directories_[enclosure] = *directory;
  if (const Status filled = setup_->fill_directory(trial, *directory); !filled) return why_not(filled.error());
  const auto before = setup_->prepare_request(trial, *directory);
  if (!before) return WhyNot();
  STAB_TRY(const CommandOutput output, command(*before, enclosure));
  return output.ok ? WhyNot() : WhyNot{"prepare failed: " + output.failure + "\n" + output.log};
}

Status TrialRunner::clean_up(const store::TrialRow& trial, size_t enclosure) {
  const GateOpen open(experiment_->gate());
  const auto after = setup_->cleanup_request(trial, directories_[enclosure]);
  if (!after) return {};
  STAB_TRY(const CommandOutput output, command(*after, enclosure));
  if (!output.ok) experiment_->note("cleanup failed: " + output.failure);
  return {};
}

// Discarded runs that bring files into the page cache; not stored, because nothing follows from them.
Status TrialRunner::warm_up(const store::TrialRow& trial) {
  if (std::exchange(warm_[trial.subject], true)) return {};
  for (int i = 0; i < experiment_->expanded().workload_of(trial.subject).warmup && !experiment_->stop().asked(); ++i) {
    STAB_TRY(const WhyNot why_not, make_ready_with_open_gate(trial, Beside::kNo));
    if (!why_not.words.empty()) return {};  // the trial itself will say so
    STAB_TRY(const store::Outcome outcome, run_ready());
    (void)outcome;
    STAB_CHECK_OK(clean_up(trial));
  }
  return {};
}

Result<CommandOutput> TrialRunner::command(const host::LaunchRequest& request, size_t enclosure) {
  return run_command(machine_->lab(enclosure), request, kAroundTimeout);
}

Result<store::Outcome> TrialRunner::run_ready() {
  STAB_TRY(std::vector<store::Outcome> outcomes, run_all_ready());
  return std::move(outcomes.front());
}

Result<std::vector<store::Outcome>> TrialRunner::run_all_ready() {
  std::vector<ReadyTrial> trials;
  for (auto& [id, ready] : ready_) trials.push_back(std::move(ready));
  ready_.clear();
  const int64_t submits = experiment_->engine().submits(), web_requests = experiment_->engine().web_requests();
  const GateOpen open(experiment_->gate());
  Result<std::vector<store::Outcome>> outcomes = ReadyTrial::run_all(trials);
  has_run_ = std::any_of(trials.begin(), trials.end(), [](const ReadyTrial& trial) { return trial.has_run(); });
  if (!outcomes) return outcomes;
  for (store::Outcome& outcome : *outcomes) {
    outcome.ledger["submits"] = static_cast<double>(experiment_->engine().submits() - submits);
    outcome.ledger["web_requests"] = static_cast<double>(experiment_->engine().web_requests() - web_requests);
  }
  return outcomes;
}

Status TrialRunner::remember_outputs() {
  for (const store::TrialKind kind : {store::TrialKind::kPreflight, store::TrialKind::kMain}) {
    if (first_stdout_.size() == experiment_->expanded().subjects.size()) break;
    store::Store::TrialFilter filter;
    filter.kind = kind;
    filter.state = store::TrialState::kRecorded;
    STAB_TRY(const std::vector<store::TrialRow> trials, experiment_->store().trials(experiment_->id(), filter));
    for (const store::TrialRow& trial : trials) {
      if (first_stdout_.count(trial.subject)) continue;
      STAB_TRY(const store::Outcome outcome, experiment_->store().outcome(trial.id));
      first_stdout_[trial.subject] = outcome.stdout_sha256;
    }
  }
  return {};
}

// A helper stays where its starter was until a program asks for it, and the trial's CPU is no place to wait.
void TrialRunner::work_ahead() {
  const Laboratory& lab = machine_->lab();
  ahead_ = std::make_unique<SideThread>(lab.with_helper ? lab.placement.housekeeping_cpu : lab.placement.trial_cpu);
}

// A trial that can't be prepared says why when its turn comes, not here.
void TrialRunner::begin_ahead(const std::vector<store::TrialRow>& trials) {
  if (!std::all_of(trials.begin(), trials.end(), [&](const auto& trial) { return is_quick_to_make_ready(trial); })) return;
  ahead_->begin([this, trials] {
    ready_.clear();
    for (const store::TrialRow& trial : trials) {
      const Result<WhyNot> why_not = make_ready(trial, Beside::kNo, trials.size() > 1);
      if (!why_not || !why_not->words.empty()) return ready_.clear();
    }
  });
}

void TrialRunner::wait_for_ahead() {
  // The work ahead may wait for a file of the user, which takes as long as its file system likes.
  const GateOpen open(experiment_->gate());
  ahead_->wait();
}

}  // namespace stab::engine
