// What is read of a trial once its program has ended: what it used, its counters, what its helper and a causal profile say, and
// the beginning of its output.
#include "base/clock.h"
#include "stabd/engine/trial/live_trial.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <utility>

#include "stabd/engine/separation/process_end.h"

namespace stab::engine {

using store::TrialEvent;
using store::TrialState;

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A killed process that is not gone by then sits in the kernel: a broken device or file system. No further
// trial makes sense on that machine.
constexpr milliseconds kKillDeadline{10'000};
// What is kept of the output of a trial that did not pass.
constexpr size_t kHeadBytes = 4096;

// For how much of a run's time the first thread of its process was on no CPU. The process has ended, and its time counts the
// launcher's, too.
nanoseconds time_off_cpu(const ScheduledTime& scheduled, const host::LaunchStamp& start, nanoseconds end) {
  const nanoseconds on_cpu = nanoseconds(scheduled.on_cpu_ns) - start.user - start.system;
  return std::max(nanoseconds(0), end - start.raw - on_cpu);
}

}  // namespace

Result<TrialEvent> LiveTrial::kill_tree() {
  if (launched_) {
    const auto migrations = migrations_of(lab_.roots, launched_->pid());
    if (migrations) outcome_.ledger["migrations"] = static_cast<double>(*migrations);
    const auto scheduled = scheduled_time_of(lab_.roots, launched_->pid());
    // Before the exec it waited as the launcher, in no time of the run: what that leaves beside the time on a CPU is the most.
    if (scheduled && launcher_delay_ns_ && end_raw_ > start_.raw)
      outcome_.ledger["run_delay_ns"] = static_cast<double>(std::clamp(
          scheduled->run_delay_ns - *launcher_delay_ns_, int64_t{0}, time_off_cpu(*scheduled, start_, end_raw_).count()));
  }
  if (launched_) STAB_CHECK_OK(end_program());
  else STAB_CHECK_OK(lab_.tree->kill_all(kKillDeadline));
  if (const auto lines = lab_.ledger->new_kernel_log_lines()) outcome_.ledger["kernel_log_lines"] = static_cast<double>(*lines);
  const HostMoment after = lab_.ledger->look();
  outcome_.ledger.merge(Ledger::between(before_, after));
  machine_kills_ = memory_kills_text(before_.memory_kills, after.memory_kills);
  read_counters();
  if (helper_) finish_helper();
  if (companion_) finish_causal();
  // A trial that was killed is checked no further, and a limit that it met may be why it was killed.
  if (const std::string met = limits_text(); !outcome_.failure.empty() && !met.empty()) outcome_.failure += "; " + met;
  return TrialEvent::kTreeGone;
}

Status LiveTrial::end_program() {
  STAB_TRY(const host::ProcessUsage used, launched_->end(lab_.tree, kKillDeadline));
  const int status = used.status;
  const rusage& usage = used.usage;
  hits_ = used.hits;
  if (WIFEXITED(status)) outcome_.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  outcome_.user_ns = (nanoseconds_of(usage.ru_utime) - start_.user).count();
  outcome_.system_ns = (nanoseconds_of(usage.ru_stime) - start_.system).count();
  outcome_.max_rss_kib = usage.ru_maxrss;
  outcome_.minor_faults = usage.ru_minflt - start_.minor_faults;
  outcome_.major_faults = usage.ru_majflt - start_.major_faults;
  outcome_.voluntary_switches = usage.ru_nvcsw - start_.voluntary_switches;
  outcome_.involuntary_switches = usage.ru_nivcsw - start_.involuntary_switches;
  const auto note = [&](const char* key, const std::optional<int64_t>& value) {
    outcome_.ledger[key] = static_cast<double>(*value);
  };
  note("minor_faults", outcome_.minor_faults);
  note("major_faults", outcome_.major_faults);
  note("voluntary_switches", outcome_.voluntary_switches);
  note("involuntary_switches", outcome_.involuntary_switches);
  return {};
}

void LiveTrial::read_counters() {
  if (!counters_) return;
  for (const counters::Reading& reading : counters_->read()) {
    store::ResponseRow row;
    row.name = reading.name;
    row.value = reading.value;
    row.reason = reading.reason;
    if (reading.value) {
      row.raw = static_cast<int64_t>(reading.raw);
      row.enabled_ns = static_cast<int64_t>(reading.enabled_ns);
      row.running_ns = static_cast<int64_t>(reading.running_ns);
    }
    outcome_.responses.push_back(std::move(row));
  }
  counters_.reset();
}

void LiveTrial::finish_helper() {
  const Result<HelperEnd> end = helper_->finish(lab_.helper_patience);
  if (!end) {
    dose_failure_ = end.error().message;
    return;
  }
  helper_signal_ = end->signal;
  helper_given_up_ = end->given_up;
  outcome_.dose_json = end->report;
  if (helper_signal_ != 0 || end->report.empty()) return;  // empty where it was given up, too
  const Result<std::optional<Dose>> parsed = parse_dose(end->report);
  if (!parsed) {
    dose_failure_ = parsed.error().message;
    return;
  }
  dose_ = *parsed;
  if (!dose_) return;
  if (request_.keeps_epochs || keeps_samples() || !request_.script.empty()) keep_epochs(end->epochs);
  const std::optional<Dose>& dose = dose_;
  outcome_.layouts_built = dose->layouts_built;
  outcome_.layouts_executed = dose->layouts_executed;
  outcome_.functions_moved = dose->functions_moved;
  outcome_.functions_kept = dose->functions - dose->functions_moved;
  outcome_.helper_cpu_ns = dose->helper_cpu_ns;
}

void LiveTrial::keep_epochs(std::string_view told) {
  Result<EpochSeries> epochs = parse_epochs(told);
  if (!epochs) {
    dose_failure_ = epochs.error().message;
    return;
  }
  if (!request_.keeps_epochs) {
    epochs->records.clear();
    epochs->points.clear();
  }
  if (keeps_samples() && !epochs->profile) dose_failure_ = "the helper has told no samples by function";
  epochs->script = request_.script;
  outcome_.epochs = encode_epochs(*epochs);
}

void LiveTrial::finish_causal() {
  // It would wait for a program that never came.
  const auto nobody_came = [&] {
    const Result<CausalRecord> so_far = area_->read(request_.causal->script);
    return so_far && so_far->attached == 0;
  };
  const Status ended = nobody_came() ? Status() : companion_->finish();
  companion_.reset();
  Result<CausalRecord> record = area_->read(request_.causal->script);
  area_.reset();
  if (!record) {
    causal_failure_ = record.error().message;
    return;
  }
  causal_failure_ = why_not_causal(*record, request_.causal->script.load_permille != 0);
  // What it says of the program itself comes first.
  if (!ended && record->finished != causal::kNobodyCame) causal_failure_ = ended.error().message;
  causal_lost_ = !ended && record->finished == causal::kRunning;
  if (causal_failure_.empty() && request_.causal->is_kept) outcome_.causal = run_of(*record, request_.causal->script);
  if (request_.causal->record) *request_.causal->record = *std::move(record);
}

store::Outcome LiveTrial::take_outcome() {
  outcome_.state = now_.state;
  outcome_.finished_at_ns = lab_.clock->realtime().count();
  const bool is_kept = outcome_.state != TrialState::kVerified || request_.for_comparison || request_.keeps_output;
  if (is_kept && output_.out) {
    outcome_.stdout_head = head_of_fd(output_.out.get(), kHeadBytes);
    outcome_.stderr_head = head_of_fd(output_.err.get(), kHeadBytes);
  }
  return std::move(outcome_);
}

}  // namespace stab::engine
